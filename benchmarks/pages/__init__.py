"""Every measured page, and how it is written."""
