"""``python -m compilescope``: the same as the command ``compilescope``."""

import sys

from .cli import run_process

if __name__ == "__main__":
    sys.exit(run_process())
