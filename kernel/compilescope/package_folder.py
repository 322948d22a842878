"""The folder of this package: frames of its files are not the user's."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).parent
