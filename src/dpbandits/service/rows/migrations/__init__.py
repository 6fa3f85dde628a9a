"""The database's versions, each brought up to the next. Written once, and never changed after."""
