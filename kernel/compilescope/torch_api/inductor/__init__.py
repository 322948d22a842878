"""Inductor: code generation, autotuning, caches, tools."""
