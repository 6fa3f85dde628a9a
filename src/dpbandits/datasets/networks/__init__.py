"""Road and power networks."""
