"""Sessions as JSON documents, written and read strictly."""
