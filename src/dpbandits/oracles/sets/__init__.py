"""Other sets of super arms, and their oracles."""
