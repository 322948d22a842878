"""Read, mark and generate the wrapper code of a graph."""
