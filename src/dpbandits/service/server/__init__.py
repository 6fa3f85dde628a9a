"""Campaigns over HTTP: routes made from the tables of operations and views, keys, and a page."""
