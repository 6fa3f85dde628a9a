"""What people look at in a browser: numbers of public tables, words, and pictures drawn here."""
