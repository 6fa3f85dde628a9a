"""Rules that watch one stream and say when its mean is known."""
