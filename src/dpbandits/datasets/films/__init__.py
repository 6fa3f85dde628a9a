"""Ratings of films, and what is recommended from them."""
