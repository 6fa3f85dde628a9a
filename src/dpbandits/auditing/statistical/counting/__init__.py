"""What the statistical level is made of: tables to try, runs to play, events to learn, and bounds
on their probabilities.
"""
