"""Where a report is made."""

from __future__ import annotations

import os
import platform
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch._inductor.config as inductor_config
from compilescope.package_folder import PACKAGE
from compilescope.report import Environment
from compilescope.torch_api.process import caches
from compilescope.torch_api.process import environment as module
from compilescope.torch_api.process.environment import environment

pytestmark = pytest.mark.slow


def test_versions_and_processors() -> None:
    result = environment()
    assert result.torch == torch.__version__
    assert result.python == platform.python_version()
    assert result.threads == torch.get_num_threads()
    assert result.cpu
    assert result.platform.startswith(platform.system()) or platform.system() == "Darwin"
    assert isinstance(result, Environment)


def test_without_a_gpu_there_are_none() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert environment().gpus == []


def test_the_compiler_is_the_one_inductor_takes(tmp_path: Path) -> None:
    compiler = tmp_path / "my-cxx"
    compiler.write_text("#!/bin/sh\necho 'my compiler 1.2'\necho more\n")
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    with inductor_config.patch({"cpp.cxx": (str(compiler),)}):
        assert environment().compiler == "my compiler 1.2"
    with inductor_config.patch({"cpp.cxx": (str(tmp_path / "absent"),)}):
        assert environment().compiler == ""


def test_a_compiler_that_does_not_write_utf_8_is_named(tmp_path: Path) -> None:
    compiler = tmp_path / "latin-cxx"
    compiler.write_bytes(b"#!/bin/sh\necho 'compilateur \xe9prouv\xe9 1.2'\n")
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    with inductor_config.patch({"cpp.cxx": (str(compiler),)}):
        assert environment().compiler == "compilateur \ufffdprouv\ufffd 1.2"


def test_gpus_are_named_without_starting_cuda(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: False)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda index: pytest.fail("started CUDA"))
    monkeypatch.setattr(module, "_NVIDIA", tmp_path)
    for bus in ("0000:01", "0000:02"):
        (tmp_path / bus).mkdir()
        (tmp_path / bus / "information").write_text("Model: \t NVIDIA H200\nIRQ: 1\n")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert environment().gpus == ["NVIDIA H200", "NVIDIA H200"]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert environment().gpus == ["CUDA device"]


def test_triton_and_cuda_are_not_loaded() -> None:
    program = (
        "import sys, torch, torch._inductor.cpp_builder\n"
        "before = set(sys.modules)\n"
        "from compilescope.torch_api.process.environment import environment\n"
        "environment()\n"
        "assert not torch.cuda.is_initialized()\n"
        "assert 'triton' in before or 'triton' not in sys.modules\n"
    )
    folder = str(PACKAGE.parent)
    subprocess.run([sys.executable, "-c", program], check=True, env={"PYTHONPATH": folder})


def test_a_second_look_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: object, **__: object) -> None:
        raise AssertionError("a program is started again")

    first = environment()
    monkeypatch.setattr(module.subprocess, "run", started)
    assert environment() == first


@pytest.mark.parametrize("how", ["another user's", "a link"])
def test_a_cache_folder_that_another_user_made_first_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    # What torch takes unasked is in the folder for temporary files.
    unasked, chosen, mine = (tmp_path / name for name in ("torchinductor_me", "chosen", "mine"))
    chosen.mkdir()
    unasked.mkdir()
    monkeypatch.setattr(caches, "default_cache_dir", lambda: str(unasked))
    monkeypatch.setattr(caches.platformdirs, "user_cache_path", lambda *_: mine)
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(unasked))
    assert caches.own_folder() == unasked / "compilescope"
    if how == "a link":
        unasked.rmdir()
        unasked.symlink_to(chosen)
    else:
        monkeypatch.setattr(os, "getuid", lambda: unasked.stat().st_uid + 1)
    assert caches.own_folder() == mine / "inductor"
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(chosen))
    assert caches.own_folder() == chosen / "compilescope"
