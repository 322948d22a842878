"""Where a report was made, in words: the versions and the processors."""

from __future__ import annotations

from collections import Counter

from ...report import Environment, Report
from .wording import count


def environment_line(environment: Environment) -> str:
    """Where a report was made, with every version that is known."""
    versions = f"compilescope {environment.compilescope}" if environment.compilescope else ""
    return _joined(versions, machine_line(environment))


def machine_line(environment: Environment) -> str:
    """The versions and the processors of a process, which compilescope may not have run in."""
    return _joined(
        _torch(environment),
        f"triton {environment.triton}" if environment.triton else "",
        f"Python {environment.python}" if environment.python else "",
        *(f"{number} \u00d7 {gpu}" if number > 1 else gpu for gpu, number in _gpus(environment)),
        environment.cpu,
        count(environment.threads, "thread") if environment.threads else "",
        environment.compiler,
    )


def device_line(report: Report) -> str:
    """The version of torch and the device of the call: ``torch 2.13.0 · NVIDIA H200``."""
    environment, subject = report.environment, report.subject
    # What else than a call is inspected may use any device.
    on_cpu = subject.device == "cpu" and subject.kind not in ("watch", "trace", "package")
    gpu = environment.gpus[0] if environment.gpus and not on_cpu else ""
    return _joined(_torch(environment), gpu or environment.cpu)


def _torch(environment: Environment) -> str:
    return f"torch {environment.torch}" if environment.torch else ""


def _gpus(environment: Environment) -> list[tuple[str, int]]:
    return list(Counter(environment.gpus).items())


def _joined(*parts: str) -> str:
    return " · ".join(filter(None, parts))
