"""The study of the ways to deploy a compiled call, each in separate processes."""
