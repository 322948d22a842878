"""The folder of this package: frames of its files are not the user's."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).parent
INSIDE = f"{PACKAGE}{os.sep}"
"""What the names of this package's files begin with, and not those in ``compilescope-demo``."""
