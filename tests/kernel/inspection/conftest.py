"""Fixtures for the tests of inspections."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture
def settings_kept(fresh_dynamo: None) -> Iterator[None]:
    """The settings that advice changes are as before after the test."""
    duck = torch.fx.experimental._config.use_duck_shape
    names = ("specialize_float", "recompile_limit", "allow_unspec_int_on_nn_module")
    before = {name: getattr(torch._dynamo.config, name) for name in names}
    yield
    for name, value in before.items():
        setattr(torch._dynamo.config, name, value)
    torch.fx.experimental._config.use_duck_shape = duck
    torch.compiler.set_stance("default")
