"""Ahead of time: a subject's package made in a process of its own, and packages opened."""

from __future__ import annotations

import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.analysis.packages import archive as packages
from compilescope.analysis.packages.archive import describe, read_packages
from compilescope.builds.comparison.compare_with_eager import Reference
from compilescope.comms import report_parts, report_without_texts
from compilescope.isolation.global_state import SavedModes
from compilescope.isolation.user_state import preserved
from compilescope.processes.runner import Ended
from compilescope.progress.progress import Monitor
from compilescope.report import Package, Report, VariantReport
from compilescope.report.saving.storage import from_json
from compilescope.studies.ahead_of_time import make_package, process
from compilescope.studies.run import study_target
from compilescope.studies.table import STUDIES
from compilescope.subject.pickled_subject import Call
from compilescope.targets.call_packer import CallPacker
from torch import nn

from ..isolation.test_isolation import compiled_frames

pytestmark = pytest.mark.slow

AOT = "aot"
VARIANTS = {
    "dynamic": cs.Variant(cpp_wrapper=True, dynamic=True),
    "built": cs.Variant(
        cpp_wrapper=True,
        options={
            "aot_inductor.precompile_headers": False,
            "aot_inductor.compile_wrapper_opt_level": "O0",
        },
    ),
    "plain": cs.Variant(backend="aot_eager"),
}
MODEL = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8)).eval()


def scored(x: torch.Tensor, *, scale: float) -> dict[str, torch.Tensor]:
    return {"score": MODEL(x) * scale, "wave": x.sin()}


def branching(x: torch.Tensor) -> torch.Tensor:
    return x + 1 if x.sum() > 0 else x - 1


@pytest.fixture(scope="module")
def report() -> Report:
    """A call, inspected without a build; its sources ahead of time under one variant."""
    x = torch.randn(4, 16)
    report = cs.inspect(scored, (x,), {"scale": 3.0}, variants=VARIANTS, run=False)
    before = MODEL[0].weight.clone()
    with compiled_frames() as frames:
        cs.study(report, "package", variants=["dynamic", "plain"])
    assert frames == [], "it is made elsewhere"
    assert torch.equal(MODEL[0].weight, before)
    return report


@pytest.fixture(scope="module")
def dynamic(report: Report) -> VariantReport:
    return report.variant("dynamic")


def test_sources_without_a_build(dynamic: VariantReport) -> None:
    package = dynamic.package
    assert package is not None
    assert (dynamic.stage, dynamic.studied, dynamic.problems) == ("sources", ["package"], [])
    assert (package.problem, package.built, package.device, package.accurate) == (
        None,
        False,
        "cpu",
        None,
    )
    assert {file.kind for file in package.files} >= {"source", "metadata", "build", "constants"}
    assert not any(file.kind == "library" for file in package.files)
    assert {"export", "code generation", "packaging"} <= package.parts.keys()
    assert package.metadata["AOTI_DEVICE_KEY"] == "cpu"
    assert any("-O" in command for command in package.build)
    assert "gradient" in package.absent["backward"]


def test_sizes_that_may_change_and_constants(dynamic: VariantReport) -> None:
    package = dynamic.package
    assert package is not None
    (symbol,) = (item.split()[0] for item in package.dynamic)
    assert package.dynamic == [f"{symbol} at least 2"]
    assert package.inputs == [
        f"x: float32[{symbol}, 16] cpu",
        "scale: 3.0, a constant from now on",
    ]
    assert [output.partition(": ")[2] for output in package.outputs] == [
        f"float32[{symbol}, 8] cpu",
        f"float32[{symbol}, 16] cpu",
    ]
    weights = {constant.original: constant for constant in package.constants}
    first = next(item for name, item in weights.items() if name.endswith("0.weight"))
    assert (first.dtype, first.shape, first.bytes) == ("float32", [32, 16], 2048)
    (number,) = package.metadata["as numbers in the code"].split(", ")
    assert number.endswith("2.bias")
    assert number not in weights


def test_its_code_stands_beside_the_wrapper(report: Report, dynamic: VariantReport) -> None:
    (compilation,) = dynamic.compilations
    code = compilation.code
    assert code.aot is not None
    assert "AOTInductorModel::run_impl(" in code.aot
    assert report.compilation(compilation.id).code.aot == code.aot
    regions = code.regions[AOT]
    (entry,) = (region for region in regions if region.kind == "entry")
    assert "run_impl" in code.aot.split("\n")[entry.start - 1]
    ahead = [region for region in regions if region.kind == "launch"]
    here = [region for region in code.regions["cpp"] if region.kind == "launch"]
    alike = {item.key for item in ahead} & {item.key for item in here}
    assert len(alike) >= 3
    sourced = {item.key: item.sources for item in here if item.sources}
    assert all(item.sources == sourced[item.key] for item in ahead if item.key in sourced)


def test_another_backend_has_none(report: Report) -> None:
    plain = report.variant("plain")
    assert plain.package is None
    assert "'aot_eager'" in plain.absent["package"]


def test_texts_are_fetched_apart(report: Report, dynamic: VariantReport) -> None:
    package = dynamic.package
    assert package is not None
    outline = report_parts.variant(report, "dynamic").package
    assert outline is not None
    texts = {file.path: file.text for file in package.files}
    assert {file.path: file.text for file in outline.files} == {
        path: None if text is None else "" for path, text in texts.items()
    }
    path = next(path for path in texts if path.endswith("CMakeLists.txt"))
    artifact = report_without_texts.artifact(report, "dynamic", "", f"package:{path}")
    assert (artifact.text, artifact.artifact.language) == (texts[path], "cmake")
    whole = report_without_texts.artifact(report, "dynamic", "0/0", AOT)
    assert whole.artifact.label == "AOTInductor C++"
    source = next(file.path for file in package.files if file.kind == "source")
    with pytest.raises(cs.CompilescopeError, match="has no text") as refused:
        report_without_texts.artifact(report, "dynamic", "", f"package:{source}")
    assert "next to the wrappers" in refused.value.problem.why


def test_a_report_shows_it(report: Report) -> None:
    text = str(report)
    assert "dynamic: ahead of time" in text
    assert "at least 2" in text
    assert "Ahead of time" in report._repr_html_() or "ahead of time" in report._repr_html_()
    again = from_json(report.to_json())
    assert again.variant("dynamic").package == report.variant("dynamic").package


def test_what_cannot_be_exported_says_why() -> None:
    x = torch.randn(4)
    report = cs.inspect(branching, (x,), variants={"cpp": cs.Variant(cpp_wrapper=True)}, run=False)
    cs.study(report, "package")
    (variant,) = report.variants
    package = variant.package
    assert package is not None
    assert package.problem is not None
    assert package.problem.what == "torch.export refuses the subject."
    assert "data-dependent" in package.problem.why
    assert package.problem.where is not None
    assert package.problem.where.function == "branching"
    assert (package.files, variant.compilations[0].code.aot) == ([], None)


def test_built_it_is_checked_and_timed(report: Report) -> None:
    cs.study(report, "aot", variants="built")
    variant = report.variant("built")
    package = variant.package
    assert package is not None
    assert (package.problem, variant.problems) == (None, [])
    assert (package.built, package.accurate) == (True, True)
    assert (package.state, package.results) == ("Library, ready to load", "same results as eager")
    assert any(file.kind == "library" for file in package.files)
    assert package.parts["C++ build"] > 0
    names = [entry.name for entry in package.entries]
    assert names[0] == "eager"
    assert [name.partition(":")[0] for name in names[1:]] == [
        "in process",
        "standalone",
        "standalone",
    ]
    for entry in package.entries:
        assert entry.why == ""
        assert entry.timing is not None
        assert entry.timing.median_us > 0
        assert (entry.timing.ratio is None) == (entry.name == "eager")
    assert variant.stage == "sources", "the variant itself was not built for it"


class ChangesInPlace(nn.Module):
    """Changes a buffer, statistics and its argument."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.calls.add_(1)
        x.mul_(2)
        return self.norm(x), self.calls + 1


def test_a_package_whose_call_changes_something_in_place_agrees_with_eager() -> None:
    x = torch.randn(3, 4)
    before = x.clone()
    report = cs.inspect(ChangesInPlace(), (x,), variants={"built": VARIANTS["built"]}, run=False)
    cs.study(report, "aot")
    package = report.variants[0].package
    assert package is not None
    assert (package.problem, package.accurate) == (None, True)
    assert package.absent["changes"] == process.CHANGES
    assert len(package.entries) == 4
    assert torch.equal(x, before)


def test_a_package_that_does_not_change_its_argument_differs() -> None:
    call = Call(ChangesInPlace(), (torch.randn(3, 4),), {})
    with preserved(*call) as snapshot:
        reference = Reference(*call, snapshot, backward=False)
        right = reference.outcome
        in_package = {path: right.changes[path] for path in right.changes if path == "args[0]"}
        for changes, agrees in ((in_package, True), ({}, False)):
            outcome = msgspec.structs.replace(right, changes=changes)
            outcome = process._with_own(outcome, reference, ["args[0]"])
            assert reference.agrees(outcome) is agrees


class _Trap:
    """Unpickled, it leaves a trace."""

    def __reduce__(self) -> Any:
        return os.putenv, ("COMPILESCOPE_TRAP", "1")


@pytest.fixture
def written(dynamic: VariantReport, tmp_path: Path) -> Path:
    """A package of two models, with what must not be unpickled."""
    package = dynamic.package
    assert package is not None
    code = dynamic.compilations[0].code.aot
    assert code is not None
    path = tmp_path / "two.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        for model in ("first", "second"):
            folder = f"two/data/aotinductor/{model}"
            archive.writestr(f"{folder}/abc.wrapper.cpp", code)
            archive.writestr(f"{folder}/abc.wrapper_metadata.json", '{"AOTI_DEVICE_KEY": "cpu"}')
            archive.writestr(f"{folder}/abc.wrapper.so", b"\x7fELF")
        archive.writestr("two/archive_format", "pt2")
        archive.writestr("two/data/sample_inputs/model.pt", pickle.dumps(_Trap()))
        archive.writestr("two/data/weights/weight_0", b"\0" * 64)
    return path


def test_what_was_made_is_kept_where_running_it_ends_the_process(tmp_path: Path) -> None:
    ended = Ended(how="crashed", exit_code=-11, errors="Fatal Python error")
    result = tmp_path / "made.json"
    missing = make_package._package(ended, result)
    assert missing.problem is not None
    assert missing.problem.what == "The package was not made."
    result.write_bytes(msgspec.json.encode(Package(device="cuda", built=True)))
    outcome = make_package._package(ended, result)
    assert (outcome.device, outcome.built) == ("cuda", True)
    assert outcome.problem is not None
    assert "SIGSEGV" in outcome.problem.why


def test_a_package_is_opened_and_not_run(written: Path, dynamic: VariantReport) -> None:
    report = cs.open_package(written)
    assert (report.subject.kind, report.subject.name) == ("package", "two.pt2")
    assert [variant.name for variant in report.variants] == ["first", "second"]
    assert "COMPILESCOPE_TRAP" not in os.environ
    first = report.variants[0]
    package = first.package
    assert package is not None
    assert dynamic.package is not None
    assert (package.built, first.stage) == (True, "built")
    assert "first: ahead of time, library, ready to load, " in str(report)
    assert package.constants == dynamic.package.constants
    (symbol,) = (item.split()[0] for item in package.dynamic)
    assert package.inputs[0].endswith(f"float32[{symbol}, 16]")
    assert package.metadata == {"AOTI_DEVICE_KEY": "cpu", "archive_format": "pt2"}
    kinds = {file.path: file.kind for file in package.files}
    assert kinds["data/sample_inputs/model.pt"] == "other"
    assert kinds["data/weights/weight_0"] == "constants"
    (compilation,) = first.compilations
    kernels = [kernel for kernel in compilation.kernels if kernel.language == "cpp"]
    assert kernels
    assert all(kernel.source and kernel.launches[0].artifact == AOT for kernel in kernels)
    assert "two.pt2" in str(report)
    summary = report_without_texts.report(report, 1)
    names = [artifact.name for artifact in summary.variants[0].compilations[0].artifacts]
    assert names[0] == AOT


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "There is no package"),
        (b"no zip", "is not a package"),
        (b"", "is not a package"),
    ],
)
def test_what_is_no_package_is_refused(tmp_path: Path, content: bytes | None, what: str) -> None:
    path = tmp_path / "model.pt2"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(cs.CompilescopeError, match=what) as refused:
        cs.open_package(path)
    assert refused.value.problem.remedy


def test_a_damaged_package_is_refused(written: Path) -> None:
    content = bytearray(written.read_bytes())
    content[200] ^= 0xFF  # in the first text
    written.write_bytes(content)
    with pytest.raises(cs.CompilescopeError, match="damaged"):
        cs.open_package(written)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_whatever_byte_is_wrong_a_package_is_read_or_refused(tmp_path: Path, method: int) -> None:
    path = tmp_path / "model.pt2"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("model/data/aotinductor/model/größe.wrapper.cpp", "int x;\n" * 9)
        archive.writestr("model/archive_format", "pt2")
    whole = path.read_bytes()
    remedies = []
    for place in range(0, len(whole), 2):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            read_packages(path)
        except cs.CompilescopeError as error:
            remedies.append(error.problem.remedy)
    assert len(remedies) > len(whole) / 8
    assert all(remedies)


def test_a_package_without_compiled_code_says_so(tmp_path: Path) -> None:
    path = tmp_path / "exported.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("exported/models/model.json", "{}")
        archive.writestr("exported/archive_format", "pt2")
    (variant,) = cs.open_package(path).variants
    assert variant.package is not None
    assert "It has no compiled model" in variant.package.absent["code"]
    assert [file.language for file in variant.package.files] == ["json", "text"]


def test_long_texts_are_left_out(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "TEXT_BYTES", 1000)
    first, _ = read_packages(written)
    source = next(file for file in first.files if file.kind == "source")
    assert source.text is None
    assert "1,000" in first.absent[source.path]
    assert "no C++" in first.absent["code"]
    monkeypatch.setattr(packages, "MAX_FILES", 2)
    first, *_ = read_packages(written)
    assert "9 files" in first.absent["files"]


def test_files_are_told_apart_by_their_names() -> None:
    folder = "data/aotinductor/model"
    assert {
        name: (describe(f"{folder}/{name}", 1).kind, describe(f"{folder}/{name}", 1).language)
        for name in ("a.kernel.cpp", "a.cubin", "a.weights.o", "a.wrapper_compile_flags.json", "x")
    } == {
        "a.kernel.cpp": ("source", "cpp"),
        "a.cubin": ("kernel", ""),
        "a.weights.o": ("constants", ""),
        "a.wrapper_compile_flags.json": ("build", "json"),
        "x": ("other", ""),
    }


def test_for_a_gpu_that_is_not_here_there_is_none() -> None:
    variant = VariantReport(name="h100", requested=cs.Variant(target="h100"))
    call_packer = CallPacker(scored, (), {}, SavedModes().now())
    for name in ("package", "aot"):
        with pytest.raises(cs.CompilescopeError, match="No package is made") as refused:
            study_target(STUDIES[name], variant, call_packer, Monitor())
        assert "open_package" in refused.value.problem.remedy
