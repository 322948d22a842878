"""Kernels: source, fusion, tiling, launch grid, occupancy, estimates."""
