"""Groups of commands of the command line, a group a file; like `terminal/cli.py`, parsing and
printing only.
"""
