"""The user's device in the local model. It knows no server code."""
