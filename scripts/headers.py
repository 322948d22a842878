"""Have torch precompile its C++ headers: for the Python wrapper, the C++ one, and AOTInductor.

torch does so once for each installation, at the first build of each kind: some ten seconds of
processor time that the first cell, or the first test, would pay.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from compilescope.processes import warm_headers, warm_headers_child


def main() -> None:
    """Precompile in a cache folder that is thrown away, and note that it was done."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        warm_headers_child.write_marker(warm_headers_child.precompile(), warm_headers.marker_file())
        build_package(Path(folder))


def build_package(folder: Path) -> None:
    """Builds a package of AOTInductor's, which has precompiled headers of its own."""
    import torch

    exported = torch.export.export(torch.nn.ReLU(), (torch.ones(8),))
    torch._inductor.aoti_compile_and_package(exported, package_path=str(folder / "relu.pt2"))


if __name__ == "__main__":
    main()
