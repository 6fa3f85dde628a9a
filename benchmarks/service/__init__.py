"""The durable service: its speed, and that kills lose nothing."""
