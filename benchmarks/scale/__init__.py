"""Growth with the number of arms and of rounds: a section a file, with `TITLE` and `rows()`."""
