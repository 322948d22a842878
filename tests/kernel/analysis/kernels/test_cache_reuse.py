"""Which launches read from a cache, by the buffers of a call."""

from __future__ import annotations

from compilescope.analysis.kernels.estimates.cache_reuse import cached_launches
from compilescope.report import Buffer, Code, Compilation, Memory
from compilescope.report.compilation.code import Region

WRAPPER = """\
kernel_0(x, buf0)
kernel_1(buf0, scale, buf1)
extern_kernels.mm(buf1, weight, out=buf2)
kernel_2(buf0, buf2)
"""
SIZES = {"x": 10.0, "buf0": 10.0, "scale": 1.0, "buf1": 10.0, "weight": 70.0, "buf2": 10.0}


def cached(cache_bytes: float) -> list[int]:
    """The lines of the launches that read from the cache."""
    lines = WRAPPER.splitlines()
    regions = [
        Region(kind="launch", start=line, end=line, key=f"launch:inference:{line}")
        for line in range(1, len(lines) + 1)
    ]
    buffers = [
        Buffer(name=name, bytes=size, kind="temporary" if name.startswith("buf") else "input")
        for name, size in SIZES.items()
    ]
    compilation = Compilation(
        id="0/0",
        code=Code(python=WRAPPER, regions={"python": regions}),
        memory=[Memory(buffers=buffers)],
    )
    return sorted(int(key.split(":")[2]) for _, key in cached_launches([compilation], cache_bytes))


def test_all_is_in_a_cache_that_holds_what_a_call_uses() -> None:
    assert cached(sum(SIZES.values())) == [1, 2, 3, 4]


def test_what_was_used_before_a_large_weight_is_no_longer_there() -> None:
    """The weight and the input come from memory; the small scale does, too, and hardly matters."""
    assert cached(100) == [2]


def test_a_launch_that_is_larger_than_the_cache_does_not_read_from_it() -> None:
    assert cached(80) == [2]
    assert cached(15) == []
