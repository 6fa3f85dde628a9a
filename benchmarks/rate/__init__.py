"""Frontier of DPRateIMED: mean regret against tails."""
