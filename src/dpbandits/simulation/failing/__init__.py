"""What becomes of the errors of a policy of the user's own."""
