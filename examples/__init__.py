"""Programs that use dpbandits, to read and to run."""
