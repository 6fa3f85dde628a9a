"""Upper bounds of the regret and their orders, as functions of means, rounds and budget."""
