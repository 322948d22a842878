"""Ways to deploy a call: their code, and a real study."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report import Compilation, Guard, VariantReport
from compilescope.report.measurements.deployment import (
    DeployWay,
    with_imports,
)
from compilescope.report.measurements.recommendation import paste_code
from compilescope.report.references import refer
from compilescope.studies.deploy import candidates, deploy, ways
from compilescope.studies.deploy.way_process import why_no_result
from compilescope.subject.pickled_subject import Call
from compilescope.torch_api.dynamo.module_code import ModuleCode
from compilescope.torch_api.failures import failures
from compilescope.torch_api.inductor.dynamic_shapes import (
    dynamic_shapes,
    dynamic_shapes_code,
    has_nested_tensors,
)
from torch import nn
from torch._dynamo.exc import PackageError, TensorifyScalarRestartAnalysis

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
    has_numbers: bool = False,
    has_nested_tensors: bool = False,
    contexts: Sequence[str] = (),
) -> dict[str, DeployWay]:
    subject = ways.Subject(
        is_module=True,
        device=device,
        blocks=blocks,
        modes=MODES,
        features=FEATURES,
        names_repeated=names_repeated,
        blocks_are_torchs=blocks_are_torchs,
        has_numbers=has_numbers,
        has_nested_tensors=has_nested_tensors,
        contexts=contexts,
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
        exec(with_imports(way.code), names)
        torch.testing.assert_close(names["compiled"](x), expected)


def test_every_code_contains_the_modes_in_which_it_was_measured() -> None:
    variant = VariantReport(name="python", requested=cs.Variant())
    call = Call(Blocks(), (torch.ones(2, 8),), {})
    with torch.no_grad(), torch.autocast("cpu", cache_enabled=False):
        known = candidates.candidates(*call, variant)
    block = (
        'with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):'
    )
    for way in known:
        if way.why:
            continue
        for parts in (1, 2) if way.ship_code else (1,):
            way.shipped_s = 1.0 if parts == 2 else None
            code = paste_code(way)
            ast.parse(code)
            assert code.count(block) == parts
    assert {way.name: way for way in known}[ways.AOTI].code.startswith("program = torch.export")
    with torch.inference_mode():
        (way, *_) = candidates.candidates(*call, variant)
    assert "with torch.inference_mode():  # calls of compiled, too" in paste_code(way)
    (way, *_) = candidates.candidates(*call, variant)
    assert way.contexts == []


@pytest.mark.usefixtures("precision")
def test_every_code_to_paste_sets_the_settings_of_the_study() -> None:
    variant = VariantReport(name="python", requested=cs.Variant())
    torch.set_float32_matmul_precision("high")
    torch.use_deterministic_algorithms(True)
    try:
        known = candidates.candidates(Blocks(), (torch.ones(2, 8),), {}, variant)
    finally:
        torch.use_deterministic_algorithms(False)
    setting = (
        "import torch\n\ntorch.use_deterministic_algorithms(True)\n"
        'torch.set_float32_matmul_precision("high")\n'
    )
    for way in known:
        way.shipped_s = 1.0 if way.ship_code else None
        assert paste_code(way).count(setting) == (2 if way.ship_code else 1)


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_dynamo", "one_thread")
def test_a_file_that_the_pasted_code_saves_serves_in_the_modes_of_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    way = all_ways(contexts=["torch.no_grad()"])[ways.AOT]
    way.shipped_s = 1.0
    model, args = Blocks(), (torch.randn(3, 8),)
    writing, serving = paste_code(way).split("# In each process that serves:")
    exec(writing, {"model": model, "args": args, "kwargs": {}})
    names: dict[str, Any] = {"model": model}
    exec(serving, names)
    with torch.no_grad():
        torch.testing.assert_close(names["compiled"](*args), model(*args))


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_dynamo", "one_thread")
@pytest.mark.parametrize("name", [ways.AOT, ways.AOTI])
def test_a_variant_with_dynamic_sizes_is_deployed_with_them(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AOTI_RUNTIME_CHECK_INPUTS", "0")
    way = all_ways(cs.Variant(dynamic=True))[name]
    model = nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.1)).eval()
    names: dict[str, Any] = {"model": model, "args": (torch.randn(3, 8),), "kwargs": {}}
    with torch.no_grad():
        exec(with_imports(way.code), names)
        for size in (3, 5):
            x = torch.randn(size, 8)
            torch.testing.assert_close(names["compiled"](x), model(x))


@pytest.mark.parametrize("nested", [False, True])
def test_dynamic_sizes_are_those_of_every_tensor(nested: bool) -> None:
    x, y = torch.randn(3, 8), torch.randn(2)
    args: Any = ([x, 1],) if nested else (x, 1)
    assert has_nested_tensors(args, {"y": y}) == nested
    way = all_ways(cs.Variant(dynamic=True), has_nested_tensors=nested)[ways.AOTI]
    assert dynamic_shapes_code(nested=nested) in way.code
    assert ("_pytree" in way.code) == nested
    shapes = dynamic_shapes(args, {"y": y})
    assert [len(shapes[tensor]) for tensor in (x, y)] == [2, 1]


def test_only_floats_of_the_model_are_made_constant_for_aot_compile() -> None:
    dynamic = cs.Variant(dynamic=True)
    assert "specialize_float=True" in all_ways(dynamic)[ways.AOT].code
    assert "specialize_float" not in all_ways(dynamic, has_numbers=True)[ways.AOT].code
    assert "specialize_float" not in all_ways()[ways.AOT].code


def test_a_request_to_start_again_names_the_setting_that_avoids_it() -> None:
    problem = failures.of_way(TensorifyScalarRestartAnalysis())
    assert "specialize_float = True" in problem.remedy
    assert "internal error" not in problem.why


def test_only_a_model_that_names_its_blocks_compiles_them_by_itself() -> None:
    assert ways.REPEATED not in all_ways(names_repeated=False)
    assert candidates.names_repeated_blocks(NamedBlocks())
    assert not candidates.names_repeated_blocks(Blocks())
    unnamed = NamedBlocks()
    unnamed._repeated_blocks = ()
    assert not candidates.names_repeated_blocks(unnamed)
    code = all_ways(cs.Variant(dynamic=True, fullgraph=True))[ways.REPEATED].code
    assert "model.compile_repeated_blocks(" in code
    assert "dynamic=True" in code
    assert "fullgraph=True" in code


def test_every_code_is_python_and_what_is_not_taken_says_why() -> None:
    data = all_ways(blocks="")
    for way in data.values():
        for code in (way.code, way.ship_code, way.load_code):
            ast.parse(with_imports(code))
    assert "GPU" in data["reduce-overhead"].why
    assert "list of at least four modules" in data[ways.BLOCKS].why
    variant = VariantReport(name="python", requested=cs.Variant())
    of_function = candidates.candidates(torch.sin, (torch.ones(2),), {}, variant)
    (why,) = {way.why for way in of_function if way.name in (deploy.BLOCKS, deploy.NESTED)}
    assert why == "A function has no list of modules: this way is for a model with one."
    assert "C++ wrapper" in data
    assert "'cpp_wrapper': True" in data["C++ wrapper"].code
    assert all_ways(device="cuda:0")["reduce-overhead"].why == ""
    assert "Python wrapper" in all_ways(cs.Variant(cpp_wrapper=True))


def test_blocks_are_found_in_the_model() -> None:
    assert candidates.blocks_of(Blocks()) == ("model.blocks", False)
    linears = nn.Sequential(*[nn.Linear(2, 2) for _ in range(4)])
    assert candidates.blocks_of(linears) == ("model", True)
    assert candidates.blocks_of(nn.Sequential(nn.Linear(2, 2), nn.ReLU())) == ("", False)


@pytest.mark.usefixtures("fresh_dynamo", "one_thread")
def test_blocks_of_torchs_own_classes_are_compiled_once_and_taken_out_for_eager() -> None:
    blocks = (nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8)) for _ in range(4))
    model = nn.Sequential(*blocks).requires_grad_(False)
    module_code = ModuleCode(model)
    way = all_ways(cs.Variant(backend="eager"), blocks="model", blocks_are_torchs=True)[ways.BLOCKS]
    with cs.budget(compilations=1, graph_breaks=0, recompiles=0):
        exec(with_imports(way.code), {"model": model})
        module_code.note_compiled()
        assert module_code.differs
        expected = model(torch.ones(2, 8))
    with module_code.original():
        assert "forward" not in vars(model[0])
        torch.testing.assert_close(model(torch.ones(2, 8)), expected)
    assert "forward" in vars(model[0])


def scaled(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x) * 2


@pytest.mark.slow
def test_a_way_is_measured_with_and_without_what_it_ships() -> None:
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
        options={"ways": (ways.WHOLE, ways.AOTI)},
    )
    assert seen == [0, 1, 2], "who watches sees each way as soon as it is measured"
    way, not_taken = variant.ways
    assert way.problem is None
    assert way.accurate is True
    assert way.shipped_accurate is True
    assert way.ships == ["caches.bin"]
    assert way.ship_bytes is not None
    assert way.ship_bytes > 0
    assert way.speedup is not None
    assert way.relative == 1 / way.speedup.ratio
    for figure in (way.cold_s, way.cached_s, way.shipped_s, way.call_us, way.eager_us, way.took_s):
        assert figure is not None
        assert figure > 0
    assert way.memory_bytes is not None
    assert not_taken.cold_s is None
    assert "requires a module" in not_taken.why


def _refuses(graph: object, inputs: object) -> None:
    raise AssertionError("eager compiles nothing")


@torch.compile(backend=_refuses)
def refused(x: torch.Tensor) -> torch.Tensor:
    return x.sin()


def calls_compiled(x: torch.Tensor) -> torch.Tensor:
    return refused(x) + 1


@pytest.mark.slow
def test_eager_compiles_no_function_inside_the_call() -> None:
    variant = VariantReport(name="python", requested=cs.Variant())
    selected = {"ways": (ways.EAGER,)}
    study("deploy", calls_compiled, (torch.randn(64),), variant, options=selected)
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
    with pytest.raises(cs.CompilescopeError, match="require the backend 'inductor', not 'eager'"):
        study(name, torch.sin, (torch.ones(2),), report)


def test_a_guard_that_cannot_be_saved_is_no_internal_error() -> None:
    problem = failures.of_way(PackageError("ID_MATCH guard cannot be serialized."))
    assert problem.what == "aot_compile cannot save a guard of type ID_MATCH."
    assert "Choose another way" in problem.remedy


@pytest.mark.parametrize(
    ("size", "factor", "mode", "guard"),
    [
        (4, 2, "", "tensor 'x' size mismatch at index 0. expected 3, actual 4"),
        (3, 5, "", "factor == 2"),
        (3, 2, "cpu", "the global state changed: autocast(cpu)_enabled"),
    ],
)
def test_the_guard_that_fails_in_saved_code_is_named(
    size: int, factor: int, mode: str, guard: str
) -> None:
    compiled: Any = torch.compile(multiplied, backend="eager", fullgraph=True)
    saved = compiled.aot_compile(((torch.ones(3), 2), {}))
    with (
        torch.autocast(mode or "cpu", enabled=bool(mode)),
        pytest.raises(RuntimeError, match="GuardManager") as raised,
    ):
        saved(torch.ones(size), factor)
    problem = failures.of_way(raised.value)
    assert problem.what == f"A guard of the code from aot_compile fails: {guard}."
    assert "GuardDebugInfo" in problem.detail


def multiplied(x: torch.Tensor, factor: int) -> torch.Tensor:
    return x * factor


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


def test_what_silently_depends_on_a_number_is_not_safe() -> None:
    of_tensors, of_numbers = all_ways()[ways.AOTI], all_ways(has_numbers=True)[ways.AOTI]
    assert of_tensors.safe
    assert not of_numbers.safe
    assert "wrong results, without an error" in of_numbers.restrictions[-1]
    assert "another number" in all_ways(has_numbers=True)[ways.NESTED].restrictions[-1]


class Scaled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) * 2


def keep_tensors(entries: Any) -> list[bool]:
    return [entry.guard_type == "TENSOR_MATCH" for entry in entries]


@pytest.mark.slow
def test_what_a_notebook_defines_is_known_in_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    # As in a notebook: pickled by value.
    monkeypatch.setattr(Scaled, "__module__", "__main__")
    monkeypatch.setattr(keep_tensors, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "Scaled", Scaled, raising=False)
    monkeypatch.setattr(sys.modules["__main__"], "keep_tensors", keep_tensors, raising=False)
    options = {"cpp_cache_precompile_headers": False, "guard_filter_fn": refer(keep_tensors)}
    variant = VariantReport(name="python", requested=cs.Variant(options=options))
    study("deploy", Scaled(), (torch.randn(64),), variant, options={"ways": (ways.AOT,)})
    (way,) = variant.ways
    assert way.problem is None
    assert "keep_tensors" in way.code
    assert (way.accurate, way.shipped_accurate) == (True, True)


@pytest.mark.slow
def test_a_package_refuses_other_shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own, where its first call reads the environment."""
    way = all_ways()[ways.AOTI]
    program = f"""{with_imports(way.code)}
try:
    compiled(torch.ones(2, 4))
except RuntimeError as error:
    print(error)
torch.testing.assert_close(compiled(*args), model(*args))
"""
    setting = "torch._inductor.config.cpp_cache_precompile_headers = False"
    call = "model, args, kwargs = torch.nn.Tanh(), (torch.ones(3, 4),), {}"
    start = f"import torch\n{setting}\n{call}\n"
    (tmp_path / "program.py").write_text(start + program)
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "expected: 3, but got: 2" in done.stdout + done.stderr
