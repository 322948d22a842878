"""Saving reports: files, redaction, and deduplication of graphs and stacks of source lines."""
