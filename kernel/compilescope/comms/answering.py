"""How a request is answered, by the kernel or by the reader of a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..report.errors import CompilescopeError
from ..report.problem import Problem, fault
from .messages import Reply


def answer_into(reply: Reply, result: Callable[[], Any], who: str) -> None:
    """Fill in the result of a request, or why there is none. Never raises.

    Parameters
    ----------
    reply
        Changed in place.
    result
        Computes the result, as plain data.
    who
        What answers, for the error of a message that it does not understand: ``kernel``.
    """
    try:
        reply.result = result()
    except CompilescopeError as error:
        reply.error = error.problem
    except msgspec.ValidationError as error:
        reply.error = Problem(
            severity="error",
            what=f"The {who} did not understand the panel's message: {error}.",
            remedy="Install the same version of jupyterlab-compilescope in both.",
        )
    except Exception as error:  # noqa: BLE001 - an error is a reply too
        reply.error = fault(error)
