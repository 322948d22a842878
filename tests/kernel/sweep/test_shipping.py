"""Subjects packed and unpacked, here in one process."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report import references
from compilescope.report.errors import CompilescopeError
from compilescope.subject import pickled_subject

from . import subjects

pytestmark = pytest.mark.slow

X = torch.arange(4.0)


def elsewhere(data: bytes, folder: Path) -> str:
    """What the packed call gives in another process."""
    (folder / "packed").write_bytes(data)
    program = (
        "import sys\n"
        "from compilescope.subject import pickled_subject as shipping\n"
        "call = shipping.unpack(open(sys.argv[1], 'rb').read())\n"
        "print(call.fn(*call.args, **call.kwargs).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder / "packed")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_notebooks_function_travels_with_what_of_torch_it_names(tmp_path: Path) -> None:
    space: dict[str, Any] = {"__name__": "__main__", "torch": torch}
    exec(
        "import torch._inductor.config as config\n"
        "aten, add = torch.ops.aten, torch.ops.aten.add.Tensor\n"
        "class Twice(torch.nn.Module):\n"
        "    def forward(self, x, more=0):\n"
        "        assert config.epilogue_fusion\n"
        "        return add(aten.mul(x, 2), more)\n",
        space,
    )
    packed = pickled_subject.pack(torch.compile(space["Twice"]()), ((X,), {"more": 1}))
    assert elsewhere(packed, tmp_path) == "[1.0, 3.0, 5.0, 7.0]"


def test_a_reference_of_another_subject_does_not_stop_a_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings of a session may refer to a function of a module that others cannot import."""
    (tmp_path / "only_here.py").write_text("def keep(guards):\n    return guards\n")
    with monkeypatch.context() as here:
        here.syspath_prepend(str(tmp_path))
        reference = references.refer(importlib.import_module("only_here").keep)
        packed = pickled_subject.pack(torch.nn.ReLU(), ((X - 2,), {}))
    assert elsewhere(packed, tmp_path) == "[0.0, 0.0, 0.0, 1.0]"
    references.forget()
    monkeypatch.delitem(sys.modules, "only_here")
    pickled_subject.unpack(packed)
    with pytest.raises(CompilescopeError, match=r"^only_here\.keep in the settings cannot be"):
        references.resolve(reference)
    references.forget()


def test_what_a_function_and_its_arguments_share_stays_one() -> None:
    net = subjects.Counting()
    call = pickled_subject.unpack(pickled_subject.pack(net, ((net.calls,), {})))
    assert call.fn.calls is call.args[0]  # type: ignore[attr-defined]


def test_arguments_may_be_made_where_they_are_needed_also_for_a_factory() -> None:
    given = lambda: (torch.ones(2),)  # noqa: E731 - it has no name to go by
    (x,) = pickled_subject.unpack(pickled_subject.pack(subjects.double, given)).args
    assert x.tolist() == [1, 1]
    call = pickled_subject.unpack(
        pickled_subject.pack(arguments=((), {"x": X}), factory=subjects.make)
    )
    assert isinstance(call.fn, subjects.Counting)
    assert call.args == ()
    assert call.kwargs["x"].tolist() == X.tolist()


@pytest.mark.parametrize(
    ("created", "kind"),
    [("text", "a str"), (3, "an int"), (None, "None"), ((1, (X,)), "a tuple")],
)
def test_a_factory_has_to_make_a_call(created: Any, kind: str) -> None:
    with pytest.raises(cs.CompilescopeError, match=rf"The factory returned {kind}\."):
        pickled_subject.unpack(pickled_subject.pack(factory=lambda: created))


def test_the_arguments_of_a_factory_are_a_tuple() -> None:
    with pytest.raises(cs.CompilescopeError, match="args is a Tensor, not a tuple"):
        pickled_subject.unpack(pickled_subject.pack(factory=lambda: (subjects.double, X)))
