"""A process that has torch precompile its C++ headers, so that the first build finds them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from .child import prefer_for_oom_kill


def main(marker: Path) -> None:
    """Precompiles, and notes in ``marker`` what there is now; ends when its standard input does.

    torch builds for the processor alone: a GPU is not initialized for this.
    """
    threading.Thread(target=_end_with_parent, name="compilescope-parent", daemon=True).start()
    os.nice(19)
    prefer_for_oom_kill()
    write_marker(precompile(), marker)


def precompile() -> list[Path]:
    """Builds a function with both wrappers; the precompiled headers that this took.

    torch compiles them once for each installation, compiler and set of flags. Its cache folder must
    be empty: what is cached is not built.
    """
    import torch

    from ..torch_api.inductor import headers

    with headers.recording_headers() as header_files:
        for cpp_wrapper in (False, True):
            torch.compiler.reset()
            torch.compile(torch.sin, options={"cpp_wrapper": cpp_wrapper})(torch.ones(8))
    return header_files


def write_marker(headers: list[Path], marker: Path) -> None:
    """Writes down which headers there are, for the kernels that come later."""
    partial = marker.with_suffix(f".{os.getpid()}")
    partial.write_text("".join(f"{header}\n" for header in headers), encoding="utf-8")
    partial.replace(marker)


def _end_with_parent() -> None:
    """Ends this process and its compilers: they remove what is half written, as for Ctrl-C."""
    while os.read(0, 1):
        pass
    os.killpg(os.getpgid(0), signal.SIGTERM)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
