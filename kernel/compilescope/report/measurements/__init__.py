"""What was measured: timings, ways to deploy, sweeps, and what is recommended because of them."""
