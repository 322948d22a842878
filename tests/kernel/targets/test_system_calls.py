"""Which system calls the filter refuses, and whether the system lets this process filter them."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from compilescope.processes import system_calls

pytestmark = pytest.mark.skipif(
    not system_calls.can_forbid_changes(), reason="the system does not filter system calls"
)

_CALLING = """
import ctypes, errno, json, os, sys, threading
from compilescope.processes import system_calls

def call(number, *arguments):
    system_calls.forbid_changes(os.getpid())
    threading.Thread(target=int).start()
    own = {"own id": os.getpid(), "a path": b"/"}
    library = ctypes.CDLL(None, use_errno=True)
    if library.syscall(number, *(own.get(each, each) for each in arguments)) < 0:
        return ctypes.get_errno()
    return 0

outcomes = {}
for name, arguments in json.loads(sys.argv[1]).items():
    pid = os.fork()
    if not pid:
        os._exit(call(*arguments))
    _, status = os.waitpid(pid, 0)
    outcomes[name] = os.waitstatus_to_exitcode(status)
print(json.dumps(outcomes))
"""

_ALLOWED = {
    "question about a descriptor": (72, 0, 1),
    "terminal's size": (16, 0, 0x5413),
    "file for reading": (2, "a path", 0),
    "file below the working folder": (257, -100, "a path", 0),
    "signal of its own": (234, "own id", "own id", 0),
    "affinity of its own": (203, 0, 0, 0),
    "limits of its own": (302, 0, 7, 0, 0),
}
_FAILING = {
    "folder": ((83, "a path", 0), errno.EEXIST),
    "folder below another": ((258, -100, "a path", 0), errno.EEXIST),
    "io_uring": ((425, 0, 0), errno.ENOSYS),
    "open with arguments in memory": ((437, -100, "a path", 0, 0), errno.ENOSYS),
    "newest call": ((463, 0), errno.ENOSYS),
}
_REFUSED = {
    "file for writing": (2, "a path", os.O_WRONLY),
    "file to be created": (257, -100, "a path", os.O_CREAT),
    "file to be truncated": (257, -100, "a path", os.O_TRUNC),
    "file below a descriptor": (257, 0, "a path", 0),
    "truncate": (76, 0, 0),
    "rename": (82, 0, 0),
    "unlinkat": (263, -1, 0, 0),
    "symlink": (88, 0, 0),
    "mknod": (133, 0, 0, 0),
    "fchmod": (91, -1, 0),
    "utimensat": (280, -1, 0, 0, 0),
    "fsetxattr": (190, -1, 0, 0, 0, 0),
    "flags of a file": (16, -1, 0x40086602, 0),
    "input of a terminal": (16, -1, 0x5412, 0),
    "lock of a file": (73, -1, 0),
    "lock of a part": (72, -1, 6, 0),
    "lock of an open file": (72, -1, 37, 0),
    "lease": (72, -1, 1024, 0),
    "signal about a file": (72, -1, 8, 0),
    "open_by_handle_at": (304, -1, 0, 0),
    "socket": (41, 0, 0, 0),
    "sendmsg": (46, -1, 0, 0),
    "process": (56, 17, 0, 0, 0, 0),
    "execve": (59, 0, 0, 0),
    "signal": (62, 0, 0),
    "signal of another": (234, 1, 1, 0),
    "pidfd_send_signal": (424, -1, 0, 0, 0),
    "ptrace": (101, -1, 0, 0, 0),
    "process_vm_writev": (311, 0, 0, 0, 0, 0, 0),
    "process_madvise": (440, -1, 0, 0, 0, 0),
    "affinity of another": (203, 1, 0, 0),
    "limits of another": (302, 1, 7, 0, 0),
    "priority of another": (141, 9, 0, 0),
    "group of processes": (109, -1, 0),
    "end of the parent": (157, 1, 0),
    "shared memory": (29, 0, 0, 0),
    "semaphore": (64, 0, 0, 0),
    "message": (69, -1, 0, 0, 0),
    "queue": (240, 0, 0, 0, 0),
    "key": (250, -1, 0, 0, 0, 0),
    "bpf": (321, -1, 0, 0),
    "perf_event_open": (298, 0, 0, 0, 0, 0),
    "userfaultfd": (323, -1),
    "fanotify_init": (300, -1, 0),
    "io_setup": (206, 0, 0),
    "mount": (165, 0, 0, 0, 0, 0),
    "fsopen": (430, 0, 0),
    "setns": (308, -1, 0),
    "unshare": (272, -1),
    "quotactl": (179, -1, 0, 0, 0),
    "swapon": (167, 0, 0),
    "ports": (173, -1, 0, 0),
    "clock": (305, -1, 0),
    "clock's speed": (159, 0),
    "kernel": (320, -1, -1, 0, 0, 0),
    "module": (313, -1, 0, 0),
    "user": (105, -1),
    "unknown call": (400, 0),
}


def test_only_calls_that_change_nothing_outside_are_allowed() -> None:
    failing = {name: arguments for name, (arguments, _) in _FAILING.items()}
    cases = json.dumps(_ALLOWED | failing | _REFUSED)
    done = subprocess.run(
        [sys.executable, "-c", _CALLING, cases],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    outcomes = json.loads(done.stdout)
    assert [name for name in _ALLOWED if outcomes[name] < 0] == []
    assert {name: outcomes[name] for name in failing} == {
        name: code for name, (_, code) in _FAILING.items()
    }
    assert [name for name in _REFUSED if outcomes[name] != -signal.SIGSYS] == []


_WITHOUT = """
from compilescope.processes import system_calls as calls

PRCTL, SECCOMP, EPERM = 157, 317, 1
filtering = [
    calls._step(calls._LOAD, calls._FIRST_ARGUMENT),
    *calls._when(calls._EQUAL, calls._PR_SET_SECCOMP, calls._FAIL | EPERM),
    calls._step(calls._RETURN, calls._ALLOW),
]
calls._set_filter([
    calls._step(calls._LOAD, calls._NUMBER),
    *calls._when(calls._EQUAL, SECCOMP, calls._FAIL | EPERM),
    calls._step(calls._EQUAL, PRCTL, 0, len(filtering)),
    *filtering,
    calls._step(calls._RETURN, calls._ALLOW),
])
print(calls.can_forbid_changes())
"""


def test_a_container_that_forbids_filters_is_noticed() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT], capture_output=True, text=True)
    assert done.stdout.split() == ["False"], done.stderr


def test_the_attempt_leaves_this_process_as_it_was() -> None:
    before = _restrictions()
    system_calls.can_forbid_changes.__wrapped__()
    assert _restrictions() == before


def _restrictions() -> list[str]:
    lines = Path("/proc/self/status").read_text().splitlines()
    return [line for line in lines if line.startswith(("Seccomp", "NoNewPrivs"))]
