"""Parts of a real experiment, each pure: which arms are in play, who takes part, the user's units,
what is believed of the arms, whether traffic is as planned. Policies know none of them.
"""
