"""Have torch precompile its C++ headers, for Python's wrapper and for the C++ one.

torch does so once for each installation, at the first build of each kind: some ten seconds of
processor time that the first cell, or the first test, would pay.
"""

from __future__ import annotations

import os
import tempfile

from compilescope.processes import warm_headers, warm_headers_child


def main() -> None:
    """Precompile in a cache folder that is thrown away, and note that it was done."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        warm_headers_child.note(warm_headers_child.precompile(), warm_headers.marker_file())


if __name__ == "__main__":
    main()
