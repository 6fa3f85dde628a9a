"""The laws of randomizers, for the local model."""
