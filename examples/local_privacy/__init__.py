"""Local privacy in two processes: `python examples/local_privacy/server.py`."""
