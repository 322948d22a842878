"""Which Python `make setup` takes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "machine.sh"
UNOPTIMIZED = f"""#!{sys.executable}
import sys, sysconfig
sys.base_prefix = "/opt/python"
sysconfig.get_config_var = lambda name: "'--enable-shared'"
exec(sys.stdin.read())
"""
OPTIMIZED = UNOPTIMIZED.replace("--enable-shared", "--enable-optimizations")
BROKEN = "#!/bin/sh\nexit 1\n"


@pytest.mark.parametrize(
    ("programs", "chosen"),
    [
        ((UNOPTIMIZED, OPTIMIZED), 1),
        ((OPTIMIZED, UNOPTIMIZED), 0),
        ((BROKEN, OPTIMIZED), 1),
        ((UNOPTIMIZED,), None),
        ((), None),
    ],
)
def test_the_first_optimized_python_is_chosen(
    programs: tuple[str, ...], chosen: int | None, tmp_path: Path
) -> None:
    folders = []
    for number, text in enumerate(programs):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "python3").write_text(text)
        (folder / "python3").chmod(0o755)
        folders.append(str(folder))
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("bash", "cat"):
        (tools / name).symlink_to(Path("/bin") / name)
    path = os.pathsep.join([*folders, str(tools)])
    done = subprocess.run(
        ["/bin/bash", str(SCRIPT), "choose"],
        env={"PATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    expected = "python3" if chosen is None else str(Path(folders[chosen]) / "python3")
    assert done.stdout.strip() == expected
