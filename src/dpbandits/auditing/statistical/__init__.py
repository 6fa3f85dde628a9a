"""Level 3: many runs, counted."""
