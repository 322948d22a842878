"""Where the traceback of a user's error begins."""

from __future__ import annotations

from typing import Any

import pytest
from compilescope.torch_api.failures.places import users_part


def test_a_traceback_begins_below_the_host_that_runs_the_cell() -> None:
    cell: dict[str, Any] = {"__name__": "__main__"}
    host: dict[str, Any] = {"__name__": "IPython.core.interactiveshell", "cell": cell}
    exec(compile("def f():\n    1 / 0", "/cell.py", "exec"), cell)
    exec(compile("def run_code():\n    cell['f']()", "/interactiveshell.py", "exec"), host)
    with pytest.raises(ZeroDivisionError) as raised:
        host["run_code"]()
    trace = raised.value.__traceback__
    assert trace is not None
    part = users_part(raised.value.with_traceback(trace.tb_next))
    assert part is not None
    assert part.tb_frame.f_code.co_filename == "/cell.py"
