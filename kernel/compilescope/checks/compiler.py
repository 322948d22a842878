"""The C++ compiler: installed, working, and its output loadable."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

from ..report.checkup import Check
from ..torch_api.inductor import toolchain
from ..torch_api.process.environment import environment
from .context import CheckContext, CheckFunction, not_needed, ok, problem, python, run, warning

SUBJECT = "C++ compiler"
INSTALL = (
    "Install the command line tools (xcode-select --install)."
    if sys.platform == "darwin"
    else "Install g++ (Debian: apt-get install g++), or set CXX to a C++ compiler."
)
_PROGRAM = """\
#include <array>
#include <numeric>
#if __cplusplus >= 202002L
#include <concepts>
template <std::integral T>
#else
template <typename T>
#endif
T sum(const std::array<T, 4>& of) {
    return std::accumulate(of.begin(), of.end(), T{});
}
extern "C" int answer() { return sum(std::array<int, 4>{10, 11, 12, 9}); }
"""
"""torch 2.11 asks for C++17, later ones for C++20: it takes what the compiler was asked for."""
_CALL = "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).answer())"


def with_compiler(name: str) -> Callable[[CheckFunction], CheckFunction]:
    """Decorates a check that needs a C++ compiler: without one, it is not made.

    The check of the compiler itself reports that there is none.

    Parameters
    ----------
    name
        The check's.
    """

    def decorate(check: CheckFunction) -> CheckFunction:
        @functools.wraps(check)
        def checked(context: CheckContext) -> Check:
            try:
                toolchain.compiler()  # torch may remember an answer from when there was one
            except toolchain.NoCompiler:
                return not_needed(name, "Not checked: there is no C++ compiler.")
            return check(context)

        return checked

    return decorate


def inductor_compiler(context: CheckContext) -> Check:
    """The compiler that Inductor takes."""
    try:
        command = toolchain.compiler()
    except toolchain.NoCompiler as error:
        return problem("compiler", str(error).partition("\n")[0] or type(error).__name__, INSTALL)
    version = environment().compiler
    if not version:
        return problem("compiler", f"{command} does not print its version.", INSTALL)
    return ok("compiler", f"{command}: {version}")


@with_compiler("compile and load")
def compiles(context: CheckContext) -> Check:
    """A program in C++20 with Inductor's own options, and what it answers when it is loaded."""
    name = "compile and load"
    source = context.place("compiler") / "program.cpp"
    source.write_text(_PROGRAM, encoding="utf-8")
    command, library = toolchain.build_command(source)
    built = run(command, folder=source.parent)
    if not built.ok:
        return problem(
            name, f"A small program does not compile: {built.first}", INSTALL, detail=built.output
        )
    loaded = python("-c", f"import torch; {_CALL}", str(library), folder=source.parent)
    if not loaded.ok or loaded.output.split()[-1:] != ["42"]:
        return problem(
            name,
            f"The compiled program cannot be loaded: {loaded.first}",
            "Use the libraries of one compiler (LD_LIBRARY_PATH), and a cache folder in which "
            "programs can be executed.",
            detail=loaded.output,
        )
    return ok(name, "A C++20 program compiles, loads and returns the right result.")


@with_compiler("vector instructions")
def vectors(context: CheckContext) -> Check:
    """The vector instructions that kernels for the processor use."""
    instructions = toolchain.vector_instructions()
    if not instructions:
        return warning(
            "vector instructions",
            "None: CPU kernels are not vectorized.",
            "Unset ATEN_CPU_CAPABILITY if it is 'default', or use a newer compiler.",
        )
    return ok("vector instructions", instructions)


CHECKS: tuple[CheckFunction, ...] = (inductor_compiler, compiles, vectors)
