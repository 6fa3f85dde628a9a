"""Policies that play several arms a round, and see the reward of each."""
