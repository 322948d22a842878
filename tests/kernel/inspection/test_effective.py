"""What was asked for against what torch did; it differs only where it does."""

from __future__ import annotations

import logging

import compilescope
import pytest
import torch
from compilescope import Variant
from compilescope.analysis.settings.effective import Facts, effective
from compilescope.capture.records import Record
from compilescope.report import Compilation, Crossing, Effective, Graph, Kernel, Node, Report
from compilescope.torch_api.inductor import inductor_warnings
from torch import Tensor, nn

pytestmark = pytest.mark.slow

NET = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4)).eval()

VARIANTS = {
    "python": Variant(),
    "cpp": Variant(cpp_wrapper=True),
    "graphs": Variant(mode="reduce-overhead", cpp_wrapper=True),
    "tuned": Variant(mode="max-autotune-no-cudagraphs"),
    "frozen": Variant(options={"freezing": True}),
    "dynamic": Variant(dynamic=True),
    "aot_eager": Variant(backend="aot_eager"),
}

MEASURES_ADDMM = torch.__version__.startswith("2.11.")
"""torch 2.11 has two library calls for it on a CPU, later ones have one."""


def f(x: Tensor) -> Tensor:
    return NET(x).sum(0)


@pytest.fixture(scope="module")
def sources() -> Report:
    with torch.no_grad():
        return compilescope.inspect(f, (torch.ones(8, 16),), variants=VARIANTS, run=False)


@pytest.fixture(scope="module")
def built() -> Report:
    chosen = {name: VARIANTS[name] for name in ("tuned", "frozen")}
    with torch.no_grad():
        return compilescope.inspect(f, (torch.ones(8, 16),), variants=chosen)


def of(report: Report, variant: str) -> dict[str, Effective]:
    found = report.variant(variant).effective
    assert len({setting.setting for setting in found}) == len(found)
    return {setting.setting: setting for setting in found}


@pytest.mark.parametrize("variant", ["python", "cpp"])
def test_nothing_differs_where_torch_did_as_it_was_told(sources: Report, variant: str) -> None:
    found = of(sources, variant)
    assert [setting for setting in found.values() if setting.differs] == []
    assert found["cpp_wrapper"].actual == ("on" if variant == "cpp" else "off")
    assert found["dynamic"].actual == "all sizes are constants"
    assert found["fullgraph"].actual == "1 graph"
    assert "CUDA graphs" not in found
    assert "autotuning" not in found


def test_cuda_graphs_need_a_gpu(sources: Report) -> None:
    found = of(sources, "graphs")["CUDA graphs"]
    assert (found.requested, found.actual, found.differs) == ("on", "off", True)
    assert "CPU" in found.why


def test_a_size_that_the_code_fixes_is_no_symbol(sources: Report) -> None:
    found = of(sources, "dynamic")["dynamic"]
    assert found.requested == "on"
    assert found.actual == "symbols for L['x'].size()[0]"
    assert found.differs
    assert found.operators == ["L['x'].size()[1]"]
    assert found.why == "L['x'].size()[1] is always 16 here: range_refined_to_singleton."
    assert found.where is not None


def test_another_backend_generates_nothing(sources: Report) -> None:
    found = of(sources, "aot_eager")
    assert not found["backend"].differs
    assert "Inductor" in found["backend"].why
    assert "cpp_wrapper" not in found


def test_autotuning_without_a_choice(built: Report) -> None:
    found = of(built, "tuned")["autotuning"]
    if MEASURES_ADDMM:
        assert (found.requested, found.actual, found.differs) == ("on", "2 measured", False)
    else:
        assert (found.requested, found.differs) == ("on", True)
        assert found.operators == ["addmm"]
        assert "freezing" in found.remedy
    assert of(built, "tuned")["vector instructions"].actual == (
        inductor_warnings.vector_instructions() or "none"
    )


def test_freezing_by_an_option_comes_too_late(built: Report) -> None:
    found = of(built, "frozen")["freezing"]
    assert (found.requested, found.actual, found.differs) == ("on", "off", True)
    assert "global" in found.why


def test_freezing_by_the_global_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    with torch._inductor.config.patch(freezing=True), torch.no_grad():
        report = compilescope.inspect(f, (torch.ones(8, 16),), variants="python", run=False)
    found = of(report, "python")["freezing"]
    assert (found.requested, found.actual, found.differs) == ("on", "on", False)


def gpu(*operators: str) -> Compilation:
    nodes = [
        Node(name=f"n{index}", op="call_function", target=f"torch.ops.aten.{name}", device="cuda:0")
        for index, name in enumerate(operators)
    ]
    return Compilation(
        id="0/0", graphs={"post_grad": Graph(stage="post_grad", text="", nodes=nodes)}
    )


def told(
    compilation: Compilation, *records: Record, cpp: bool = False, facts: Facts | None = None
) -> dict[str, Effective]:
    facts = facts or Facts(built=True)
    effectives = effective(Variant(cpp_wrapper=cpp), [compilation], records, facts)
    return {setting.setting: setting for setting in effectives}


def test_who_launches_tritons_kernels() -> None:
    compilation = gpu("sin.default")
    compilation.kernels = [Kernel(name="triton_poi_fused_sin_0", language="triton")]
    settings = inductor_warnings.in_force({})
    assert "use_static_cuda_launcher" in settings, "the installed torch has the setting"
    on, off = (
        Facts(settings=settings | {"use_static_cuda_launcher": value}, built=True)
        for value in (True, False)
    )
    found = told(compilation, facts=on)["static launcher"]
    assert (found.requested, found.actual, found.differs) == ("on", "allowed", False)
    found = told(compilation, facts=off)["static launcher"]
    assert (found.requested, found.actual) == ("off", "off")
    assert "use_static_cuda_launcher" in found.remedy
    found = told(compilation, cpp=True, facts=on)["static launcher"]
    assert found.actual == "not needed"
    assert "static launcher" not in told(gpu("sin.default"), facts=on), "no Triton kernel"


def test_fusions_that_the_cpp_wrapper_does_without() -> None:
    facts = Facts(fusions=["mix-order reduction", "bias_addmm"], built=True)
    found = told(gpu("addmm.default", "sum.dim_IntList"), cpp=True, facts=facts)["fusions"]
    assert found.differs
    assert found.operators == ["bias_addmm"], "one reduction has nothing to be fused with"
    assert "fusions" not in told(gpu("mul.Tensor"), cpp=True, facts=facts)
    assert "fusions" not in told(gpu("addmm.default"), facts=facts), "the Python wrapper has it"


def test_what_the_installed_torch_says_of_its_fusions() -> None:
    off = inductor_warnings.without_cpp_wrapper({"triton.mix_order_reduction": False})
    assert "mix-order reduction" not in off
    assert "mix-order reduction" in inductor_warnings.without_cpp_wrapper(
        {"triton.mix_order_reduction": True}
    )


def test_calls_through_python() -> None:
    compilation = Compilation(
        id="0/0",
        crossings=[
            Crossing(
                operator="demo::scale", lines=[3, 9], why="Its kernel is Python.", remedy="C++"
            ),
            Crossing(operator="torch.ops.demo.other", artifact="python", lines=[4]),
        ],
    )
    found = told(compilation, cpp=True)["calls through Python"]
    assert (found.requested, found.actual, found.differs) == (
        "none",
        "2 calls of demo::scale",
        True,
    )
    assert found.operators == ["demo::scale"]
    assert "calls through Python" not in told(compilation)


def test_complaints_are_heard_and_the_loggers_stay_as_they_are() -> None:
    logger = logging.getLogger("torch._inductor")
    before = (logger.level, list(logger.handlers), logger.propagate)
    texts: list[str] = []
    with inductor_warnings.hearing(texts):
        logging.getLogger("torch._inductor.utils").warning("Not enough SMs (%d)", 4)
        logging.getLogger("torch._inductor.utils").warning("Not enough SMs (%d)", 4)
        logging.getLogger("torch._inductor.utils").info("nothing to hear")
    logging.getLogger("torch._inductor.utils").warning("too late")
    assert texts == ["Not enough SMs (4)"]
    assert (logger.level, list(logger.handlers), logger.propagate) == before
