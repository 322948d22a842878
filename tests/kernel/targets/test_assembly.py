"""Kernels compiled for devices that are not there: their texts, lines and resources."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from pathlib import Path

import compilescope as cs
import psutil
import pytest
import torch
from compilescope.inspection.inspection import Inspection
from compilescope.progress.progress import Cancelled, Monitor
from compilescope.report import Compilation, Kernel, TargetReport, Variant, VariantReport, devices
from compilescope.targets.assembly import add_assembly
from compilescope.targets.assembly_request import Assembled
from compilescope.targets.known_devices import unavailable
from compilescope.targets.unsupported_kernels import LIBRARY
from compilescope.targets.worker import assembly_cache
from compilescope.targets.worker_pool import shared_pool

pytestmark = pytest.mark.slow

here = pytest.mark.skipif(bool(unavailable()), reason="targets are off here")

FORMS = {
    "a100": ["ttir", "ttgir", "llir", "ptx", "sass"],
    "b200": ["ttir", "ttgir", "llir", "ptx", "sass"],
    "mi300x": ["ttir", "ttgir", "llir", "amdgcn"],
}
MEMORY = {
    "ttir": ("tt.load", "tt.store"),
    "ttgir": (r"(?:tt\.load|\w+\.buffer_load)", r"(?:tt\.store|\w+\.buffer_store)"),
    "ptx": ("ld.global", "st.global"),
    "sass": ("LDG", "STG"),
    "amdgcn": (r"(?:global|buffer)_load", r"(?:global|buffer)_store"),
}
"""Form → what loads and what stores, there."""
OLDEST = torch.__version__.startswith("2.11.")
RECENT = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 15)


def report_of(kernels: list[Kernel], target: str = "a100") -> VariantReport:
    (device,) = [device for device in devices.DEVICES if device.target == target]
    return VariantReport(
        name=target,
        requested=Variant(target=target),
        target=TargetReport(name=target, device=device),
        compilations=[Compilation(id="0/0", kernels=kernels)],
    )


SOURCE = """
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.triton_helpers import libdevice
from torch._inductor.runtime.hints import DeviceProperties, ReductionHint
triton_helpers.set_driver_to_gpu()

@triton_heuristics.{heuristics}(
    {arguments},
    filename=__file__,
    triton_meta={{'signature': {signature}, 'device': DeviceProperties(type='cuda', index=0,
        multi_processor_count=108, cc=80, major=8, regs_per_multiprocessor=65536,
        max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32),
        'constants': {{}}, 'configs': [{{(0,): [['tt.divisibility', 16]]}}]}},
    inductor_meta={{'grid_type': 'Grid1D', 'kernel_name': '{name}', 'mutated_arg_names': []}},
)
@triton.jit
def {name}({parameters}):
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
{body}
""".lstrip()
"""A kernel as Inductor writes it, for an A100."""


def kernel(
    name: str,
    body: str,
    *,
    heuristics: str = "fixed_config",
    arguments: str = "{'XBLOCK': 1024, 'num_warps': 4}",
    signature: str = "{'in_out_ptr0': '*fp32', 'xnumel': 'i32', 'XBLOCK': 'constexpr'}",
    parameters: str = "in_out_ptr0, xnumel, XBLOCK: tl.constexpr",
) -> Kernel:
    source = SOURCE.format(
        name=name,
        body="\n".join(f"    {line}" for line in body.split("\n")),
        heuristics=heuristics,
        arguments=arguments,
        signature=signature,
        parameters=parameters,
    )
    return Kernel(name=name, language="triton", source=source)


LOAD = "tmp0 = tl.load(in_out_ptr0 + xindex, xindex < xnumel)\n"
STORE = "\ntl.store(in_out_ptr0 + xindex, {}, xindex < xnumel)"


def normalized(x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    rows = torch.nn.functional.layer_norm(x @ weight, (256,))
    return rows, (x.T + 1.0).exp()


@pytest.fixture(scope="module")
def compiled() -> dict[str, VariantReport]:
    """One subject for three targets, and for one of them with the C++ wrapper too."""
    variants = {target: Variant(target=target) for target in FORMS}
    variants["a100-cpp"] = Variant(target="a100", cpp_wrapper=True)
    report = cs.inspect(
        normalized, (torch.randn(128, 64), torch.randn(64, 256)), variants=variants, run=False
    )
    for variant in report.variants:
        assert not variant.problems
        add_assembly(variant, shared_pool(), Monitor())
    return {variant.name: variant for variant in report.variants}


def triton_kernels(variant: VariantReport) -> list[Kernel]:
    kernels = [
        candidate for compilation in variant.compilations for candidate in compilation.kernels
    ]
    return [candidate for candidate in kernels if candidate.language == "triton"]


@here
@pytest.mark.parametrize("target", FORMS)
def test_every_triton_kernel_is_there_in_every_form(
    compiled: dict[str, VariantReport], target: str
) -> None:
    kernels = triton_kernels(compiled[target])
    assert len(kernels) >= 2
    for kernel in kernels:
        assert list(kernel.assembly) == list(kernel.assembly_lines) == FORMS[target]
        for form, text in kernel.assembly.items():
            assert kernel.name in text
            assert len(kernel.assembly_lines[form]) == text.count("\n")
            assert not re.search(r"\.loc\s|!dbg|loc\(|debug_info|//## File", text)
        assert kernel.resources["registers"] > 0
        assert kernel.resources["spills"] == 0
        assert kernel.resources["warps"] >= 1
        assert 0 < kernel.resources["occupancy"] <= 1
        assert kernel.limit
        assert sum(config.usual for config in kernel.configs) == 1
        assert all(config.assembly or config.usual for config in kernel.configs)
    libraries = [
        candidate
        for candidate in compiled[target].compilations[0].kernels
        if candidate not in kernels
    ]
    assert libraries
    assert all(
        library.absent["assembly"] == LIBRARY and not library.configs for library in libraries
    )


@here
@pytest.mark.parametrize("target", FORMS)
def test_a_line_of_assembly_leads_to_the_line_of_the_kernel(
    compiled: dict[str, VariantReport], target: str
) -> None:
    for triton_kernel in triton_kernels(compiled[target]):
        source = ["", *triton_kernel.source.split("\n")]
        stores = {n for n, line in enumerate(source) if "tl.store(" in line}
        for form, (loads, store) in MEMORY.items():
            if form not in triton_kernel.assembly:
                continue
            pairs = list(
                zip(
                    triton_kernel.assembly[form].split("\n"),
                    triton_kernel.assembly_lines[form],
                    strict=False,
                )
            )
            reads = {source[at] for line, at in pairs if re.search(rf"\s{loads}", line) and at}
            assert reads
            # Triton 3.9 gives a load of PTX the line that uses the value first.
            if not (RECENT and form in ("ptx", "sass")):
                assert all("tl.load(" in line for line in reads), (form, reads)
            writes = {at for line, at in pairs if re.search(rf"\s{store}", line)}
            assert writes == stores, form
        reductions = [n for n, line in enumerate(source) if "tl.sum(" in line]
        # What is inlined from Triton's library counts as the line that calls it.
        assert all(n in triton_kernel.assembly_lines[FORMS[target][-1]] for n in reductions)


@here
@pytest.mark.skipif(OLDEST, reason="a target's C++ wrapper of torch 2.11 holds no Triton kernels")
def test_both_wrappers_have_the_same_assembly(compiled: dict[str, VariantReport]) -> None:
    python, cpp = (triton_kernels(compiled[name]) for name in ("a100", "a100-cpp"))
    for ours, theirs in zip(python, cpp, strict=True):
        assert ours.name == theirs.name
        if RECENT and aligned(ours) != aligned(theirs):
            continue  # its C++ wrapper does not count on inputs being aligned
        assert ours.assembly == theirs.assembly
        assert ours.configs == theirs.configs


def aligned(kernel: Kernel) -> list[str]:
    """Which arguments torch takes for divisible by 16."""
    return re.findall(r"'configs': .*", kernel.source)


@here
def test_a_second_look_compiles_nothing(compiled: dict[str, VariantReport]) -> None:
    before = triton_kernels(compiled["a100"])
    again = [
        Kernel(name=candidate.name, language="triton", source=candidate.source)
        for candidate in before
    ]
    steps: list[str] = []
    add_assembly(
        report_of(again), shared_pool(), Monitor(lambda progress: steps.append(progress.step))
    )
    assert not [step for step in steps if step.startswith("compiled")]
    for item, first in zip(again, before, strict=True):
        assert item.assembly == first.assembly
        assert item.configs == first.configs


def test_what_is_kept_is_bounded(tmp_path: Path) -> None:
    for number in range(10):
        file = tmp_path / str(number)
        file.write_bytes(assembly_cache.pack(Assembled({}, why=str(number))))
        os.utime(file, (1e9 + number, 1e9 + number))
    size = file.stat().st_size
    assembly_cache.prune(tmp_path, 10 * size)
    assert len(list(tmp_path.iterdir())) == 10
    # What is read is used: others are older now.
    stored = assembly_cache.read(tmp_path / "0")
    assert stored is not None
    assert stored.why == "0"
    assembly_cache.prune(tmp_path, 5 * size)
    assert {file.name for file in tmp_path.iterdir()} == {"0", "7", "8", "9"}
    # Another process may have removed them, or the folder.
    assert assembly_cache.read(tmp_path / "1") is None
    assembly_cache.prune(tmp_path / "1", 0)
    (tmp_path / "9").write_bytes(b"cut short")
    assert assembly_cache.read(tmp_path / "9") is None


@here
def test_what_cannot_be_compiled_says_why() -> None:
    inline = "tmp1 = tl.inline_asm_elementwise('{}', '=r,r', [tmp0], tl.int32, True, 1)"
    good = kernel("good", f"{LOAD}{STORE.format('tmp0 + 1')}")
    wrong = kernel("wrong", f"{LOAD}{STORE.format('tmp0 + no_such_name')}")
    broken = kernel("broken", LOAD)
    broken.source += "    ) not Python\n"
    # LLVM ends the process for an operand that is not there; ptxas refuses what it does not know.
    deadly = kernel("deadly", LOAD + inline.format("mov.b32 $0, $7;") + STORE.format("tmp1"))
    unknown = kernel("unknown", LOAD + inline.format("nonsense $0, $1;") + STORE.format("tmp1"))
    # A product of tiles with so many stages that their shared memory is not there. Then torch tries
    # it without a pipeline.
    tiles = (
        "a = tl.arange(0, 64)[:, None] * 64 + tl.arange(0, 64)[None, :]\n"
        "acc = tl.zeros([64, 64], tl.float32)\n"
        "for k in range(0, xnumel):\n"
        "    left = tl.load(in_out_ptr0 + a + k * 4096)\n"
        "    right = tl.load(in_out_ptr0 + a + k * 8192)\n"
        "    acc += tl.dot(left, right)\n"
        "tl.store(in_out_ptr0 + a, acc)"
    )
    configs = "configs=[{'XBLOCK': 16, 'num_warps': 8, 'num_stages': 8}]"
    large = kernel("large", tiles, heuristics="user_autotune", arguments=configs)
    variant = report_of([good, wrong, broken, deadly, unknown, large])
    add_assembly(variant, shared_pool(), Monitor())
    assert list(good.assembly) == FORMS["a100"]
    assert "no_such_name" in wrong.absent["assembly"]
    assert "SyntaxError" in broken.absent["assembly"]
    assert "SIGABRT" in deadly.absent["assembly"]
    assert "Invalid $ operand number" in deadly.absent["assembly"]
    assert "ptxas" in unknown.absent["assembly"]
    assert "nonsense" in unknown.absent["assembly"]
    refused = ["wrong", "broken", "deadly", "unknown"]
    refused += ["large"] if OLDEST else []  # torch 2.11 tries nothing else
    assert [problem.what for problem in variant.problems] == [
        f"{name} cannot be compiled for A100 SXM 80 GB." for name in refused
    ]
    if OLDEST:
        return
    eight, result = large.configs
    assert "shared memory" in eight.why.lower()
    assert not eight.assembly
    assert result.usual
    assert not result.why
    assert large.assembly["sass"]
    assert large.resources["stages"] == 1


@here
def test_registers_and_spills() -> None:
    # A tile of 64 by 128 sums: 256 for each thread of the one warp; 255 registers are the most.
    tiles = (
        "rows, columns = tl.arange(0, 64)[:, None], tl.arange(0, 128)[None, :]\n"
        "acc = tl.zeros([64, 128], tl.float32)\n"
        "for k in range(0, xnumel):\n"
        "    inner = tl.arange(0, 16) + k * 16\n"
        "    left = tl.load(in_out_ptr0 + rows * 64 + inner[None, :])\n"
        "    right = tl.load(in_out_ptr0 + inner[:, None] * 128 + columns)\n"
        "    acc += tl.dot(left, right)\n"
        "tl.store(in_out_ptr0 + rows * 128 + columns, acc)"
    )
    one_warp = "{'XBLOCK': 16, 'num_warps': 1, 'num_stages': 1}"
    spilling = kernel("spilling", tiles, arguments=one_warp)
    add_assembly(report_of([spilling]), shared_pool(), Monitor())
    assert spilling.resources["registers"] == 255
    assert spilling.resources["spills"] > 0
    assert spilling.limit == "registers"
    assert spilling.resources["occupancy"] == 8 / 64
    assert "STL" in spilling.assembly["sass"]


@here
def test_torch_adds_configurations_where_registers_are_scarce() -> None:
    sums = [f"_s{n}" for n in range(16)]
    body = "\n".join(
        [
            *(f"{item} = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)" for item in sums),
            "for r0_offset in tl.range(0, r0_numel, R0_BLOCK):",
            "    at = xindex[:, None] * r0_numel + r0_offset + tl.arange(0, R0_BLOCK)[None, :]",
            "    tmp0 = tl.load(in_out_ptr0 + at)",
            *(f"    {item} = {item} * tmp0 + {n}" for n, item in enumerate(sums)),
            f"tl.store(in_out_ptr0 + xindex, tl.sum({' + '.join(sums)}, 1))",
        ]
    )
    reduction = kernel(
        "reduction",
        body,
        heuristics="reduction",
        arguments="size_hints={'x': 65536, 'r0_': 8192}, reduction_hint=ReductionHint.INNER",
        signature="{'in_out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32', "
        "'XBLOCK': 'constexpr', 'R0_BLOCK': 'constexpr'}",
        parameters="in_out_ptr0, xnumel, r0_numel, XBLOCK: tl.constexpr, R0_BLOCK: tl.constexpr",
    )
    add_assembly(report_of([reduction]), shared_pool(), Monitor())
    first, second = reduction.configs[0], reduction.configs[-1]
    assert reduction.resources["registers"] > 32
    assert first.usual
    assert int(first.config["R0_BLOCK"]) > int(second.config["R0_BLOCK"])
    assert second.resources["registers"] < reduction.resources["registers"]


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b


@here
@pytest.mark.parametrize("target", ["b200", "mi300x"])
def test_a_template_is_taken_without_building_any(target: str) -> None:
    """Of dozens of candidates none is compiled until the one that is taken is looked at."""
    halves = torch.zeros(512, 512, dtype=torch.float16)
    options = {"max_autotune": True, "max_autotune_gemm_backends": "TRITON"}
    inspection = Inspection(product, (halves, halves))
    monitor = Monitor()
    started: set[str] = set()
    # What would wait for ever fails instead.
    late = threading.Timer(600.0, monitor.cancel)
    late.start()
    try:
        inspection.sources.generate({target: Variant(target=target, options=options)}, monitor)
        worker = psutil.Process(shared_pool().pids()[target])
        started = {child.name() for child in worker.children(recursive=True)}
        (variant,) = inspection.report.variants
        add_assembly(variant, shared_pool(), monitor)
    finally:
        late.cancel()
    assert variant.problems == []
    assert started == set()
    (compilation,) = variant.compilations
    (decision,) = compilation.decisions
    assert "candidates on the device" in decision.instead
    (triton_kernel,) = triton_kernels(variant)
    assert triton_kernel.name.startswith("triton_tem_")
    assert list(triton_kernel.assembly) == FORMS[target]
    assert len(triton_kernel.configs) == 1


@here
def test_a_cancelled_compile_ends_with_its_processes() -> None:
    endless = f"{LOAD}for _ in tl.static_range(10_000_000):\n    tmp0 = tmp0 * tmp0 + 1"
    slow = kernel("slow", endless + STORE.format("tmp0"))
    monitor = Monitor()
    outcome: list[BaseException] = []

    def ask() -> None:
        try:
            add_assembly(report_of([slow]), shared_pool(), monitor)
        except BaseException as error:  # noqa: BLE001 - it is looked at below
            outcome.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    beat, forks = threading.Event(), []
    while not forks and asking.is_alive():
        beat.wait(0.05)
        # What else it starts may be gone before it has told its name.
        with contextlib.suppress(psutil.Error):
            pid = shared_pool().pids().get("a100")
            children = psutil.Process(pid).children() if pid else []
            forks = [child for child in children if "python" in child.name()]
    monitor.cancel()
    asking.join()
    assert forks
    assert isinstance(outcome[0], Cancelled)
    gone, alive = psutil.wait_procs(forks, timeout=600)
    assert gone
    assert not alive
