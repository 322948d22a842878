"""Summaries of reports, and their texts: for the panel of a live report and for a report's file."""
