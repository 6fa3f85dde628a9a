"""What campaigns show of themselves: functions of public rows only."""
