"""What a durable host keeps of a session, in parts: what changed since it last looked, and a
session continued from what was kept.
"""
