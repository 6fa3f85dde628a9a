"""What a store of campaigns must keep."""
