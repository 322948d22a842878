"""Graph records as graphs: stages, nodes, where they come from."""
