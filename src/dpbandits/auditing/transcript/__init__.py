"""Level 1: replays of written runs."""
