"""What claims measure, by name."""
