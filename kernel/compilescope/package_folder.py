"""Where this package is installed: frames of files in there are not the user's."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent
