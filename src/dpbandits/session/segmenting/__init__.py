"""What a session with segments does for all of them at once."""
