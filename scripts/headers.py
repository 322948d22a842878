"""Have torch precompile its C++ headers, for Python's wrapper and for the C++ one.

torch does so once for each installation, at the first build of each kind: some ten seconds of
processor time that the first cell, or the first test, would pay.
"""

from __future__ import annotations

import os
import tempfile

import torch


def main() -> None:
    """Build one function with both wrappers, in a cache folder that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        for cpp_wrapper in (False, True):
            torch._dynamo.reset()
            torch.compile(torch.sin, options={"cpp_wrapper": cpp_wrapper})(torch.ones(8))


if __name__ == "__main__":
    main()
