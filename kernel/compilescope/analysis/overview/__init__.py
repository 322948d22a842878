"""The answer first: what a report comes to, and what to change."""
