"""Measurements: timings, ways to deploy, sweeps, and the recommendations that follow from them."""
