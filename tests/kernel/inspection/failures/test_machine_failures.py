"""No compiler, no cache folder, no space on the disk: each is a problem with its remedy."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch._inductor.config
from compilescope.builds import warm_rebuild
from compilescope.builds.live_measurement import Measurement
from compilescope.isolation.code_swap import CodeCopies, CodeSet
from compilescope.report.errors import CompilescopeError
from compilescope.report.variant import Variant
from compilescope.session import requests
from compilescope.session.session import Session
from compilescope.torch_api.failures import failures
from torch._inductor import cpp_builder
from torch._inductor import exc as inductor

from ... import subjects
from ...subjects import Call
from .failing import inspect, the_problem

pytestmark = pytest.mark.slow

X = torch.randn(4, 8)


def test_no_compiler() -> None:
    cpp_builder.cpp_compiler_search.cache_clear()
    try:
        with torch._inductor.config.patch({"cpp.cxx": (None, "/nonexistent/g++")}):
            report = inspect(Call(subjects.plain, (X,)))
    finally:
        cpp_builder.cpp_compiler_search.cache_clear()
    problem = the_problem(report)
    assert problem.what == "No working C++ compiler was found."
    assert "apt-get install g++" in problem.remedy
    assert report.environment.compiler == ""


def test_a_study_of_what_cannot_be_built_is_an_error_and_adds_no_variant() -> None:
    session = Session()
    cpp_builder.cpp_compiler_search.cache_clear()
    try:
        with torch._inductor.config.patch({"cpp.cxx": (None, "/nonexistent/g++")}):
            report = session.inspect(subjects.plain, (X,), variants="python")
            with pytest.raises(
                CompilescopeError,
                match=r"Nothing was studied: python could not be built\. No working C\+\+ compiler",
            ):
                requests.study(session, report, ["deploy"], options={"ways": ["eager"]})
    finally:
        cpp_builder.cpp_compiler_search.cache_clear()
    assert [variant.name for variant in report.variants] == ["python"]


def test_a_full_disk_when_a_variant_is_compiled_again_leaves_the_builds_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def call(x: torch.Tensor) -> torch.Tensor:
        return x.sin()

    again, measured = [], []
    measure = Measurement.measure

    def rebuild(*args: Any, code_copies: CodeCopies, code_set: CodeSet, **options: Any) -> None:
        code_copies.install(code_set)
        again.extend(code_set)
        raise OSError(errno.ENOSPC, "full")

    def measuring(*args: Any, **options: Any) -> None:
        measured.append(call.__code__)
        measure(*args, **options)

    monkeypatch.setattr(warm_rebuild, "rebuild", rebuild)
    monkeypatch.setattr(Measurement, "measure", measuring)
    session = Session()
    report = session.inspect(call, (X,), variants={"python": Variant()}, run=False)
    session.measure(report.subject.id, {"python": Variant()}, seconds=0.1)
    assert len(again) == len(measured) == 1
    assert measured[0] is not again[0]


class TestCacheFolder:
    """Of the folder that torch keeps its builds in."""

    @pytest.mark.parametrize("run", [False, True])
    def test_a_file_in_its_way(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: bool
    ) -> None:
        file = tmp_path / "cache"
        file.write_text("not a folder")
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(file))
        problem = the_problem(inspect(Call(subjects.plain, (X,)), run=run))
        assert problem.what == f"{file} cannot be made: a file is in its way."
        assert "TORCHINDUCTOR_CACHE_DIR" in problem.remedy

    @pytest.mark.parametrize(
        ("number", "expected"),
        [
            (errno.ENOSPC, "is full"),
            (errno.EROFS, "is on a read-only file system"),
            (errno.EACCES, "may not be written to"),
        ],
    )
    def test_full_or_read_only(
        self, monkeypatch: pytest.MonkeyPatch, number: int, expected: str
    ) -> None:
        def refuse(*_: Any, **options: Any) -> str:
            raise OSError(number, os.strerror(number), "/cache")

        monkeypatch.setattr(tempfile, "mkdtemp", refuse)
        problem = the_problem(inspect(Call(subjects.plain, (X,))))
        assert "/cache" in problem.what
        assert expected in problem.what
        assert "TORCHINDUCTOR_CACHE_DIR" in problem.remedy

    def test_full_while_code_is_written(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from torch._inductor import codecache

        def refuse(path: Any, *_: Any, **__: Any) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/cache/code.py")

        monkeypatch.setattr(codecache, "write_atomic", refuse)
        problem = the_problem(inspect(Call(subjects.plain, (X,))))
        assert "is full" in problem.what


class TestErrorsOfTheUsers:
    """An error of the operating system in the user's own code is not blamed on torch's folder."""

    def test_a_folder_that_exists(self, tmp_path: Path) -> None:
        with pytest.raises(FileExistsError) as caught:
            tmp_path.mkdir()
        assert failures.of_torch(caught.value) is None

    def test_a_file_that_an_operator_writes_in_generated_code(self, tmp_path: Path) -> None:
        @torch.library.custom_op("compilescope_disk::saved", mutates_args=())
        def saved(x: torch.Tensor) -> torch.Tensor:
            (tmp_path / "file" / "x").mkdir()
            return x.clone()

        saved.register_fake(torch.empty_like)
        (tmp_path / "file").touch()
        with pytest.raises(NotADirectoryError) as caught:
            torch.compile(saved)(X)
        assert failures.of_torch(caught.value) is None

    @pytest.mark.skipif(sys.platform != "linux", reason="the words are those of Linux's linker")
    def test_a_library_of_the_users(self, tmp_path: Path) -> None:
        code, library = tmp_path / "own.cpp", tmp_path / "own.so"
        code.write_text("extern int missing_symbol; int* answer() { return &missing_symbol; }")
        subprocess.run(["g++", "-shared", "-fPIC", code, "-o", library], check=True)
        with pytest.raises(OSError, match="Could not load this library") as caught:
            torch.ops.load_library(library)
        assert "undefined symbol" in str(caught.value.__cause__)
        assert failures.of_torch(caught.value) is None


class TestFullDisk:
    """The folder that is named is the one that is full."""

    @pytest.mark.parametrize(
        ("output", "file", "variable"),
        [
            (
                "x.cpp:3:63: fatal error: error writing to {tmp}/ccZ.s: No space left on device",
                "{tmp}/ccZ.s",
                "TMPDIR",
            ),
            (
                (
                    "{tmp}/ccB.s: Assembler messages:\n"
                    "{tmp}/ccB.s: Fatal error: can't write 3887 bytes to section .debug_str of "
                    "{cache}/x.o: 'No space left on device'"
                ),
                "{cache}/x.o",
                "TORCHINDUCTOR_CACHE_DIR",
            ),
            (
                (
                    "/usr/bin/ld: final link failed: No space left on device\n"
                    "collect2: error: ld returned 1 exit status"
                ),
                "{cache}/x.so",
                "TORCHINDUCTOR_CACHE_DIR",
            ),
        ],
        ids=["compiler", "assembler", "linker"],
    )
    def test_of_the_compiler(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        output: str,
        file: str,
        variable: str,
    ) -> None:
        folders = {"tmp": str(tmp_path / "tmp"), "cache": str(tmp_path / "tmp" / "cache")}
        monkeypatch.setattr(tempfile, "tempdir", folders["tmp"])
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", folders["cache"])
        command = ["g++", "x.cpp", "-o", folders["cache"] + "/x.so"]
        error = inductor.CppCompileError(command, output.format(**folders))
        problem = failures.explain(error)
        assert problem.what == f"The disk of {file.format(**folders)} is full."
        assert variable in problem.remedy
        assert "too old" not in problem.why

    def test_of_an_open_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        free = {tmp_path / "tmp": 0, tmp_path / "cache": 10**9}
        for folder in free:
            folder.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
        monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
        usage = {folder: SimpleNamespace(free=most) for folder, most in free.items()}
        monkeypatch.setattr(shutil, "disk_usage", usage.__getitem__)
        problem = failures.explain(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        assert problem.what == f"The disk of {tmp_path / 'tmp'} is full."
        assert "TMPDIR" in problem.remedy


class TestEndedCompiler:
    """A compiler that the machine stopped is told as such: the generated code is not blamed."""

    @pytest.mark.parametrize(
        ("output", "what", "remedy"),
        [
            (
                (
                    "g++: internal compiler error: File size limit exceeded signal terminated "
                    "program cc1plus\nPlease submit a full bug report."
                ),
                "A file grew beyond the size that this process may write.",
                "ulimit -f",
            ),
            (
                "x.cpp:3:63: fatal error: error writing to /tmp/ccZ.s: File too large",
                "A file grew beyond the size that this process may write.",
                "ulimit -f",
            ),
            (
                (
                    "g++: fatal error: Killed signal terminated program cc1plus\ncompilation "
                    "terminated."
                ),
                "The C++ compiler was ended: the memory was probably used up.",
                "TORCHINDUCTOR_COMPILE_THREADS=1",
            ),
            (
                (
                    "g++: internal compiler error: Segmentation fault signal terminated program "
                    "cc1plus"
                ),
                "The C++ compiler crashed: Segmentation fault in cc1plus.",
                "CXX",
            ),
            (
                "/usr/bin/ld: cannot find -lgomp\ncollect2: error: ld returned 1 exit status",
                "The C++ compiler failed.",
                "doctor",
            ),
        ],
    )
    def test_by_what_it_said(self, output: str, what: str, remedy: str) -> None:
        problem = failures.explain(inductor.CppCompileError(["g++", "x.cpp"], output))
        assert problem.what == what
        assert problem.why
        assert remedy in problem.remedy
        assert "PyTorch" not in problem.remedy
        assert "too old" not in problem.why

    def test_a_file_of_torchs_own(self) -> None:
        problem = failures.explain(OSError(errno.EFBIG, os.strerror(errno.EFBIG)))
        assert problem.what == "A file grew beyond the size that this process may write."


def test_a_file_in_the_way_of_the_cache_folder_when_torch_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    folder.write_text("in the way")
    code = """
import compilescope as cs
try:
    cs.inspect(len, ([],))
except cs.CompilescopeError as error:
    print(error.problem.what, error.problem.remedy)
"""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        f"{folder} cannot be used. Remove what is in its way, or set TORCHINDUCTOR_CACHE_DIR to a "
        "folder, and restart.\n"
    )
