"""Specimens that the auditor's authors had not seen: invented after it was mended, by somebody who
did not look at it. They are not to be changed once they were audited; new ones go elsewhere.
"""
