"""The clients in other languages, held to Python's."""
