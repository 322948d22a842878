"""Which code objects Dynamo compiled, by compile id.

Relies on ``torch._dynamo.convert_frame.register_bytecode_hook`` and
``torch._guards.CompileContext``; the same from 2.11 to 2.15.
"""

from __future__ import annotations

import types
from collections.abc import Callable

from torch._dynamo import convert_frame
from torch._guards import CompileContext

from ..trace.trace import is_users_own


def note_code(
    sink: Callable[[str, types.CodeType], None], failed: Callable[[Exception], None]
) -> Callable[[], None]:
    """Passes ``sink`` each compile id and the code compiled; returns a function that stops it.

    Only the user's own compilations are reported. Errors go to ``failed``.
    """

    def hook(code: types.CodeType, new_code: types.CodeType) -> None:
        try:
            compile_id = CompileContext.current_compile_id()
            if compile_id is not None and is_users_own(compile_id.frame_id):
                sink(f"{compile_id.frame_id}/{compile_id.frame_compile_id}", code)
        except Exception as error:  # noqa: BLE001 - must not reach the user's compilation
            failed(error)

    return convert_frame.register_bytecode_hook(hook).remove
