"""The local model on super arms: one radius for a sum, and whom to ask."""
