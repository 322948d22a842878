"""Transfers torch's state to another process: changed settings, operators by name.

Relies on ``get_config_copy``, ``load_config`` and ``_config`` of torch's config modules, and on
``torch._ops`` (OpOverload, OpOverloadPacket), whose ``str`` is ``aten.add.Tensor``.
"""

from __future__ import annotations

import importlib
import types
from typing import Any

from torch._ops import OpOverload, OpOverloadPacket

_MODULES = ("torch._inductor.config", "torch._dynamo.config", "torch._functorch.config")


def changed_settings() -> dict[str, dict[str, Any]]:
    """Config module → its settings that differ from torch's defaults in this process."""
    changed = {}
    for name in _MODULES:
        config: Any = importlib.import_module(name)
        changed[name] = {
            setting: value
            for setting, value in config.get_config_copy().items()
            if value != config._config[setting].default
        }
    return {name: settings for name, settings in changed.items() if settings}


def settings() -> dict[str, dict[str, Any]]:
    """Config module → all its settings in this process."""
    return {name: importlib.import_module(name).get_config_copy() for name in _MODULES}


def apply(settings: dict[str, dict[str, Any]]) -> None:
    """Applies settings to this process; skips those that its torch does not know."""
    for name, value in settings.items():
        config: Any = importlib.import_module(name)
        now = config.get_config_copy()
        # Assigning a deprecated setting warns, even if the value does not change.
        config.load_config(
            {key: value[key] for key in value if key in now and value[key] != now[key]}
        )


def path_of(value: object) -> str | None:
    """The name by which another process finds an object that cannot be pickled; otherwise None.

    These are operators, and modules whose class torch defines: its settings, ``torch.ops.aten``.
    """
    if isinstance(value, (OpOverload, OpOverloadPacket)):
        return f"torch.ops.{value}"
    if type(value) is not types.ModuleType and isinstance(value, types.ModuleType):
        return value.__name__
    return None
