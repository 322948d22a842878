"""marimo's server on loopback, for the notebook that is its argument."""

import runpy
import sys

sys.argv = ["marimo", "run", *sys.argv[1:], "--headless", "--no-token"]
runpy.run_module("marimo", run_name="__main__")
