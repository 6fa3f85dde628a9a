"""One transaction: a campaign is locked, brought up to date, asked and told, written, and
witnessed.
"""
