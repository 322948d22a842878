"""The overview of a report: the result, what limits the call, and what to change."""
