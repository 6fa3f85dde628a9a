"""What is believed of the arms: from released values, at all times at once."""
