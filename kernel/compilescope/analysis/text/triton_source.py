"""Patterns in the source of Triton kernels that Inductor generates."""

from __future__ import annotations

import re

SIGNATURE = re.compile(r"'signature': \{([^{}]*)\}")
"""The types of a kernel's parameters."""
ARGUMENT = re.compile(r"'(\w+)':\s*'([^']*)'")
"""A parameter in a signature: its name and its type."""
NUMEL = re.compile(r"^\s+(\w*numel) = (\d+)$", re.M)
"""A constant number of elements: its name and its value."""
