"""The GPU: its driver, torch's build for it, and the toolkit's parts."""

from __future__ import annotations

import json
import shutil

from ..report.checkup import Check
from ..torch_api.inductor import toolchain
from .context import CheckContext, CheckFunction, not_needed, ok, problem, python, run, warning

SUBJECT = "GPU and toolkit"
_DRIVER = """\
import ctypes
version = ctypes.c_int()
print(ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version)), version.value)
"""
_RUN = """\
import json, torch
ones = torch.ones(1000, device="cuda")
total = (ones * 2).sum().item()
print(json.dumps({
    "name": torch.cuda.get_device_name(), "total": total, "listed": torch.cuda.get_arch_list(),
    "arch": "sm_%d%d" % torch.cuda.get_device_capability(),
}))
"""
_NONE = "This torch is built without CUDA and ROCm."


def driver(context: CheckContext) -> Check:
    """NVIDIA's driver, and whether it is new enough for torch's version of CUDA."""
    import torch

    name, backend = "driver", toolchain.gpu_backend()
    done = python("-c", _DRIVER, folder=context.place("gpu"))
    words = done.output.split()[-2:]
    if not done.ok or words[:1] != ["0"]:
        if backend != "cuda":
            return not_needed(name, f"Not installed. {_NONE}" if not backend else "Not installed.")
        return problem(name, "NVIDIA's driver is not installed or does not respond.", "Install it.")
    has = divmod(int(words[1]) // 10, 100)
    if backend != "cuda":
        return warning(
            name,
            f"The driver supports CUDA {has[0]}.{has[1]}, but this torch is built without CUDA.",
            "To use the GPU, install a torch that is built for CUDA.",
        )
    required = tuple(int(part) for part in str(torch.version.cuda).split(".")[:2])
    finding = f"The driver is for CUDA {has[0]}.{has[1]}, torch for {torch.version.cuda}."
    if has[0] < required[0]:
        return problem(name, finding, "Install a newer driver, or torch for an older CUDA.")
    return ok(name, finding)


def runs(context: CheckContext) -> Check:
    """A sum on the GPU, in a separate process, and whether torch has code for this GPU."""
    name, backend = "runs on the GPU", toolchain.gpu_backend()
    if backend not in ("cuda", "hip"):
        return not_needed(name, _NONE)
    done = python("-c", _RUN, folder=context.place("gpu"))
    if not done.ok:
        return problem(
            name,
            f"A sum on the GPU fails: {done.first}",
            "Check the driver, CUDA_VISIBLE_DEVICES, and whether the GPU's memory is free.",
            detail=done.output,
        )
    answer = json.loads(done.output.splitlines()[-1])
    if answer["total"] != 2000:
        return problem(
            name, f"The GPU computes a wrong sum: {answer['total']}, not 2000.", "Check the GPU."
        )
    listed = answer["listed"]
    newest = max((int("".join(c for c in arch[3:] if c.isdigit())) for arch in listed), default=0)
    if backend == "cuda" and listed and int(answer["arch"][3:]) // 10 > newest // 10:
        return warning(
            name,
            f"{answer['name']} is {answer['arch']}; this torch is built for {', '.join(listed)}.",
            "Install a newer torch.",
        )
    return ok(name, f"{answer['name']} ({answer['arch']}) computes the right sum.")


def triton_tools(context: CheckContext) -> Check:
    """The tools that Triton brings, ptxas and its like: for machine code, and to read it."""
    name, tools = "Triton's tools", toolchain.triton_tools()
    if not tools:
        return not_needed(name, "Triton is not installed.")
    missing, versions = [], []
    for tool, file in tools.items():
        if not file.exists():
            missing.append(tool)
            continue
        done = run([str(file), "--version"], folder=context.place("gpu"))
        if not done.ok:
            missing.append(tool)
        versions += [line for line in done.output.splitlines() if "release" in line][:1]
    if missing:
        return warning(
            name,
            f"Missing, or not executable: {', '.join(missing)}.",
            "Install Triton's wheel, which has them. Without them no machine code can be shown.",
        )
    release = versions[0].strip() if versions else ""
    return ok(name, f"{', '.join(tools)} run. {release}".strip())


def toolkit(context: CheckContext) -> Check:
    """nvcc, which CUTLASS kernels and ``load_inline`` need; torch.compile else does not."""
    name, file = "CUDA toolkit's nvcc", shutil.which("nvcc")
    if toolchain.gpu_backend() != "cuda":
        return not_needed(name, _NONE)
    if file is None:
        return not_needed(name, "Not installed; only CUTLASS kernels and C++ extensions need it.")
    done = run([file, "--version"], folder=context.place("gpu"))
    release = next(
        (line.strip() for line in done.output.splitlines() if "release" in line), done.first
    )
    if not done.ok:
        return warning(name, f"{file} does not run: {done.first}", "Install the toolkit again.")
    return ok(name, f"{file}: {release}")


CHECKS: tuple[CheckFunction, ...] = (driver, runs, triton_tools, toolkit)
