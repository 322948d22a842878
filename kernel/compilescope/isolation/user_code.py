"""Decides which code and objects are the user's, and which belong to Python or a library.

The state of a library's own objects (a logger, a compiler's cache, the notebook's shell) does not
belong to the subject, and restoring it could undo later work of the library.
"""

from __future__ import annotations

import argparse
import collections
import functools
import os
import queue
import sys
import sysconfig
import types
from pathlib import Path

import torch

from ..package_folder import PACKAGE


def _root(folder: str | Path) -> str:
    return os.path.realpath(folder) + os.sep


_TORCH = _root(Path(torch.__file__).parent)
_ROOTS = (
    _TORCH,
    _root(PACKAGE),
    *(
        _root(path)
        for name, path in sysconfig.get_paths().items()
        if name in ("stdlib", "platstdlib", "purelib", "platlib")
    ),
)

_CLOSED = {
    "IPython", "ipykernel", "ipywidgets", "traitlets", "comm", "zmq", "tornado", "jupyter_client",
    "matplotlib", "plotly", "pandas", "sympy", "triton", "numpy", "tqdm", "compilescope", "pytest",
    "_pytest", "pybind11_builtins", "wandb", "tensorboard", "mlflow",
}  # fmt: skip
"""Top-level packages whose instances are not searched."""

_HOLDERS = (
    types.SimpleNamespace,
    argparse.Namespace,
    collections.UserDict,
    collections.UserList,
    collections.ChainMap,
    queue.Queue,
    queue.LifoQueue,
    queue.PriorityQueue,
)
"""Classes of Python's own library whose instances only hold what the user puts into them."""

_CLOSED_TORCH = {"fx", "export", "jit", "cuda", "distributed", "multiprocessing", "profiler"}


@functools.lru_cache(maxsize=4096)
def is_library_file(name: str) -> bool:
    """Whether a code object's file name belongs to Python or to an installed package.

    A notebook cell's code is the user's, wherever its file name points.
    """
    if name.startswith("<"):
        return name.startswith("<frozen") or name == "<__array_function__ internals>"
    real = os.path.realpath(name)
    return real.startswith(_ROOTS) or f"{os.sep}site-packages{os.sep}" in real


@functools.lru_cache(maxsize=4096)
def is_torch_machinery(name: str) -> bool:
    """Whether a code object belongs to a private package of torch (``torch/_dynamo``)."""
    real = os.path.realpath(name)
    return real.startswith(_TORCH) and real[len(_TORCH) :].startswith("_")


def is_user_module(module: types.ModuleType) -> bool:
    """Whether a module is the user's file; reads only its dict, so a lazy module stays lazy."""
    if type(module) is not types.ModuleType:
        return False
    file = object.__getattribute__(module, "__dict__").get("__file__")
    return isinstance(file, str) and not is_library_file(file)


def is_made_by_code(module: types.ModuleType) -> bool:
    """Whether a module is a notebook's, or was made by `types.ModuleType`, and has no file.

    Modules inside a compiled library have no file either, and a name with dots.
    """
    if type(module) is not types.ModuleType:
        return False
    attributes = object.__getattribute__(module, "__dict__")
    has_source = attributes.get("__file__") or attributes.get("__spec__")
    return not has_source and "." not in str(attributes.get("__name__", ""))


def is_user_class(cls: type) -> bool:
    """Whether a class was written by the user: its state and its methods' globals are followed."""
    name = type.__getattribute__(cls, "__module__")
    if name == "__main__":
        return True
    module = sys.modules.get(name) if isinstance(name, str) else None
    return module is not None and is_user_module(module)


def has_followed_state(cls: type) -> bool:
    """Whether an instance's attributes are part of the subject's state."""
    if cls in _HOLDERS or issubclass(cls, (torch.nn.Module, torch.optim.Optimizer)):
        return True
    name = type.__getattribute__(cls, "__module__")
    module = name if isinstance(name, str) else ""
    top, _, rest = module.partition(".")
    if top == "torch":
        second = rest.partition(".")[0]
        return bool(second) and not second.startswith("_") and second not in _CLOSED_TORCH
    return module == "__main__" or (top not in _CLOSED and top not in sys.stdlib_module_names)
