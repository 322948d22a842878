"""Have torch precompile its C++ headers, for Python's wrapper and for the C++ one.

torch does so once for each installation, at the first build of each kind: some ten seconds of
processor time that the first cell, or the first test, would pay.
"""

from __future__ import annotations

import os
import tempfile

from compilescope.compiler import header_process, header_warming


def main() -> None:
    """Precompile in a cache folder that is thrown away, and note that it was done."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        header_process.note(header_process.precompile(), header_warming.marker_file())


if __name__ == "__main__":
    main()
