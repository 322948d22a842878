"""What is said of measured and estimated launches."""

from __future__ import annotations

from compilescope.analysis.kernels.launch_times import add_launch_times
from compilescope.report import Compilation, Kernel, Launch, LaunchTime


def launch(time: LaunchTime | None = None, **fields: object) -> Launch:
    return Launch(artifact="python", variant="", line=1, end=1, key="", time=time, **fields)  # type: ignore[arg-type]


def kernel_of(*launches: Launch) -> Kernel:
    kernel = Kernel(name="k", language="triton", launches=list(launches))
    add_launch_times([Compilation(id="0/0", kernels=[kernel])], "H100")
    return kernel


def test_a_launch_is_described_with_all_that_was_measured_and_the_nearer_peak() -> None:
    time = LaunchTime(
        us=12,
        interval_us=(10.8, 13.2),
        calls=50,
        bytes_per_s=8.2e9,
        bandwidth_share=0.42,
        operations_per_s=2.5e12,
        compute_share=0.7,
        how="By the profiler.",
    )
    kernel = kernel_of(launch(time))
    assert time.text.splitlines() == [
        "12.0 µs (10.8\u201313.2 µs), measured over 50 calls",
        "8.2 GB/s, 42 % of peak bandwidth",
        "2.5 TFLOP/s, 70 % of peak arithmetic",
        "By the profiler.",
    ]
    assert (time.peak, time.peak_share) == ("compute", 0.7)
    assert kernel.time is not None
    assert kernel.time.text == time.text


def test_a_launch_without_arithmetic_has_no_rate_of_it() -> None:
    copy = LaunchTime(us=12, calls=50, bytes_per_s=8.2e9, operations_per_s=0.0, compute_share=0.0)
    kernel_of(launch(copy))
    assert copy.text.splitlines() == ["12.0 µs, measured over 50 calls", "8.2 GB/s"]


def test_a_launch_faster_than_the_memory_read_from_a_cache() -> None:
    fast, plain = LaunchTime(us=1, bandwidth_share=6.75), LaunchTime(us=1)
    kernel_of(launch(fast), launch(plain))
    assert (fast.peak, fast.peak_share) == ("cache", 6.75)
    assert (plain.peak, plain.peak_share) == ("", None)


def test_a_launch_whose_data_fit_in_a_cache_has_no_share_of_the_memory() -> None:
    near, over = (
        LaunchTime(us=1, bytes_per_s=1e9, bandwidth_share=share, compute_share=0.1, cached=True)
        for share in (0.93, 1.07)
    )
    computing = LaunchTime(us=1, bandwidth_share=0.16, compute_share=0.32, cached=True)
    kernel = kernel_of(launch(near), launch(over))
    assert (near.peak, over.peak) == ("cache", "cache")
    assert kernel.time is not None
    assert kernel.time.peak == "cache"
    assert "1 GB/s, served from a cache, where its data fit" in near.text.splitlines()
    kernel_of(launch(computing))
    assert (computing.peak, computing.peak_share) == ("compute", 0.32)


def test_the_launches_of_a_kernel_are_summed_with_rates_weighted_by_time() -> None:
    kernel = kernel_of(
        launch(LaunchTime(us=30, bandwidth_share=0.6, bytes_per_s=3e9)),
        launch(LaunchTime(us=10, bandwidth_share=0.2, bytes_per_s=1e9)),
        launch(),
    )
    time = kernel.time
    assert time is not None
    assert (time.us, time.launches, time.bytes_per_s) == (40, 2, 2.5e9)
    assert (time.peak, time.peak_share) == ("memory", 0.5)
    assert time.text == "40.0 µs measured: total of 2 of 3 launches, 10.0 µs to 30.0 µs each"


def test_what_is_estimated_is_the_longer_of_the_kernel_and_its_launch() -> None:
    long = launch(estimated_us=20.0, estimated_bound="memory", estimated_launch_us=5.0)
    short = launch(estimated_us=2.0, estimated_bound="memory", estimated_launch_us=5.0)
    kernel = kernel_of(long, short, launch())
    assert kernel.time is None
    assert (long.least_us, long.least_bound) == (20.0, "memory")
    assert (short.least_us, short.least_bound) == (5.0, "launch")
    assert short.estimate == (
        "Estimated, not measured: at least 5.00 µs on H100, limited by the launch."
    )
    assert kernel.least is not None
    assert (kernel.least.us, kernel.least.launches) == (25.0, 2)
    assert kernel.least.bounds == ["launch", "memory"]
    assert kernel.least.text == (
        "Estimated, not measured: at least 25.0 µs on H100, limited by the launch or memory "
        "bandwidth: total of 2 of 3 launches, 5.00 µs to 20.0 µs each."
    )


def test_the_estimate_of_the_only_launch_is_that_of_the_kernel() -> None:
    only = launch(estimated_us=20.0, estimated_bound="memory")
    kernel = kernel_of(only)
    assert kernel.least is not None
    assert kernel.least.text == only.estimate
    assert kernel_of(launch()).least is None
