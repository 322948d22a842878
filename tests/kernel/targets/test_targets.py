"""Variants for a target: inspected from end to end, packed without weights, looked up by name."""

from __future__ import annotations

import linecache
import threading
from collections.abc import Callable, Iterator
from typing import Any

import compilescope as cs
import msgspec
import psutil
import pytest
import torch
from compilescope.comms import commands, messages
from compilescope.inspection import variants as names
from compilescope.notebook import options
from compilescope.report import VariantReport
from compilescope.session.session import Session
from compilescope.targets import known_devices
from compilescope.targets.worker_pool import shared_pool
from compilescope.torch_api.targets import device
from torch._dynamo.convert_frame import compile_lock

from .. import target_subjects as subjects

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(known_devices.unavailable()), reason=known_devices.unavailable()),
]

X = torch.randn(8, 16)
Notebook = Callable[[str], Callable[..., Any]]


@pytest.fixture
def notebook() -> Iterator[Notebook]:
    """Runs a cell as a notebook does; gives the ``f`` that it defines."""
    names: list[str] = []

    def run(text: str) -> Callable[..., Any]:
        name = f"/tmp/ipykernel_1/{len(text)}.py"  # there is no such file
        names.append(name)
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(text, name, "exec"), space)
        function: Callable[..., Any] = space["f"]
        return function

    yield run
    for name in names:
        del linecache.cache[name]


def test_both_wrappers_hold_what_those_of_a_real_device_hold() -> None:
    x, w = torch.randn(64, 256, requires_grad=True), torch.randn(256, 512, requires_grad=True)
    report = cs.inspect(
        subjects.projected,
        (x, w),
        variants=[cs.Variant(target="H100"), cs.Variant(target="H100", cpp_wrapper=True)],
        run=False,
    )
    python, cpp = report.variants
    assert [variant.name for variant in report.variants] == ["python on h100", "cpp on h100"]
    assert [variant.problems for variant in report.variants] == [[], []]
    assert python.target is not None
    assert (python.target.name, python.target.device.name) == ("h100", "H100 SXM")
    assert python.target.estimate is not None
    assert python.target.estimate.kernels_us > 0
    (compilation,) = python.compilations
    (partner,) = cpp.compilations
    assert {"dynamo", "joint", "forward", "backward", "post_grad"} <= set(compilation.graphs)
    assert "triton" in (compilation.code.python or "")
    assert compilation.code.backward is not None
    assert "aoti_torch_cuda" in (partner.code.cpp or "")
    triton = [kernel for kernel in compilation.kernels if kernel.language == "triton"]
    assert [kernel.name for kernel in partner.kernels if kernel.language == "triton"] == [
        kernel.name for kernel in triton
    ]
    assert triton[0].launches[0].key in {
        launch.key for kernel in partner.kernels for launch in kernel.launches
    }
    assert triton[0].sources[0].file == subjects.__file__
    assert msgspec.json.decode(report.to_json())["variants"][0]["target"]["name"] == "h100"


def test_tied_weights_and_views_stay_what_they_are() -> None:
    tied = _inspect(subjects.Tied(), (torch.randint(64, (2, 8)),))
    weights = [input_name for input_name in _inputs(tied) if input_name.shape == ["64", "32"]]
    assert len(weights) == 1
    base = torch.randn(4, 16)
    written = _inspect(subjects.sliced, (base, base[1:3]))
    # What is written to x is seen in its part.
    assert len(_inputs(written)) == 1
    assert "as_strided" in " ".join(node.target for node in _nodes(written))


def test_a_layer_of_a_large_model_needs_no_memory() -> None:
    with torch.device("meta"):
        layer = subjects.Layer().to(torch.bfloat16)
        x = torch.empty(1, 512, 8192, dtype=torch.bfloat16)
    # Other tests may have left something in the process.
    _inspect(subjects.scaled, (X,))
    before = _held("h100")
    variant = _inspect(layer, (x,))
    assert variant.problems == []
    weights = sum(weight.nbytes for weight in layer.parameters())
    assert weights > 1e9
    assert _held("h100") - before < 200e6


def test_code_of_a_notebook_travels_with_its_text(notebook: Notebook) -> None:
    f = notebook("def f(x):\n    return x.sin() + 1\n")
    (kernel,) = _inspect(f, (X,)).compilations[0].kernels
    assert (kernel.sources[0].line, kernel.sources[0].code) == (2, "return x.sin() + 1")


@pytest.mark.parametrize("name", ["operator", "operator by its schema", "Triton kernel"])
def test_what_a_notebook_defines_travels(name: str, notebook: Notebook) -> None:
    text, target = _DEFINED[name]
    variant = _inspect(notebook(text), (X,))
    assert variant.problems == []
    assert sum(target in node.target for node in _nodes(variant)) == 2


_DEFINED = {
    "operator": (
        """
import torch

@torch.library.custom_op("compilescope_tests::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2

@twice.register_fake
def _(x):
    return torch.empty_like(x)

@torch.library.custom_op("compilescope_tests::grow", mutates_args=("x",))
def grow(x: torch.Tensor, by: int) -> None:
    x.add_(by)

def f(x):
    y = x.sin()
    grow(y, 2)
    return twice(y) + torch.ops.compilescope_tests.twice(x)
""",
        "compilescope_tests.twice",
    ),
    "operator by its schema": (
        """
import torch

torch.library.define("compilescope_tests::thrice", "(Tensor x) -> Tensor")

@torch.library.register_fake("compilescope_tests::thrice")
def _(x):
    return torch.empty_like(x)

def f(x):
    return torch.ops.compilescope_tests.thrice(torch.ops.compilescope_tests.thrice(x))
""",
        "compilescope_tests.thrice",
    ),
    "Triton kernel": (
        """
import torch
import triton
import triton.language as tl

@triton.jit
def more(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) + 1, mask=at < n)

def f(x):
    y, z = torch.empty_like(x), torch.empty_like(x)
    more[(1,)](x, y, x.numel(), 128)
    more[(1,)](y, z, x.numel(), 128)
    return z
""",
        "triton_kernel_wrapper",
    ),
}
"""What is defined → the code, and the operator that the graph has of it twice."""


def test_a_parametrized_module_travels() -> None:
    layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(16, 16))
    assert _inspect(layer, (X,)).problems == []


def test_settings_travel_and_do_not_stay() -> None:
    before = _inspect(subjects.projected, (X, torch.randn(16, 16)))
    with torch._inductor.config.patch(epilogue_fusion=False), torch.no_grad():
        changed = cs.inspect(
            subjects.projected, (X, torch.randn(16, 16)), variants={"h": H100}, run=False
        ).variants[0]
    after = _inspect(subjects.projected, (X, torch.randn(16, 16)))
    assert changed.config["epilogue_fusion"] == "False"
    assert "epilogue_fusion" not in before.config
    assert after.config == before.config


def test_a_target_is_added_while_a_cell_compiles() -> None:
    """What the panel asks for holds no lock of torch's and needs no main thread."""
    session = Session()
    report = session.inspect(subjects.scaled, (X,), variants={"h": H100}, run=False)
    subject = report.subject.id
    ended = threading.Event()
    session.observe(
        lambda kind, _, job, __: (
            ended.set()
            if kind == "job" and job is not None and job.state in ("done", "failed")
            else None
        )
    )
    request = messages.AddVariant(
        subject=subject, variant=cs.Variant(target="h100", cpp_wrapper=True)
    )
    answers: list[messages.AddVariantResult] = []
    with compile_lock:
        asking = threading.Thread(
            target=lambda: answers.append(commands.add_variant(session, request))
        )
        asking.start()
        assert ended.wait(600)
        asking.join(600)
    assert answers[0].name == "cpp on h100"
    assert answers[0].code == ""
    assert report.variant("cpp on h100").problems == []


def test_nothing_runs_for_a_target() -> None:
    report = cs.inspect(subjects.scaled, (X,), variants={"h": H100}, run=False)
    result = "Nothing runs for H100 SXM: it is not available."
    with pytest.raises(cs.CompilescopeError, match=result):
        cs.measure(report, seconds=0.1)
    with pytest.raises(cs.CompilescopeError, match=result):
        cs.sweep(subjects.scaled, (X,), variants=[H100])
    cs.study(report, "layers", variants=["h"])
    (problem,) = report.variant("h").problems
    assert problem.what == "The study of layers failed."
    assert problem.why.startswith(result)
    assert report.variant("h").timing is None


def test_a_target_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_devices, "_custom", {})
    half = cs.add_target("half-h100", like="h100", multiprocessors=66)
    assert half.build is not None
    assert (half.target, half.build.multiprocessors) == ("halfh100", 66)
    assert half.build.l2_bytes == (known_devices.find("h100").build or half.build).l2_bytes
    assert known_devices.find("Half-H100") is half
    assert "halfh100" in Session().choices().targets
    assert names.name_of(names.checked(cs.Variant(target="Half-H100"))) == "python on halfh100"


@pytest.mark.parametrize(
    ("name", "figures", "message"),
    [
        ("h100", {}, "There is a target 'h100' already."),
        ("a/b", {}, "'a/b' cannot be a target's name."),
        ("mine", {"cores": 3}, "A target has no figure 'cores'."),
        ("mine", {"multiprocessors": 0}, "The target 'mine' has multiprocessors 0."),
        ("mine", {"l2_bytes": "much"}, "The target 'mine' cannot be: Expected `int`, got `str`"),
        ("mine", {"arch": "sm_90"}, "The target 'mine' has arch 'sm_90'."),
        ("mine", {"backend": "hip", "arch": "gfx9"}, "The target 'mine' has arch 'gfx9'."),
    ],
)
def test_figures_that_no_device_has(name: str, figures: dict[str, Any], message: str) -> None:
    with pytest.raises(cs.CompilescopeError) as error:
        cs.add_target(name, like="h100", **figures)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("like", "arch", "expected"),
    [
        ("h100", "90", (9, 0)),
        ("b200", "100", (10, 0)),
        ("mi300x", "gfx90a", (9, 0)),
        ("mi300x", "gfx942", (9, 4)),
        ("mi300x", "gfx1030", (10, 3)),
        ("mi300x", "gfx1201", (12, 0)),
    ],
)
def test_the_compute_capability_is_read_from_the_architecture(
    like: str, arch: str, expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_devices, "_custom", {})
    build = cs.add_target("mine", like=like, arch=arch).build
    assert build is not None
    assert device.capability(build) == expected


def test_what_cannot_be_a_targets_variant() -> None:
    for variant in (cs.Variant(backend="aot_eager", target="h100"), _eager()):
        with pytest.raises(cs.CompilescopeError, match="takes no target"):
            names.parse([variant])


def test_the_magic_takes_several_targets() -> None:
    chosen = options.variants(options.read("--target h100,mi300x --variants python"))
    assert list(chosen) == ["python on h100", "python on mi300x"]


H100 = cs.Variant(target="h100")


def _eager() -> cs.Variant:
    return cs.Variant(backend=None, target="h100")


def _inspect(fn: Any, args: tuple[Any, ...]) -> VariantReport:
    return cs.inspect(fn, args, variants={"h": H100}, run=False).variants[0]


def _held(target: str) -> int:
    """The memory of a target's process."""
    return int(psutil.Process(shared_pool().pids()[target]).memory_info().rss)


def _nodes(variant: VariantReport) -> list[Any]:
    return list(variant.compilations[0].graphs["post_grad"].nodes)


def _inputs(variant: VariantReport) -> list[Any]:
    return [node for node in _nodes(variant) if node.op == "placeholder"]
