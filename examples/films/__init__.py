"""A diverse set of films, recommended privately: `python -m examples.films`."""
