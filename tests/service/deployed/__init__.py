"""The image and the unit of `deploy/`: what they say works with this code."""
