"""What compiled loops are made of."""
