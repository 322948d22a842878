"""Closer looks at a variant than its first timing, each made when somebody asks."""
