"""Settings of torch that the user changed, to be carried into another process.

Stands on ``get_config_copy``, ``load_config`` and ``_config`` of torch's config modules.
"""

from __future__ import annotations

import importlib
from typing import Any

_MODULES = ("torch._inductor.config", "torch._dynamo.config", "torch._functorch.config")


def changed_settings() -> dict[str, dict[str, Any]]:
    """Config module → its settings that are not torch's defaults here."""
    found = {}
    for name in _MODULES:
        config: Any = importlib.import_module(name)
        found[name] = {
            setting: value
            for setting, value in config.get_config_copy().items()
            if value != config._config[setting].default
        }
    return {name: settings for name, settings in found.items() if settings}


def apply(settings: dict[str, dict[str, Any]]) -> None:
    """Puts settings in force in this process; what its torch does not know is left out."""
    for name, wanted in settings.items():
        config: Any = importlib.import_module(name)
        config.load_config({key: value for key, value in wanted.items() if key in config._config})
