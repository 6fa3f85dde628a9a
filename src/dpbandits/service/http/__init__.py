"""Campaigns over HTTP: requests are checked, keys looked up, and a campaign's verbs called."""
