"""Parses graph records into graphs: stages, nodes, origins."""
