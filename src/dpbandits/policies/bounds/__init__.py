"""Upper bounds on regret and their orders, as plain functions of means, rounds and budget."""
