"""Ends a process that asks the system to change something outside of it (Linux on x86-64).

The system checks the calls of a thread, and of the threads that it starts, by a filter (seccomp)
that cannot be removed: calls that write files, open connections, start processes or signal others
end the process with SIGSYS. This includes calls from C and C++, such as those of ``torch.save``.
Reading files is allowed, and so is writing to files that are open already.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_FILTER_MODE = 2
_X86_64 = 0xC000003E
"""``AUDIT_ARCH_X86_64``."""

_LOAD, _EQUAL, _AT_LEAST, _HAS_BITS, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Offsets in ``struct seccomp_data``."""

_ALLOW = 0x7FFF0000
_END = 0x80000000
_FAIL = 0x00050000
_EEXIST, _ENOSYS = 17, 38

_WRITING = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000
"""``O_WRONLY``, ``O_RDWR``, ``O_CREAT``, ``O_TRUNC``, ``O_APPEND``."""
_CLONE_THREAD = 0x10000

_OPEN, _OPENAT, _CLONE, _TGKILL = 2, 257, 56, 234
_SCHED_SETAFFINITY, _PRLIMIT64 = 203, 302

_MISSING = (425, 426, 427, 435, 437)
"""io_uring_setup, _enter, _register, clone3, openat2: their arguments are in memory, which a filter
cannot read. Callers fall back to older calls."""
_FIRST_UNKNOWN = 462

_FOLDERS = (83, 258)
"""mkdir, mkdirat: fail as for a folder that exists, as torch makes sure that its folders exist.
What is written into the folder ends the process."""

_FORBIDDEN = (
    76, 77,  # truncate, ftruncate
    82, 264, 316,  # rename, renameat, renameat2
    84, 87, 263,  # rmdir, unlink, unlinkat
    85, 133, 259, 285,  # creat, mknod, mknodat, fallocate
    86, 88, 265, 266,  # link, symlink, linkat, symlinkat
    90, 91, 92, 93, 94, 260, 268, 452,  # chmod, chown and the like
    132, 235, 261, 280,  # utime and the like
    188, 189, 190, 197, 198, 199,  # setxattr, removexattr and the like
    73, 304,  # flock, open_by_handle_at
    41, 42, 43, 44, 46, 49, 50, 53, 288, 307,  # sockets
    57, 58, 59, 322,  # fork, vfork, execve, execveat
    62, 129, 200, 297, 424, 438, 448,  # kill and the like
    142, 144, 251, 256, 279, 314, 440,  # scheduling and memory of other processes
    101, 141, 310, 311,  # ptrace, setpriority, process_vm_readv, process_vm_writev
    29, 30, 31, 64, 65, 66, 68, 69, 70, 71, 220,  # shared memory, semaphores, queues of System V
    206, 209, 240, 241, 242, 243,  # io_setup, io_submit, mq_*
    155, 161, 163, 164, 165, 166, 169, 170, 171, 175, 176, 227, 246, 272, 305, 308, 313,  # system
    248, 249, 250, 298, 321, 323,  # keys, perf_event_open, bpf, userfaultfd
    428, 429, 430, 431, 432, 433, 442,  # mounts
)  # fmt: skip


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


@functools.cache
def can_forbid_changes() -> bool:
    """Whether `forbid_changes` works on this machine."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    # A filter is the thread's own and ends with it. Whether a container allows one is only known
    # from an attempt.
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(_allows_all).result()


def _allows_all() -> bool:
    """Whether a filter that allows everything could be set for this thread."""
    try:
        _set_filter([_step(_RETURN, _ALLOW)])
    except OSError:
        return False
    return True


def forbid_changes(process: int) -> None:
    """Ends the process if this thread, or one that it starts, tries to change anything outside.

    Parameters
    ----------
    process
        The id of this process, whose own threads may be signaled.

    Raises
    ------
    OSError
        The system has no such filters, or does not allow them here.
    """
    _set_filter(_filter(process))


def _set_filter(instructions: list[bytes]) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    code = b"".join(instructions)
    program = _Program(len(instructions), code)
    if library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or library.prctl(
        _PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "The system does not filter system calls")


def _filter(process: int) -> list[bytes]:
    """The filter's instructions, of which each condition skips those that follow it."""
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        *_unless(_EQUAL, _X86_64, _END),
        _step(_LOAD, _NUMBER),
    ]
    for number in _MISSING:
        steps += _when(_EQUAL, number, _FAIL | _ENOSYS)
    for number in _FOLDERS:
        steps += _when(_EQUAL, number, _FAIL | _EEXIST)
    for number in _FORBIDDEN:
        steps += _when(_EQUAL, number, _END)
    steps += _when(_AT_LEAST, _FIRST_UNKNOWN, _FAIL | _ENOSYS)
    for number, argument, condition in (
        (_OPEN, 1, _when(_HAS_BITS, _WRITING, _END)),
        (_OPENAT, 2, _when(_HAS_BITS, _WRITING, _END)),
        (_CLONE, 0, _unless(_HAS_BITS, _CLONE_THREAD, _END)),
        (_TGKILL, 0, _unless(_EQUAL, process, _END)),
        # For the caller itself, which they name by 0.
        (_SCHED_SETAFFINITY, 0, _unless(_EQUAL, 0, _END)),
        (_PRLIMIT64, 0, _unless(_EQUAL, 0, _END)),
    ):
        body = [_step(_LOAD, _FIRST_ARGUMENT + 8 * argument), *condition, _step(_RETURN, _ALLOW)]
        steps += [_step(_EQUAL, number, 0, len(body)), *body]
    return [*steps, _step(_RETURN, _ALLOW)]


def _when(condition: int, value: int, outcome: int) -> list[bytes]:
    return [_step(condition, value, 0, 1), _step(_RETURN, outcome)]


def _unless(condition: int, value: int, outcome: int) -> list[bytes]:
    return [_step(condition, value, 1, 0), _step(_RETURN, outcome)]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)
