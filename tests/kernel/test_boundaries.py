"""Who may touch torch, and how: what import-linter cannot see, since it stops at package roots."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "kernel" / "compilescope"
PRIVATE = {"_C", "_dynamo", "_functorch", "_guards", "_inductor", "_logging", "_subclasses"}
DYNAMO_ATTRIBUTES = "_torchdynamo_"
"""The prefix of the attributes by which Dynamo recognizes functions."""
WITHOUT_TORCH = ["report", "comms/messages", "capture/records.py", "views"]


def torch_names(tree: ast.AST) -> set[str]:
    """What a file calls the torch package: ``torch``, or what it imported it as."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "torch" or (alias.asname is None and root(alias.name) == "torch"):
                    names.add(alias.asname or "torch")
    return names


def root(name: str) -> str:
    return name.partition(".")[0]


def is_private(dotted: str) -> bool:
    parts = dotted.split(".")
    return len(parts) > 1 and parts[0] == "torch" and parts[1] in PRIVATE


def imported(node: ast.AST) -> list[str]:
    """The dotted names that one node imports, by statement or by ``import_module("…")``."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Call):
        function = node.func.attr if isinstance(node.func, ast.Attribute) else None
        function = node.func.id if isinstance(node.func, ast.Name) else function
        if function in {"import_module", "__import__", "find_spec", "importorskip"}:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                return [first.value]
    return []


def private_uses(source: str) -> list[tuple[int, str]]:
    """Line and name of every use of one of torch's private packages or attributes."""
    tree = ast.parse(source)
    torches = torch_names(tree)
    uses = []
    for node in ast.walk(tree):
        uses += [(node.lineno, name) for name in imported(node) if is_private(name)]
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in torches
            and node.attr in PRIVATE
        ):
            uses.append((node.lineno, f"torch.{node.attr}"))
        if (name := spelled(node)) is not None and name.startswith(DYNAMO_ATTRIBUTES):
            uses.append((node.lineno, name))
    return uses


def spelled(node: ast.AST) -> str | None:
    """The name that a node of an attribute, a keyword or a text gives."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.keyword):
        return node.arg
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None


def torch_imports(source: str) -> list[int]:
    """The lines that import torch, whichever part of it. Under ``TYPE_CHECKING`` counts too."""
    nodes = ast.walk(ast.parse(source))
    return [n.lineno for n in nodes if any(root(name) == "torch" for name in imported(n))]


def files(*names: str) -> list[Path]:
    paths = [PACKAGE / name for name in names] or [PACKAGE]
    results = [
        file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))
    ]
    assert results, f"nothing at {names}: the layout has changed, change this test"
    return results


@pytest.mark.parametrize(
    "source",
    [
        "import torch._dynamo",
        "import torch._dynamo.config as config",
        "from torch._inductor import config",
        "from torch import _logging",
        "import torch\ntorch._C._get_default_device()",
        "import torch as t\nt._dynamo.reset()",
        "import torch.nn\ntorch._dynamo.reset()",
        "import importlib\nimportlib.import_module('torch._guards')",
        "f._torchdynamo_disable",
        "vars(f)['_torchdynamo_disable']",
        "vars(f).update(_torchdynamo_disable=True)",
    ],
)
def test_a_private_use_is_found(source: str) -> None:
    assert private_uses(source)


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ntorch.compile",
        "from torch import nn",
        "from .torch_api import _dynamo",
        "'torch._dynamo'",
        "import torch\ntorch.compiler.list_backends()",
    ],
)
def test_a_public_use_is_not(source: str) -> None:
    assert not private_uses(source)


def test_only_torch_api_touches_torchs_private_names() -> None:
    results = [
        f"{file.relative_to(PACKAGE)}:{line}: {name}"
        for file in files()
        if file.relative_to(PACKAGE).parts[0] != "torch_api"
        for line, name in private_uses(file.read_text(encoding="utf-8"))
    ]
    assert not results, "move these into torch_api:\n" + "\n".join(results)


def test_reports_and_views_import_no_torch() -> None:
    results = [
        f"{file.relative_to(PACKAGE)}:{line}"
        for file in files(*WITHOUT_TORCH)
        for line in torch_imports(file.read_text(encoding="utf-8"))
    ]
    assert not results, "these must work where torch is not installed:\n" + "\n".join(results)
