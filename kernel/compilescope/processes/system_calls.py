"""Ends a process that asks the system to change something outside of it (Linux on x86-64).

The system checks the calls of a thread, and of the threads that it starts, by a filter (seccomp)
that cannot be removed. Only calls that cannot change anything outside of the process are allowed:
those that read, that concern the process's own memory, threads and signals, or that write to what
is open already. Any other ends the process with SIGSYS, from whatever language it comes.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import struct
import sys
from concurrent.futures import ThreadPoolExecutor

from .outside_changes import WRITING

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

_ALLOWED = {
    # Reading files, and what the system says of them.
    "read": 0, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "lseek": 8, "pread64": 17,
    "readv": 19, "access": 21, "getdents": 78, "getcwd": 79, "readlink": 89, "statfs": 137,
    "fstatfs": 138, "readahead": 187, "getxattr": 191, "lgetxattr": 192, "fgetxattr": 193,
    "listxattr": 194, "llistxattr": 195, "flistxattr": 196, "getdents64": 217, "fadvise64": 221,
    "newfstatat": 262, "readlinkat": 267, "faccessat": 269, "preadv": 295, "preadv2": 327,
    "statx": 332, "close_range": 436, "faccessat2": 439,
    # Writing to what is open: the caller of `forbid_changes` has closed what others see.
    "write": 1, "pwrite64": 18, "writev": 20, "pwritev": 296, "pwritev2": 328,
    # The process's own memory. Files that are only read cannot be mapped for writing by all.
    "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12, "mremap": 25, "msync": 26, "mincore": 27,
    "madvise": 28, "mlock": 149, "munlock": 150, "mbind": 237, "set_mempolicy": 238,
    "get_mempolicy": 239, "memfd_create": 319, "membarrier": 324, "mlock2": 325,
    "pkey_mprotect": 329, "pkey_alloc": 330, "pkey_free": 331,
    # Its threads, signals, descriptors, pipes and clocks.
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "pipe": 22, "sched_yield": 24,
    "dup": 32, "dup2": 33, "pause": 34, "getitimer": 36, "alarm": 37, "setitimer": 38, "exit": 60,
    "wait4": 61, "rt_sigpending": 127, "rt_sigtimedwait": 128, "rt_sigsuspend": 130,
    "sigaltstack": 131, "arch_prctl": 158, "gettid": 186, "futex": 202, "sched_getaffinity": 204,
    "set_tid_address": 218, "restart_syscall": 219, "timer_create": 222, "timer_settime": 223,
    "timer_gettime": 224, "timer_getoverrun": 225, "timer_delete": 226, "exit_group": 231,
    "waitid": 247, "set_robust_list": 273, "get_robust_list": 274, "signalfd": 282,
    "timerfd_create": 283, "eventfd": 284, "timerfd_settime": 286, "timerfd_gettime": 287,
    "signalfd4": 289, "eventfd2": 290, "dup3": 292, "pipe2": 293, "getcpu": 309, "rseq": 334,
    "futex_waitv": 449,
    # Waiting.
    "poll": 7, "select": 23, "nanosleep": 35, "epoll_create": 213, "clock_nanosleep": 230,
    "epoll_wait": 232, "epoll_ctl": 233, "pselect6": 270, "ppoll": 271, "epoll_pwait": 281,
    "epoll_create1": 291, "epoll_pwait2": 441,
    # What is the process's own, and ends with it.
    "chdir": 80, "fchdir": 81, "umask": 95, "setrlimit": 160,
    # Questions.
    "getpid": 39, "uname": 63, "gettimeofday": 96, "getrlimit": 97, "getrusage": 98, "sysinfo": 99,
    "times": 100, "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110,
    "getpgrp": 111, "getgroups": 115, "getresuid": 118, "getresgid": 120, "getpgid": 121,
    "getsid": 124, "capget": 125, "getpriority": 140, "sched_getparam": 143,
    "sched_getscheduler": 145, "sched_get_priority_max": 146, "sched_get_priority_min": 147,
    "sched_rr_get_interval": 148, "time": 201, "clock_gettime": 228, "clock_getres": 229,
    "ioprio_get": 252, "sched_getattr": 315, "getrandom": 318,
}  # fmt: skip

_FOLDERS = {"mkdir": 83, "mkdirat": 258}
"""They fail as for a folder that exists, as torch makes sure that its folders exist. What is
written into the folder ends the process."""

_UNREADABLE = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "clone3": 435,
    "openat2": 437,
}  # fmt: skip
"""Their arguments are in memory, which a filter cannot read. They fail as in a system without them:
callers fall back to older calls."""

_FIRST_UNKNOWN = 451
"""Newer calls fail in the same way."""

_AT_FDCWD = 0xFFFFFF9C
"""Paths begin at the working folder. `outside_changes` cannot tell where others begin."""
_CLONE_THREAD = 0x10000
_QUESTIONS_OF_TERMINALS = (0x5401, 0x5413, 0x541B, 0x802C542A)
"""``TCGETS``, ``TIOCGWINSZ``, ``FIONREAD``, ``TCGETS2``."""
_OF_DESCRIPTORS = (0x5421, 0x5450, 0x5451)
"""``FIONBIO``, ``FIONCLEX``, ``FIOCLEX``."""
_OF_OPEN_FILES = (0, 1, 2, 3, 4, 5, 1030, 1032, 1034)
"""``F_DUPFD``, ``F_GETFD``, ``F_SETFD``, ``F_GETFL``, ``F_SETFL``, ``F_GETLK``,
``F_DUPFD_CLOEXEC``, ``F_GETPIPE_SZ``, ``F_GET_SEALS``: no locks, leases and signals."""
_OF_THREADS = (15, 16, 0x53564D41, _PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP)
"""``PR_SET_NAME``, ``PR_GET_NAME``, ``PR_SET_VMA``, and those that only forbid more."""


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
    """The filter's instructions."""
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        *_unless(_EQUAL, _X86_64, _END),
        _step(_LOAD, _NUMBER),
    ]
    for number in _ALLOWED.values():
        steps += _when(_EQUAL, number, _ALLOW)
    for number, conditions in (
        (2, _without(1, WRITING)),  # open
        (257, [*_only(0, _AT_FDCWD), *_without(2, WRITING)]),  # openat
        (16, _only(1, *_QUESTIONS_OF_TERMINALS, *_OF_DESCRIPTORS)),  # ioctl
        (72, _only(1, *_OF_OPEN_FILES)),  # fcntl
        (157, _only(0, *_OF_THREADS)),  # prctl
        (56, [_argument(0), *_unless(_HAS_BITS, _CLONE_THREAD, _END)]),  # clone
        (234, _only(0, process)),  # tgkill
        # Of the caller itself, which they name by 0.
        (203, _only(0, 0)),  # sched_setaffinity
        (302, _only(0, 0)),  # prlimit64
    ):
        body = [*conditions, _step(_RETURN, _ALLOW)]
        steps += [_step(_EQUAL, number, 0, len(body)), *body]
    for number in _FOLDERS.values():
        steps += _when(_EQUAL, number, _FAIL | _EEXIST)
    for number in _UNREADABLE.values():
        steps += _when(_EQUAL, number, _FAIL | _ENOSYS)
    return [*steps, *_when(_AT_LEAST, _FIRST_UNKNOWN, _FAIL | _ENOSYS), _step(_RETURN, _END)]


def _only(argument: int, *values: int) -> list[bytes]:
    """Ends the process if an argument has none of the values."""
    checks = [
        _step(_EQUAL, value, if_true=len(values) - index) for index, value in enumerate(values)
    ]
    return [_argument(argument), *checks, _step(_RETURN, _END)]


def _without(argument: int, bits: int) -> list[bytes]:
    """Ends the process if an argument has one of the bits."""
    return [_argument(argument), *_when(_HAS_BITS, bits, _END)]


def _argument(number: int) -> bytes:
    """Loads the lower half of an argument: the system ignores the upper of these."""
    return _step(_LOAD, _FIRST_ARGUMENT + 8 * number)


def _when(condition: int, value: int, outcome: int) -> list[bytes]:
    return [_step(condition, value, if_false=1), _step(_RETURN, outcome)]


def _unless(condition: int, value: int, outcome: int) -> list[bytes]:
    return [_step(condition, value, if_true=1), _step(_RETURN, outcome)]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """An instruction, and how many of the next are skipped."""
    return struct.pack("HBBI", code, if_true, if_false, value)
