"""What is wrong with a sweep file, said all at once."""
