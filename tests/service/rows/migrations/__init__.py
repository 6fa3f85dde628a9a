"""Databases of every version, as they were written then, and what this code makes of them."""
