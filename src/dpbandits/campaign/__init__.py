"""Parts of a real experiment, each pure: the user's units, what is believed of the arms, and
whether traffic is as planned.
"""
