"""People who come back: how often, and how far apart, each of them is learned from."""
