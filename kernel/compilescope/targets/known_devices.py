"""The devices that code can be generated for: the catalog's, this machine's, the user's own."""

from __future__ import annotations

import difflib
import functools
import importlib.util
import platform
import re
from collections.abc import Iterable
from typing import Any

import msgspec
import torch

from ..report import devices as catalog
from ..report.argument_checks import check_text
from ..report.devices import Build, Device, Source
from ..report.errors import CompilescopeError, code_to_paste
from ..torch_api.kernels.triton_versions import triton_of
from ..torch_api.process import devices

THIS_GPU = "this"
"""The target name of this machine's GPU."""

_custom: dict[str, Device] = {}
_BUILD = frozenset(Build.__struct_fields__) - {"source"}
_DEVICE = frozenset(("bandwidth_bytes_per_s", "products", "vector"))


def find(name: str) -> Device:
    """A target by its name; ``RTX 4090`` is ``rtx4090``.

    Raises
    ------
    CompilescopeError
        There is none of that name, or no GPU in this machine; the message lists those there are.
    """
    plain_name = normalized(name)
    if plain_name == THIS_GPU:
        return this_device()
    devices = _all()
    if plain_name not in devices:
        close = difflib.get_close_matches(plain_name, devices, n=1, cutoff=0.6)
        like = close[0] if close else "h100"
        add = f"compilescope.add_target({name!r}, like={like!r}, multiprocessors=60)"
        meant = f"Did you mean {close[0]!r}? " if close else ""
        raise CompilescopeError(
            f"There is no target {name!r}.",
            remedy=f"{meant}Available: {_listed(names())}. To add a target:{code_to_paste(add)}",
        )
    return devices[plain_name]


def normalized(name: str) -> str:
    """A target's name as it is kept: small letters, without spaces and hyphens."""
    return re.sub(r"[\s-]+", "", name).lower()


def names() -> list[str]:
    """The names of all targets, this machine's GPU among them if it has one."""
    return [*_all(), *([THIS_GPU] if devices.has_gpu() else [])]


def titles() -> dict[str, str]:
    """Name → a target's title."""
    titles_by_name = {name: device.name for name, device in _all().items()}
    return titles_by_name | ({THIS_GPU: "this device"} if devices.has_gpu() else {})


def groups() -> dict[str, str]:
    """Name → the heading that a target is offered under."""
    vendors = {"cuda": "NVIDIA", "hip": "AMD"}
    headings = {
        name: "your own"
        if name in _custom
        else vendors[device.build.backend if device.build else "cuda"]
        for name, device in _all().items()
    }
    return headings | ({THIS_GPU: "this machine"} if devices.has_gpu() else {})


def add(name: str, *, like: str, **figures: Any) -> Device:
    """Adds a target of the user's own.

    Parameters
    ----------
    name
        The name of the target. An earlier one of this name is replaced.
    like
        A target whose figures are the defaults.
    **figures
        Fields of `devices.Build`, and ``bandwidth_bytes_per_s``, ``products``, ``vector``.

    Raises
    ------
    CompilescopeError
        The name is taken or none, a figure is not known, or its value is out of range.
    """
    check_text("name", name, "the target's name")
    check_text("like", like, "the name of a target")
    target = normalized(name)
    if not re.fullmatch(r"[a-z0-9][a-z0-9_.]*", target):
        raise CompilescopeError(
            f"{name!r} cannot be a target's name.", remedy="Use letters and digits: 'my-gpu'."
        )
    if target == THIS_GPU or target in _cataloged():
        raise CompilescopeError(
            f"There is a target {target!r} already.",
            "Its figures are the vendor's.",
            f"Give yours another name, and like={target!r}.",
        )
    base = find(like)
    assert base.build is not None, "a target has one"
    unknown = sorted(set(figures) - _BUILD - _DEVICE)
    if unknown:
        raise CompilescopeError(
            f"A target has no figure {unknown[0]!r}.",
            remedy=f"Available: {_listed(sorted(_BUILD | _DEVICE))}.",
        )
    source = Source(f"given as a target of its own, like {base.name}", "")
    changed = msgspec.to_builtins(base) | {name: figures[name] for name in _DEVICE & set(figures)}
    changed |= {"name": name, "target": target, "torch_names": (), "source": source}
    changed["build"] = (
        msgspec.to_builtins(base.build)
        | {name: figures[name] for name in _BUILD & set(figures)}
        | {"source": source}
    )
    try:
        device = msgspec.convert(msgspec.to_builtins(changed), Device)
    except (msgspec.ValidationError, TypeError, UnicodeEncodeError) as error:
        raise CompilescopeError(f"The target {name!r} cannot be: {error}.") from None
    _check(device)
    _custom[target] = device
    return device


def this_device() -> Device:
    """The GPU of this machine as torch describes it, completed with the vendor's figures.

    Raises
    ------
    CompilescopeError
        There is none.
    """
    if not devices.has_gpu():
        raise CompilescopeError(
            "This machine has no GPU that torch can use.",
            "The target 'this' is one.",
            f"Choose another: {_listed(names())}.",
        )
    return _this_device()


@functools.cache
def unavailable() -> str:
    """Why no code can be generated for a target here; empty if it can."""
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "AMD64"):
        platform_name = f"{platform.system()} on {platform.machine()}"
        return f"Code for other GPUs is generated on Linux x86-64 only; this is {platform_name}."
    if importlib.util.find_spec("triton") is None:
        version = triton_of(torch.__version__)
        package = f"triton=={version}" if version else "triton"
        return f"Code for other GPUs needs Triton, which is not installed: pip install {package}."
    return ""


def _this_device() -> Device:
    properties = devices.first_gpu()
    specified = catalog.find(properties.name)
    alike = specified if specified is not None and specified.build else _same_kind(properties.arch)
    blocks = alike.build.blocks_per_multiprocessor if alike and alike.build else 16
    figures = {
        name: getattr(properties, name) for name in properties.__struct_fields__ if name in _BUILD
    }
    source = Source("torch's properties of the device", "")
    build = Build(**figures, blocks_per_multiprocessor=blocks, source=source)
    if specified is not None:
        names = (properties.name,)  # the key of torch's caches
        return msgspec.structs.replace(specified, target=THIS_GPU, torch_names=names, build=build)
    return Device(
        name=properties.name,
        target=THIS_GPU,
        build=build,
        torch_names=(),
        bandwidth_bytes_per_s=properties.bandwidth_bytes_per_s,
        products={},
        source=source,
    )


def _same_kind(arch: str) -> Device | None:
    return next(
        (device for device in _cataloged().values() if device.build and device.build.arch == arch),
        None,
    )


def _check(device: Device) -> None:
    """Raises for figures that no device has."""
    build = device.build
    assert build is not None, "it was made with one"
    values = {name: getattr(build, name) for name in _BUILD}
    values["bandwidth_bytes_per_s"] = device.bandwidth_bytes_per_s
    values |= {f"products[{name!r}]": rate for name, rate in device.products.items()}
    values |= {f"vector[{name!r}]": rate for name, rate in device.vector.items()}
    for name, value in values.items():
        if not isinstance(value, str) and not value > 0:
            raise CompilescopeError(
                f"The target {device.name!r} has {name} {value!r}.",
                remedy="Give a positive number.",
            )
    pattern = r"gfx[0-9]{1,2}[0-9a-f]{2}" if build.backend == "hip" else r"[1-9][0-9]{1,2}"
    if not re.fullmatch(pattern, build.arch):
        raise CompilescopeError(
            f"The target {device.name!r} has arch {build.arch!r}.",
            remedy="Give it as Triton does: '90' with backend 'cuda', 'gfx942' with 'hip'.",
        )


def _all() -> dict[str, Device]:
    return _cataloged() | _custom


@functools.cache
def _cataloged() -> dict[str, Device]:
    return {
        DEVICE.target: DEVICE
        for DEVICE in catalog.DEVICES
        if DEVICE.target and DEVICE.build is not None
    }


def _listed(values: Iterable[str]) -> str:
    return ", ".join(repr(value) for value in values)
