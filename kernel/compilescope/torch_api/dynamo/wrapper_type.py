"""The type of generated wrappers. Does not import torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Inner = Callable[[list[Any]], Any]
"""A generated wrapper. It takes its inputs as a list and empties that list."""
