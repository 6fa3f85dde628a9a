"""Matroids: their bases are found greedily."""
