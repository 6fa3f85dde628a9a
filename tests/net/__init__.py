"""What sessions and campaigns decide, release and spend, kept as data: see `test_net.py`."""
