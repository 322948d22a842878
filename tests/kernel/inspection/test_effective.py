"""What was asked for against what torch did; it differs only where it does."""

from __future__ import annotations

import logging

import compilescope
import pytest
import torch
from compilescope import Variant
from compilescope.analysis.figures.wording import place
from compilescope.analysis.settings.effective import Facts, effective
from compilescope.capture.records import Record
from compilescope.report import Compilation, Effective, Graph, Kernel, Node, Report
from compilescope.torch_api.inductor import inductor_warnings, toolchain
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
    return NET(x)


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
    effective = report.variant(variant).effective
    assert len({setting.setting for setting in effective}) == len(effective)
    return {setting.setting: setting for setting in effective}


@pytest.mark.parametrize("variant", ["python", "cpp"])
def test_nothing_differs_where_torch_did_as_it_was_told(sources: Report, variant: str) -> None:
    data = of(sources, variant)
    assert [setting for setting in data.values() if setting.differs] == []
    assert data["cpp_wrapper"].actual == ("on" if variant == "cpp" else "off")
    assert (data["backend"].actual, data["mode"].actual) == ("inductor", "default")
    assert data["dynamic"].actual == "all sizes are constants"
    assert data["fullgraph"].actual == "1 graph"
    assert "CUDA graphs" not in data
    assert "autotuning" not in data


def test_cuda_graphs_need_a_gpu(sources: Report) -> None:
    assert of(sources, "graphs")["mode"].requested == "reduce-overhead"
    item = of(sources, "graphs")["CUDA graphs"]
    assert (item.requested, item.actual, item.differs) == ("on", "off", True)
    assert "CPU" in item.why


def test_a_size_that_the_code_fixes_is_no_symbol(sources: Report) -> None:
    item = of(sources, "dynamic")["dynamic"]
    assert item.requested == "on"
    assert item.actual == "symbols for x.size(0)"
    assert item.differs
    assert item.operators == ["x.size(1)"]
    assert item.why == "x.size(1) became the constant 16."
    assert item.where is not None
    assert item.remedy == f"See {place(item.where)}, which fixes x.size(1)."


def dynamic_setting(source: str, value: str) -> Effective:
    event = "symbolic_shape_specialization"
    detail = {"sources": [source], "value": value, "reason": "trivial_lhs"}
    record = Record(event=event, metadata={event: detail}, compile_id="0/0")
    found = effective(Variant(dynamic=True), [Compilation(id="0/0")], [record], Facts())
    return next(setting for setting in found if setting.setting == "dynamic")


def test_a_size_that_no_known_line_fixes_has_no_line_to_see() -> None:
    item = dynamic_setting("L['x'].size()[0]", "5")
    assert (item.differs, item.remedy, item.where) == (True, "", None)


@pytest.mark.parametrize(
    ("source", "value", "why"),
    [
        ("L['eps']", "1.00000000000000e-5", "eps became the constant 1e-05."),
        ("L['scales'][1]", "0.250000000000000", "scales[1] became the constant 0.25."),
        ("L['self'].cache.size()[0]", "4", "self.cache.size(0) became the constant 4."),
        ("L['self']._modules['norm'].eps", "1.00000000000000e-5", ""),
        ("G['NET']._modules['0']._parameters['weight'].size()[0]", "4", ""),
        ("G['SCALE']", "2.50000000000000", ""),
    ],
)
def test_only_sizes_and_arguments_that_became_constants_differ(
    source: str, value: str, why: str
) -> None:
    item = dynamic_setting(source, value)
    assert (item.differs, item.why, bool(item.operators)) == (bool(why), why, bool(why))


def test_another_backend_generates_nothing(sources: Report) -> None:
    data = of(sources, "aot_eager")
    assert not data["backend"].differs
    assert "Inductor" in data["backend"].why
    assert "cpp_wrapper" not in data


def test_autotuning_without_a_choice(built: Report) -> None:
    item = of(built, "tuned")["autotuning"]
    if MEASURES_ADDMM:
        assert (item.requested, item.actual, item.differs) == ("on", "2 measured", False)
    else:
        assert (item.requested, item.differs) == ("on", True)
        assert item.operators == ["addmm"]
        assert "freezing" in item.remedy
    assert of(built, "tuned")["vector instructions"].actual == (
        toolchain.vector_instructions() or "none"
    )


def test_freezing_by_an_option_comes_too_late(built: Report) -> None:
    item = of(built, "frozen")["freezing"]
    assert (item.requested, item.actual, item.differs) == ("on", "off", True)
    assert "global" in item.why


def test_freezing_by_the_global_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    with torch._inductor.config.patch(freezing=True), torch.no_grad():
        report = compilescope.inspect(f, (torch.ones(8, 16),), variants="python", run=False)
    item = of(report, "python")["freezing"]
    assert (item.requested, item.actual, item.differs) == ("on", "on", False)


def gpu(*operators: str) -> Compilation:
    nodes = [
        Node(name=f"n{index}", op="call_function", target=f"torch.ops.aten.{name}", device="cuda:0")
        for index, name in enumerate(operators)
    ]
    return Compilation(
        id="0/0", graphs={"post_grad": Graph(stage="post_grad", text="", nodes=nodes)}
    )


def effective_settings(
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
    item = effective_settings(compilation, facts=on)["static launcher"]
    assert (item.requested, item.actual, item.differs) == ("on", "allowed", False)
    item = effective_settings(compilation, facts=off)["static launcher"]
    assert (item.requested, item.actual) == ("off", "off")
    assert "use_static_cuda_launcher" in item.remedy
    item = effective_settings(compilation, cpp=True, facts=on)["static launcher"]
    assert item.actual == "not needed"
    assert "static launcher" not in effective_settings(gpu("sin.default"), facts=on), (
        "no Triton kernel"
    )


def test_fusions_that_the_cpp_wrapper_does_without() -> None:
    facts = Facts(fusions=["mix-order reduction", "bias_addmm"], built=True)
    item = effective_settings(gpu("addmm.default", "sum.dim_IntList"), cpp=True, facts=facts)[
        "fusions"
    ]
    assert item.differs
    assert item.operators == ["bias_addmm"], "one reduction has nothing to be fused with"
    assert "fusions" not in effective_settings(gpu("mul.Tensor"), cpp=True, facts=facts)
    assert "fusions" not in effective_settings(gpu("addmm.default"), facts=facts), (
        "the Python wrapper has it"
    )


def test_what_the_installed_torch_says_of_its_fusions() -> None:
    off = inductor_warnings.without_cpp_wrapper({"triton.mix_order_reduction": False})
    assert "mix-order reduction" not in off
    assert "mix-order reduction" in inductor_warnings.without_cpp_wrapper(
        {"triton.mix_order_reduction": True}
    )


def test_complaints_are_heard_and_the_loggers_stay_as_they_are() -> None:
    logger = logging.getLogger("torch._inductor")
    before = (logger.level, list(logger.handlers), logger.propagate)
    texts: list[str] = []
    with inductor_warnings.collecting_warnings(texts):
        logging.getLogger("torch._inductor.utils").warning("Not enough SMs (%d)", 4)
        logging.getLogger("torch._inductor.utils").warning("Not enough SMs (%d)", 4)
        logging.getLogger("torch._inductor.utils").info("nothing to hear")
    logging.getLogger("torch._inductor.utils").warning("too late")
    assert texts == ["Not enough SMs (4)"]
    assert (logger.level, list(logger.handlers), logger.propagate) == before
