"""What every call of an object at work needs: a gate, and errors that keep nothing private."""
