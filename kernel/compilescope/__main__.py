"""``python -m compilescope``: the same as the command ``compilescope``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
