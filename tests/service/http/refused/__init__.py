"""What a server refuses, and how it says so."""
