"""Environments as a sweep file names them."""
