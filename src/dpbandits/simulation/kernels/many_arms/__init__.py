"""Index policies with many arms."""
