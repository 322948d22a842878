"""Reports from files of other processes: traces and ``.pt2`` packages."""
