"""Joint releases against the same noise shared out among the arms."""
