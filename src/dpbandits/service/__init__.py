"""Host 3: campaigns that run for weeks, kept in a database, the same object from many processes at
once. Needs the `service` extra.
"""
