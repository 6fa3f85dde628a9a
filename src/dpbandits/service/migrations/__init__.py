"""The versions of a store's database, each brought up to the next. Never changed once released."""
