"""Ways to deploy a call: their code, a real study, which of them is recommended."""

from __future__ import annotations

import ast
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.analysis.figures.intervals import Ratio
from compilescope.analysis.figures.speedups import speedup
from compilescope.isolation.user_state import preserved
from compilescope.measure.numerics import compare
from compilescope.report import Compilation, Guard, Report, Subject, VariantReport
from compilescope.report.measurements.deployment import (
    PRELUDE,
    WAYS_SLOWER,
    WAYS_UNDECIDED,
    DeployWay,
)
from compilescope.report.measurements.recommendation import counts, judge
from compilescope.report.saving.storage import complete
from compilescope.studies.deploy import deploy, ways
from compilescope.studies.deploy.way_process import _is_accurate, why_no_result
from compilescope.subject.pickled_subject import Call
from compilescope.torch_api.dynamo.module_code import ModuleCode
from compilescope.views.html import report as html
from compilescope.views.rows import deploy as rows
from compilescope.views.text import report as text
from torch import nn

from .. import views_report
from ..studying import study

FEATURES = frozenset({*dir(torch.compiler), ways.AOT})
MODES = ("default", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune")


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.linear(x)) + x


class Blocks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x


class NamedBlocks(Blocks):
    """As diffusers' models do, it names the classes of its blocks, and compiles them."""

    _repeated_blocks = ("Block",)

    def compile_repeated_blocks(self, *args: Any, **kwargs: Any) -> None:
        for module in self.modules():
            if type(module).__name__ in self._repeated_blocks:
                module.compile(*args, **kwargs)


def all_ways(
    variant: cs.Variant | None = None,
    device: str = "cpu",
    blocks: str = "model.blocks",
    names_repeated: bool = True,
    blocks_are_torchs: bool = False,
) -> dict[str, DeployWay]:
    subject = ways.Subject(
        is_module=True,
        device=device,
        blocks=blocks,
        modes=MODES,
        features=FEATURES,
        names_repeated=names_repeated,
        blocks_are_torchs=blocks_are_torchs,
    )
    return {way.name: way for way in ways.ways(variant or cs.Variant(), subject)}


@pytest.mark.usefixtures("fresh_dynamo", "one_thread")
@pytest.mark.parametrize(
    ("name", "model"),
    [
        (ways.BLOCKS, Blocks()),
        (ways.REPEATED, NamedBlocks()),
        (ways.TENSOR_GUARDS, Blocks()),
        (ways.AOT, Blocks()),
        # Of torch's own classes torch calls the compiled forward in another way.
        (ways.AOT, nn.Sequential(*[Block() for _ in range(4)])),
    ],
    ids=[
        "blocks",
        "blocks that the model names",
        "guard filter",
        "aot_compile",
        "aot_compile of a Sequential",
    ],
)
@pytest.mark.compilescope(compilations=1, graph_breaks=0)
def test_the_code_of_a_way_compiles_the_model(name: str, model: nn.Module) -> None:
    x = torch.randn(3, 8)
    names: dict[str, Any] = {"model": model, "args": (x,), "kwargs": {}}
    with torch.no_grad():
        expected = model(x)
        way = all_ways()[name]
        assert way.why == ""
        exec(PRELUDE + way.code, names)
        torch.testing.assert_close(names["compiled"](x), expected)


def test_only_a_model_that_names_its_blocks_compiles_them_by_itself() -> None:
    assert ways.REPEATED not in all_ways(names_repeated=False)
    assert deploy.names_repeated_blocks(NamedBlocks())
    assert not deploy.names_repeated_blocks(Blocks())
    unnamed = NamedBlocks()
    unnamed._repeated_blocks = ()
    assert not deploy.names_repeated_blocks(unnamed)
    code = all_ways(cs.Variant(dynamic=True, fullgraph=True))[ways.REPEATED].code
    assert "model.compile_repeated_blocks(" in code
    assert "dynamic=True" in code
    assert "fullgraph=True" in code


def test_every_code_is_python_and_what_is_not_taken_says_why() -> None:
    data = all_ways(blocks="")
    for way in data.values():
        for code in (way.code, way.ship_code, way.load_code):
            ast.parse(PRELUDE + code)
    assert "GPU" in data["reduce-overhead"].why
    assert "list of at least four modules" in data[ways.BLOCKS].why
    assert "C++ wrapper" in data
    assert "'cpp_wrapper': True" in data["C++ wrapper"].code
    assert all_ways(device="cuda:0")["reduce-overhead"].why == ""
    assert "Python wrapper" in all_ways(cs.Variant(cpp_wrapper=True))


def test_blocks_are_found_in_the_model() -> None:
    assert deploy.blocks_of(Blocks()) == ("model.blocks", False)
    linears = nn.Sequential(*[nn.Linear(2, 2) for _ in range(4)])
    assert deploy.blocks_of(linears) == ("model", True)
    assert deploy.blocks_of(nn.Sequential(nn.Linear(2, 2), nn.ReLU())) == ("", False)


@pytest.mark.usefixtures("fresh_dynamo", "one_thread")
def test_blocks_of_torchs_own_classes_are_compiled_once_and_taken_out_for_eager() -> None:
    blocks = (nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8)) for _ in range(4))
    model = nn.Sequential(*blocks).requires_grad_(False)
    module_code = ModuleCode(model)
    way = all_ways(cs.Variant(backend="eager"), blocks="model", blocks_are_torchs=True)[ways.BLOCKS]
    with cs.budget(compilations=1, graph_breaks=0, recompiles=0):
        exec(PRELUDE + way.code, {"model": model})
        module_code.note_compiled()
        assert module_code.differs
        expected = model(torch.ones(2, 8))
    with module_code.original():
        assert "forward" not in vars(model[0])
        torch.testing.assert_close(model(torch.ones(2, 8)), expected)
    assert "forward" in vars(model[0])


def halves(x: torch.Tensor) -> torch.Tensor:
    for _ in range(200):
        x = x + 0.0013
    return x


def test_a_result_that_is_nearer_to_float64_than_eagers_is_accurate() -> None:
    x = torch.linspace(1, 2, 64, dtype=torch.float16)
    nearer = halves(x.float()).half()
    assert not all(error.ok for error in compare(halves(x), nearer))
    call = Call(halves, (x,), {})
    for output, is_accurate in ((nearer, True), (nearer + 5, False)):
        with preserved(*call) as snapshot:
            assert _is_accurate(call, output, ModuleCode(halves), snapshot) is is_accurate


def test_random_results_are_not_compared() -> None:
    call = Call(lambda x: torch.rand_like(x) + x, (torch.ones(4),), {})
    with preserved(*call) as snapshot:
        assert _is_accurate(call, torch.ones(4), ModuleCode(call.fn), snapshot) is None


@pytest.mark.parametrize(("factor", "is_accurate"), [(1.0, True), (2.0, False)])
def test_what_a_training_step_changes_is_compared_too(factor: float, is_accurate: bool) -> None:
    model = nn.Linear(4, 1)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = model(x).square().mean()
        loss.backward()
        return loss.detach()

    call = Call(step, (torch.ones(2, 4),), {})
    with preserved(*call) as snapshot:
        output = step(*call.args)
        assert model.weight.grad is not None
        model.weight.grad *= factor
        assert _is_accurate(call, output, ModuleCode(step), snapshot) is is_accurate


def scaled(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x) * 2


@pytest.mark.slow
def test_a_way_is_measured_with_and_without_what_it_ships(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def few(variant: cs.Variant, subject: ways.Subject) -> list[DeployWay]:
        return [way for way in ways.ways(variant, subject) if way.name in (ways.WHOLE, ways.AOTI)]

    monkeypatch.setattr(deploy, "ways", few)
    # Precompiled headers would be built for this once; they take longer than all else.
    settings = cs.Variant(options={"cpp_cache_precompile_headers": False})
    variant = VariantReport(name="python", requested=settings)
    seen: list[int] = []
    study(
        "deploy",
        scaled,
        (torch.randn(64),),
        variant,
        changed=lambda: seen.append(len(variant.ways)),
    )
    assert seen == [1, 2], "who watches sees each way as soon as it is measured"
    way, not_taken = variant.ways
    assert way.problem is None
    assert way.accurate is True
    assert way.shipped_accurate is True
    assert way.ships == ["caches.bin"]
    assert way.ship_bytes is not None
    assert way.ship_bytes > 0
    assert way.speedup is not None
    assert way.relative == 1 / way.speedup.ratio
    for figure in (way.cold_s, way.cached_s, way.shipped_s, way.call_us, way.eager_us):
        assert figure is not None
        assert figure > 0
    assert way.memory_bytes is not None
    assert not_taken.cold_s is None
    assert "takes a module" in not_taken.why


def _refuses(graph: object, inputs: object) -> None:
    raise AssertionError("eager compiles nothing")


@torch.compile(backend=_refuses)
def refused(x: torch.Tensor) -> torch.Tensor:
    return x.sin()


def calls_compiled(x: torch.Tensor) -> torch.Tensor:
    return refused(x) + 1


@pytest.mark.slow
def test_eager_compiles_no_function_inside_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        deploy, "ways", lambda *args: [way for way in ways.ways(*args) if way.name == ways.EAGER]
    )
    variant = VariantReport(name="python", requested=cs.Variant())
    study("deploy", calls_compiled, (torch.randn(64),), variant)
    (way,) = variant.ways
    assert way.problem is None
    assert way.accurate is True
    assert way.call_us is not None


def test_blocks_alone_are_measured_beside_other_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    monkeypatch.setattr(deploy, "_measure", lambda _, way, *rest: taken.append(way.name))
    model = Blocks()
    variant = VariantReport(name="python", requested=cs.Variant())
    variant.ways = [DeployWay(name=ways.WHOLE), DeployWay(name=ways.BLOCKS, title="earlier")]
    study("blocks", model, (torch.randn(2, 8),), variant)
    assert taken == [ways.WHOLE, ways.BLOCKS, ways.NESTED]
    assert [way.name for way in variant.ways] == [ways.WHOLE, ways.BLOCKS, ways.NESTED]
    assert "earlier" not in [way.title for way in variant.ways]


@pytest.mark.parametrize("name", ["deploy", "blocks", "cold"])
def test_what_is_inductors_is_not_studied_of_another_backend(name: str) -> None:
    report = VariantReport(name="v", requested=cs.Variant(backend="eager"))
    with pytest.raises(cs.CompilescopeError, match="Inductor's, and the backend is 'eager'"):
        study(name, torch.sin, (torch.ones(2),), report)


def test_a_way_that_torch_fails_is_not_blamed_on_the_subject() -> None:
    def fails(x: torch.Tensor) -> torch.Tensor:
        raise ValueError("no row")

    arguments = (torch.randn(2),), dict[str, Any]()
    restored: list[str] = []
    for fn, what in (
        (scaled, "torch failed with NotImplementedError: no such cache"),
        (fails, "The subject raised ValueError: no row"),
    ):
        problem = why_no_result(
            NotImplementedError("no such cache"),
            Call(fn, *arguments),
            ModuleCode(fn),
            lambda: restored.append("state"),
        )
        assert problem.what == what
    assert len(restored) == 4


def measured(name: str, cold: float, shipped: float | None, us: float, **more: Any) -> DeployWay:
    settings = {"accurate": True, "eager_us": 100.0, "memory_bytes": 1e9, "ship_code": "pass"}
    faster = Ratio(100 / us, (100 / (us + 1), 100 / (us - 0.9)), abs(us - 100) > 1)
    return DeployWay(
        name=name,
        code=f"compiled = {name!r}",
        cold_s=cold,
        shipped_s=shipped,
        call_us=us,
        speedup=speedup(faster, "eager"),
        **{**settings, **more},
    )


def report_of(*deploy_ways: DeployWay) -> Report:
    variant = VariantReport(name="python", requested=cs.Variant(), ways=list(deploy_ways))
    variant.best_way = judge(deploy_ways)
    return Report(subject=Subject(id="1", name="model"), variants=[variant])


EAGER = measured("eager", 0.01, None, 100.0, ship_code="")
FAST = measured("fast", 60.0, 20.0, 10.0)
AS_FAST = measured("as fast", 50.0, 30.0, 11.0)
SOON = measured("soon", 2.0, 0.5, 50.0, memory_bytes=2e9)
UNSAFE = measured("unsafe", 1.0, 0.1, 1.0, safe=False)
WRONG = measured("wrong", 1.0, 0.1, 1.0, accurate=False)
WRONG_SHIPPED = measured("wrong shipped", 1.0, 0.1, 1.0, shipped_accurate=False)
SLOW = measured("slow", 0.1, 0.05, 120.0)


def test_the_objective_decides_which_way_is_recommended() -> None:
    report = report_of(EAGER, FAST, AS_FAST, SOON, UNSAFE, WRONG, WRONG_SHIPPED, SLOW)
    assert report.best("latency").way is FAST, "of two that are alike, what starts sooner"
    assert report.best("cold").way is SOON
    assert report.best("balanced").way is SOON
    assert report.best("balanced", memory_gb=1.5).way is FAST
    assert report_of(EAGER, SLOW).best("latency").way is EAGER


def test_noise_does_not_choose_a_way() -> None:
    noisy = measured("noisy", 1.0, 0.1, 5.0)
    assert noisy.speedup is not None
    noisy.speedup.standing, noisy.speedup.text = "noisy", "too noisy to judge"
    assert report_of(EAGER, noisy, SOON).best("latency").way is SOON
    report = report_of(EAGER, noisy)
    only_noise = report.best("latency")
    assert only_noise.way is EAGER
    assert only_noise.reason.endswith(f"{WAYS_UNDECIDED} Not judged: noisy.")
    assert [way.best_for for way in report.variants[0].ways] == [[], []]
    assert WAYS_UNDECIDED in rows.remarks(report.variants[0])
    without_eager = report_of(noisy).best("cold")
    assert without_eager.way is noisy, "nothing else was measured"
    assert WAYS_UNDECIDED in str(without_eager)
    assert report_of(EAGER, SLOW, WRONG).variants[0].ways[0].best_for, "nothing is undecided"


def test_each_way_says_what_it_is_best_for() -> None:
    ways = report_of(EAGER, FAST, SOON, UNSAFE).variants[0].ways
    assert [way.name for way in ways if way.is_pareto] == ["eager", "fast", "soon"]
    assert {way.name: way.best_for for way in ways if way.best_for} == {
        "fast": ["latency"],
        "soon": ["cold", "balanced"],
    }
    assert [way.first_s for way in ways] == [0.01, 20.0, 0.5, 0.1]
    for way in ways:
        ast.parse(way.paste_code)
    judge(ways[:1])
    assert EAGER.best_for == ["latency", "cold", "balanced"], "there is nothing else yet"


@pytest.mark.parametrize(
    ("accurate", "shipped", "as_eager", "word"),
    [
        (True, None, True, "yes"),
        (True, True, True, "yes"),
        (True, False, False, "NO"),
        (False, None, False, "NO"),
        (None, None, None, ""),
        (None, False, False, "NO"),
    ],
)
def test_results_with_the_shipped_files_count_too(
    accurate: bool | None, shipped: bool | None, as_eager: bool | None, word: str
) -> None:
    way = measured("way", 1.0, 0.1, 1.0, accurate=accurate, shipped_accurate=shipped)
    report = report_of(way)
    assert way.as_eager is as_eager
    assert counts(way) is (as_eager is not False)
    (row,) = rows.rows(report.variants[0])
    assert row[-1] == word
    way.as_eager = None
    complete(report)
    assert way.as_eager is as_eager, "a file of an earlier version"


def test_files_with_wrong_results_are_not_in_the_code_to_paste() -> None:
    judge([SOON, WRONG_SHIPPED])
    assert "writes what is shipped" in SOON.paste_code
    assert "writes what is shipped" not in WRONG_SHIPPED.paste_code


def test_a_recommendation_compiles_and_shows_itself() -> None:
    best = report_of(EAGER, SOON).best("cold")
    assert best.apply(None) == "soon"
    assert "500 ms with the 0.00 MB it ships" in str(best)
    slow = report_of(EAGER, measured("minutes", 90.0, None, 50.0, eager_us=39_000.0)).best()
    assert "in eager 39.0 ms" in str(slow)
    assert "# In each process that serves:" in best.code
    ast.parse(best.code)


def test_what_cannot_be_recommended_says_why() -> None:
    with pytest.raises(cs.CompilescopeError, match="No way to deploy the call was measured"):
        report_of().best()
    with pytest.raises(cs.CompilescopeError, match="no objective 'speed'"):
        report_of(EAGER).best("speed")  # type: ignore[arg-type]
    with pytest.raises(cs.CompilescopeError, match="No way needs less than"):
        report_of(EAGER).best(memory_gb=0.5)
    # The study `blocks` measures no eager.
    only_slow = report_of(SLOW)
    with pytest.raises(cs.CompilescopeError, match="No compiled way is faster than eager"):
        only_slow.best()
    assert only_slow.variants[0].ways[0].best_for == []
    assert WAYS_SLOWER in rows.remarks(only_slow.variants[0])


def test_the_table_is_in_the_text_and_in_the_page() -> None:
    failed = DeployWay(name="AOTInductor", why="torch.export takes a module.")
    report = views_report.report()
    variant = report.variants[0]
    variant.ways = [EAGER, FAST, SOON, failed]
    variant.best_way = judge(variant.ways)
    shown = text.render(report, width=100)
    assert f"{report.variants[0].name}: ways to deploy" in shown
    assert "fast *" in shown
    assert "Lowest latency: fast. Shortest time to first result: soon." in " ".join(shown.split())
    assert "AOTInductor is not measured: torch.export takes a module." in shown
    assert "ways to deploy" in html.render(report)


def test_a_machine_that_was_not_as_fast_for_each_way_is_named() -> None:
    (even,) = report_of(EAGER, FAST).variants
    slowed = measured("slowed", 2.0, 0.5, 50.0, eager_us=210.0)
    (uneven,) = report_of(EAGER, slowed).variants
    said = "the machine was faster for some ways than for others"
    assert not any(said in line for line in rows.remarks(even))
    assert any(said in line for line in rows.remarks(uneven))


def test_blocks_that_guard_different_numbers_are_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[str] = []
    monkeypatch.setattr(deploy, "_measure", lambda _, way, *rest: taken.append(way.name))
    sources = [f"L['self']._modules['blocks']._modules['{index}'].layer" for index in range(4)]
    guards = [
        Guard(expression=f"{source} == {index}", type="EQUALS_MATCH", source=source)
        for index, source in enumerate(sources)
    ]
    variant = VariantReport(name="python", requested=cs.Variant())
    variant.compilations = [Compilation(id="0/0", guards=guards)]
    study("blocks", Blocks(), (torch.randn(2, 8),), variant)
    assert taken == [ways.WHOLE, ways.NESTED]
    assert variant.ways[1].why == (
        "The blocks differ in layer, which guards compare: torch compiles each of them, and runs "
        "those beyond its recompile limit in eager."
    )
