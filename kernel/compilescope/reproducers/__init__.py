"""Standalone programs that run one kernel or graph of a report; each is tried first."""
