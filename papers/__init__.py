"""Five papers: their experiments as sweeps, their claims, and our verdicts on them."""
