"""One page of HTML for a finished sweep."""
