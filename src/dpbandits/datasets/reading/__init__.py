"""Reading tables, lines and matrices from files."""
