"""The study of the ways to deploy a compiled call, each in processes of its own."""
