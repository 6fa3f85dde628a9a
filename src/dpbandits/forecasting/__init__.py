"""Before a trial: what will privacy cost? Exact simulation over what the rates may be."""
