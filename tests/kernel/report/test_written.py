"""A subject that the user has compiled already is shown as written, with its own settings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.analysis.settings.variant_code import code_of
from compilescope.inspection import variants as names
from compilescope.report import AS_WRITTEN, IN_CELL, Report, references
from compilescope.report.variant import Variant
from compilescope.session.session import Session
from compilescope.subject import pickled_subject
from compilescope.torch_api.dynamo import compile_variant
from compilescope.watching.running_code import watching

pytestmark = pytest.mark.slow

X = torch.randn(4)
SEEN: list[dict[str, Any]] = []
"""What `mine` was given."""


def f(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


def no_tensors(entries: Sequence[Any]) -> list[bool]:
    """Keeps all guards but those on tensors."""
    return [entry.guard_type != "TENSOR_MATCH" for entry in entries]


def mine(graph: torch.fx.GraphModule, inputs: object, **given: Any) -> Callable[..., Any]:
    SEEN.append(given)
    return graph.forward


FILTER = f"<function {__name__}.no_tensors>"
MINE = f"<function {__name__}.mine>"


class Doubler:
    @torch.compile(backend="aot_eager", dynamic=False)
    def double(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sin() + 1


def in_place() -> torch.nn.Module:
    module = Net()
    module.compile(backend="eager", dynamic=True)
    return module


@torch.compile(options={"epilogue_fusion": False, "guard_filter_fn": no_tensors}, dynamic=True)
def decorated(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


@torch.no_grad()
def without_gradients(x: torch.Tensor) -> torch.Tensor:
    return x.cos()


WRITTEN: dict[str, tuple[Callable[[], Callable[..., Any]], Variant]] = {
    "decorator": (
        lambda: decorated,
        Variant(dynamic=True, options={"epilogue_fusion": False, "guard_filter_fn": FILTER}),
    ),
    "mode": (
        lambda: torch.compile(f, mode="max-autotune-no-cudagraphs"),
        Variant(mode="max-autotune-no-cudagraphs"),
    ),
    "fullgraph": (lambda: torch.compile(f, fullgraph=True), Variant(fullgraph=True)),
    "C++ wrapper": (
        lambda: torch.compile(f, options={"cpp_wrapper": True, "epilogue-fusion": False}),
        Variant(cpp_wrapper=True, options={"epilogue_fusion": False}),
    ),
    "module": (
        lambda: torch.compile(torch.nn.Linear(4, 4), backend="eager", fullgraph=True),
        Variant(backend="eager", fullgraph=True),
    ),
    "in place": (in_place, Variant(backend="eager", dynamic=True)),
    "method": (lambda: Doubler().double, Variant(backend="aot_eager", dynamic=False)),
    "partial": (
        lambda: functools.partial(torch.compile(f, backend="eager")),
        Variant(backend="eager"),
    ),
    "own backend": (
        lambda: torch.compile(f, backend=mine, options={"level": 3}),
        Variant(backend=MINE, options={"level": 3}),
    ),
    "own backend with a mode": (
        lambda: torch.compile(without_gradients, backend=mine, mode="fast"),
        Variant(backend=MINE, mode="fast"),
    ),
    "outermost": (
        lambda: torch.compile(torch.compile(f, backend="aot_eager"), backend="eager"),
        Variant(backend="eager"),
    ),
}


def inspected(fn: Callable[..., Any], **options: Any) -> Report:
    return Session().inspect(fn, (X,), **{"run": False, "variants": "python", **options})


@pytest.mark.parametrize("kind", WRITTEN)
def test_what_the_user_wrote_is_the_first_variant(kind: str) -> None:
    make, expected = WRITTEN[kind]
    report = inspected(make())
    assert [variant.name for variant in report.variants] == [AS_WRITTEN, "python"]
    assert report.variants[0].requested == expected
    assert report.variants[0].compilations
    assert report.variants[1].requested == Variant()
    assert report.subject.written == AS_WRITTEN
    assert not report.variants[0].problems


def test_settings_that_a_variant_has_anyway_make_no_other() -> None:
    report = inspected(torch.compile(f), variants=None)
    assert [variant.name for variant in report.variants] == ["python", "cpp"]
    assert report.subject.written == "python"
    assert "defaults (as written)" in str(report)
    report = inspected(torch.compile(f, options={"cpp_wrapper": True}), variants=None)
    assert [variant.name for variant in report.variants] == ["cpp", "python"]
    assert report.subject.written == "cpp"
    report = inspected(torch.compile(f), variants={"mine": Variant(backend="eager")})
    assert ([variant.name for variant in report.variants], report.subject.written) == (["mine"], "")
    assert inspected(f).subject.written == ""


def test_unless_others_are_chosen_the_other_wrapper_stands_beside_it() -> None:
    report = inspected(torch.compile(f, dynamic=True), variants=None)
    written, other = report.variants
    assert (written.name, other.name) == (AS_WRITTEN, "cpp dynamic")
    assert other.requested == Variant(dynamic=True, cpp_wrapper=True)
    launches = [
        kernel.launches
        for variant in (written, other)
        for kernel in variant.compilations[0].kernels
    ]
    assert {launch.key for launch in launches[0]} == {launch.key for launch in launches[1]}
    report = inspected(torch.compile(f, backend="aot_eager"), variants=None)
    assert [variant.name for variant in report.variants] == [AS_WRITTEN, "python", "cpp"]


def guards(report: Report) -> dict[str, int]:
    return {
        variant.name: sum(
            guard.type == "TENSOR_MATCH"
            for compilation in variant.compilations
            for guard in compilation.guards
        )
        for variant in report.variants
        if variant.compilations
    }


@pytest.mark.parametrize("run", [False, True])
def test_a_filter_of_guards_is_used(run: bool) -> None:
    fn = torch.compile(f, backend="eager", options={"guard_filter_fn": no_tensors})
    report = inspected(fn, run=run, variants=cs.Variant(backend="eager"))
    assert guards(report) == {AS_WRITTEN: 0, "backend=eager": 1}
    variant = cs.Variant(backend="eager", options={"guard_filter_fn": no_tensors})
    report = inspected(f, run=run, variants=[cs.Variant(backend="eager"), variant])
    assert list(guards(report).values()) == [1, 0]
    # The user's own dict is not touched: torch takes what is its own out of it.
    assert "guard_filter_fn" in variant.options


def test_a_backend_of_ones_own_is_called_with_its_options() -> None:
    SEEN.clear()
    report = inspected(torch.compile(f, backend=mine, options={"level": 3}), run=True)
    assert SEEN == [{"options": {"level": 3}}]
    assert report.variants[0].stage == "built"
    SEEN.clear()
    report = inspected(f, run=True, variants=cs.Variant(backend=mine))  # type: ignore[arg-type]
    assert SEEN == [{}]
    assert report.variants[0].name == f"backend={__name__}.mine"


def test_a_report_keeps_functions_by_name(tmp_path: Path) -> None:
    fn = torch.compile(f, backend=mine, options={"guard_filter_fn": no_tensors})
    path = tmp_path / "report.compilescope.json"
    inspected(fn).save(path)
    loaded = cs.load(path)
    assert loaded.variants[0].requested == Variant(
        backend=MINE, options={"guard_filter_fn": FILTER}
    )
    assert f"backend={MINE}, guard_filter_fn={FILTER}" in str(loaded)
    name = f"{__name__}.no_tensors"
    assert code_of(loaded.variants[0].requested).endswith(f"options={{'guard_filter_fn': {name}}})")


def test_a_variant_of_a_report_can_be_asked_for_again() -> None:
    session = Session()
    report = session.inspect(f, (X,), run=False, variants="python")
    variant = Variant(backend="eager", options={"guard_filter_fn": no_tensors})
    session.add(report.subject.id, variant)
    stored = report.variants[1].requested
    assert stored.options == {"guard_filter_fn": FILTER}
    assert session.panel_jobs.sources(report.subject.id, stored) == (report.variants[1].name, None)
    by_name = "<function torch.compiler.keep_tensor_guards_unsafe>"
    session.add(report.subject.id, Variant(backend="eager", options={"guard_filter_fn": by_name}))
    assert len(report.variants) == 3
    with pytest.raises(cs.CompilescopeError, match=r"nobody\.has_it is not in this process"):
        names.parse(Variant(options={"guard_filter_fn": "<function nobody.has_it>"}))
    with pytest.raises(cs.CompilescopeError, match="takes a function, not int"):
        names.parse(Variant(options={"guard_filter_fn": 3}))


def test_functions_of_one_name_are_told_apart() -> None:
    def make(depth: int) -> Callable[..., Any]:
        return lambda entries: [depth > 1 for _ in entries]

    first, second = (references.refer(make(depth)) for depth in (1, 2))
    assert first != second
    assert references.resolve(second)([0]) == [True]
    assert references.resolve(first)([0]) == [False]

    def again() -> Callable[..., Any]:
        return lambda entries: [True for _ in entries]

    assert references.refer(again()) == references.refer(again())


def test_every_option_of_torch_compile_can_be_given() -> None:
    config: Any = torch._inductor.config
    values = {**config.get_config_copy(), "guard_filter_fn": no_tensors, "use_aoti": True}
    assert set(compile_variant.options()) <= set(values)
    for name in compile_variant.options():
        value = values[name]
        variant = names.checked(Variant(options={name: value}))
        if name == "cpp_wrapper":
            assert variant == Variant(cpp_wrapper=value)
        else:
            assert references.resolve(variant.options) == {name: value}


def test_functions_travel_with_a_call() -> None:
    text = references.refer(lambda entries: [False for _ in entries])
    packed = pickled_subject.pack(f, ((X,), {}))
    references.forget()
    with pytest.raises(cs.CompilescopeError, match="not in this process"):
        references.resolve(text)
    pickled_subject.unpack(packed)
    assert references.resolve(text)([0]) == [False]


def test_what_the_cell_compiled_stands_beside_what_is_written() -> None:
    session = Session()
    fn = torch.compile(f, backend="eager", dynamic=False)
    with watching() as watched:
        fn(X)
    torch._dynamo.reset()
    report = session.inspect(fn, (X,), run=False, variants="python", watched=watched)
    assert [variant.name for variant in report.variants] == [IN_CELL, AS_WRITTEN, "python"]
    assert session.panel_jobs.run(report.subject.id).variants == [AS_WRITTEN, "python"]


def test_a_variant_cannot_take_the_name() -> None:
    with pytest.raises(cs.CompilescopeError, match="cannot be called 'as written'"):
        names.parse({AS_WRITTEN: Variant()})


def aot_compiled(fn: Callable[..., Any], args: tuple[Any, ...], **settings: Any) -> Any:
    with torch._dynamo.config.patch(enable_aot_compile=True):
        compiled: Any = torch.compile(fn, fullgraph=True, **settings)
        return compiled.aot_compile((args, {}))


def test_a_result_of_aot_compile_is_opened_and_measured() -> None:
    report = inspected(aot_compiled(f, (X,)), run=True, variants=None)
    assert [variant.name for variant in report.variants] == [AS_WRITTEN, "python", "cpp", "eager"]
    assert (report.subject.name, report.subject.written) == ("f", AS_WRITTEN)
    written, python = report.variants[:2]
    assert written.requested == Variant(backend="aot_compile(inductor)", fullgraph=True)
    (opened,), (compiled,) = written.compilations, python.compilations
    assert opened.frame is not None
    assert compiled.frame is not None
    assert (opened.frame.file, opened.frame.line) == (compiled.frame.file, compiled.frame.line)
    assert opened.graphs.keys() == {"inference", "post_grad"}
    assert opened.graphs["post_grad"].text == compiled.graphs["post_grad"].text
    assert [kernel.name for kernel in opened.kernels] == [
        kernel.name for kernel in compiled.kernels
    ]
    assert opened.kernels[0].source == compiled.kernels[0].source
    assert any(guard.type == "TENSOR_MATCH" for guard in opened.guards)
    assert python.changes is not None
    assert "the only kernel is identical" in python.changes.summary
    assert written.timing is not None
    assert written.timing.baseline == "eager"
    assert [error.ok for error in written.accuracy] == [True]
    # What it does not hold is named, and nothing is made up for it.
    assert "does not contain" in opened.absent["dynamo"]
    assert written.compile_time is None
    assert "before" in written.absent["compile_time"]
    assert any("are not known" in problem.what for problem in report.problems)


def test_a_result_of_aot_compile_for_training_has_both_graphs() -> None:
    x = X.clone().requires_grad_()
    fn = aot_compiled(f, (x,), options={"cpp_wrapper": True})
    report = Session().inspect(fn, (x,), run=False, variants="cpp")
    written, cpp = report.variants
    assert written.requested.cpp_wrapper
    opened, compiled = written.compilations[0], cpp.compilations[0]
    assert opened.graphs.keys() >= {"joint", "forward", "backward"}
    assert opened.code.backward is not None
    assert compiled.code.backward is not None
    assert opened.code.cpp is not None
    assert opened.code.backward.cpp is not None
    names = [kernel.name for kernel in opened.kernels], [kernel.name for kernel in compiled.kernels]
    assert names[0] == names[1] != []


def test_a_module_that_aot_compile_compiled_for_several_inputs_has_a_compilation_of_each() -> None:
    from torch._dynamo.aot_compile import ModelInput

    module = Net()
    inputs = [ModelInput((torch.randn(size),), {}, []) for size in (4, 6)]
    with torch._dynamo.config.patch(enable_aot_compile=True):
        compiled: Any = torch.compile(module, backend="eager", fullgraph=True)
        compiled._aot_compile(inputs)
    report = inspected(compiled, run=True)
    written = report.variants[0]
    assert report.subject.kind == "module"
    assert [compilation.id for compilation in written.compilations] == ["0/0", "0/1"]
    assert [list(compilation.graphs) for compilation in written.compilations] == [
        ["dynamo"],
        ["dynamo"],
    ]
    assert "generates no wrapper" in written.compilations[0].absent["code"]
    assert written.timing is not None
    eager = cs.Variant(backend="eager")
    refused = Session().inspect(compiled, (torch.randn(4, 4),), variants=eager).variants[0]
    assert refused.stage == "failed"
    assert refused.problems[0].what == "The result of aot_compile rejects this call."
    assert "rank mismatch" in refused.problems[0].why


def test_what_a_loaded_result_of_aot_compile_lacks_is_named(tmp_path: Path) -> None:
    path = tmp_path / "function"
    aot_compiled(uses_a_global, (X,), backend="eager").save_compiled_function(str(path))
    with path.open("rb") as file:
        bare = torch.compiler.load_compiled_function(file)
    report = inspected(bare, run=True)
    assert [variant.name for variant in report.variants] == [AS_WRITTEN]
    assert report.variants[0].compilations[0].graphs
    assert report.variants[0].timing is None
    problem = report.problems[-1]
    assert "needs f, which is not" in problem.why
    assert "f_globals" in problem.remedy
    with path.open("rb") as file:
        whole = torch.compiler.load_compiled_function(file, f_globals=globals())
    written, python = inspected(whole, run=True).variants[:2]
    assert (written.stage, python.stage) == ("built", "built")
    assert written.timing is not None


def uses_a_global(x: torch.Tensor) -> torch.Tensor:
    return f(x)
