"""Reports of what was compiled elsewhere: trace files and ``.pt2`` packages."""
