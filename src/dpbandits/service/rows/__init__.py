"""What is kept of a campaign, row by row, and where: in memory, in SQLite, in PostgreSQL."""
