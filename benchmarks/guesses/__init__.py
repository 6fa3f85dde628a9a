"""What not knowing the horizon costs."""
