"""Computes the report from the records of torch's structured trace, one file for each artifact."""
