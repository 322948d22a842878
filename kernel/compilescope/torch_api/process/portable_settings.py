"""What of torch has to be carried into another process: changed settings, operators by name.

Stands on ``get_config_copy``, ``load_config`` and ``_config`` of torch's config modules, and on
``torch._ops`` (OpOverload, OpOverloadPacket), whose text is ``aten.add.Tensor``.
"""

from __future__ import annotations

import importlib
import types
from typing import Any

from torch._ops import OpOverload, OpOverloadPacket

_MODULES = ("torch._inductor.config", "torch._dynamo.config", "torch._functorch.config")


def changed_settings() -> dict[str, dict[str, Any]]:
    """Config module → its settings that are not torch's defaults here."""
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
    """Config module → all of its settings as they are here."""
    return {name: importlib.import_module(name).get_config_copy() for name in _MODULES}


def apply(settings: dict[str, dict[str, Any]]) -> None:
    """Puts settings in force in this process; what its torch does not know is left out."""
    for name, wanted in settings.items():
        config: Any = importlib.import_module(name)
        now = config.get_config_copy()
        # Setting one that is deprecated warns, also to what it is.
        config.load_config(
            {key: wanted[key] for key in wanted if key in now and wanted[key] != now[key]}
        )


def path_of(value: object) -> str | None:
    """By what name another process finds what cannot be pickled; None for anything else.

    Operators, and the modules that are of classes of torch's own: its settings, ``torch.ops.aten``.
    """
    if isinstance(value, (OpOverload, OpOverloadPacket)):
        return f"torch.ops.{value}"
    if type(value) is not types.ModuleType and isinstance(value, types.ModuleType):
        return value.__name__
    return None
