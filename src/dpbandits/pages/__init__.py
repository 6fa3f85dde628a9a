"""Pages of HTML from templates: a file each, every text escaped. Needs the `experiments` extra."""
