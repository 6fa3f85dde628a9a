"""Papers, their claims, and the verdicts on them."""
