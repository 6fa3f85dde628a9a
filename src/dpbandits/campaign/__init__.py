"""Parts of a real experiment, each alone: which arms are in play, who takes part, the user's units,
what is believed of the arms. Policies know none of them.
"""
