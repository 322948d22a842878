"""The common parts of all reproducers: inputs, comparison, timing."""

from __future__ import annotations

from ..report import Report

FILL = '''
def fill(tensor, high, generator):
    """Puts random numbers into a tensor, without changing how it is laid out."""
    if not isinstance(tensor, torch.Tensor) or tensor.numel() == 0:
        return
    # All of its memory, also where elements share it.
    size = 1 + sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride()))
    memory = tensor.as_strided((size,), (1,))
    if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
        wide = torch.complex64 if tensor.dtype.is_complex else torch.float32
        numbers = torch.randn(size, dtype=wide, generator=generator)
        if high is not None:
            numbers = numbers.abs().clamp(0.1, high)
    elif tensor.dtype == torch.bool:
        numbers = torch.rand(size, generator=generator) < 0.5
    else:
        numbers = torch.randint(0, int(high or 8), (size,), generator=generator)
    memory.copy_(numbers.to(tensor.dtype))
'''

COMPARE = '''
def compare(name, actual, eager, exact, inputs):
    """Whether a result is what torch's operators give; prints how far it is off.

    It agrees within torch's tolerances (relative to the largest number, where sums cancel) for the
    coarsest type among it and the ``inputs``: a kernel keeps values in float32 that the operators
    round. It agrees too where it is as close to float64 as the operators are. A sum may be off by
    more, the more of the inputs go into it: each addition rounds, and torch adds in another order.
    ``exact`` is None where the operators do not run in float64.
    """
    tensors = [x for x in inputs if isinstance(x, torch.Tensor)]
    floating = [x for x in tensors if x.dtype.is_floating_point or x.dtype.is_complex]
    if not isinstance(actual, torch.Tensor):
        agrees = actual == eager
        print(f"{name}: {'agrees' if agrees else 'DIFFERS'}")
        return agrees
    actual = actual.reshape(eager.shape)
    if not (actual.dtype.is_floating_point or actual.dtype.is_complex):
        differing = int((actual != eager.to(actual.dtype)).sum())
        of = f"{differing:,} of {actual.numel():,}"
        if floating and 0 < differing <= 0.05 * actual.numel():
            print(f"{name}: {of} differ, not judged: rounding decides between nearly equal values")
            return True
        print(f"{name}: {f'DIFFERS, {of}' if differing else 'equal'}")
        return not differing
    right = widened(eager if exact is None else exact)
    error, own = (
        (x.to(right.dtype) - right).abs().nan_to_num().max().item() if x.numel() else 0.0
        for x in (actual, eager)
    )
    scale = right.abs().nan_to_num(posinf=0.0).max().item() if right.numel() else 0.0
    additions = max(1, sum(x.numel() for x in tensors) / max(1, actual.numel()))
    # Half precision is summed in float32.
    eps = 2.3e-16 if actual.dtype in (torch.float64, torch.complex128) else 1.2e-7
    types = {actual.dtype, *(x.dtype for x in floating)} - {torch.float64, torch.complex128}
    tolerance = max(TOLERANCE.get(dtype, 1.3e-6) for dtype in types or {actual.dtype})
    tolerance = max(tolerance, eps * additions**0.5)
    agrees = torch.equal(actual.isnan(), eager.isnan())
    agrees = agrees and error <= max(min(2 * own, 0.1 * scale), tolerance * scale)
    measured = "torch's operators" if exact is None else "float64"
    beside = "" if exact is None else f" (torch's operators: {own / (scale or 1):.2g})"
    verdict = "agrees" if agrees else "DIFFERS"
    print(f"{name}: {verdict}, off {measured} by {error / (scale or 1):.2g} of the largest{beside}")
    return agrees


# As torch.testing.assert_close has them.
TOLERANCE = {torch.float16: 1e-3, torch.bfloat16: 1.6e-2, torch.float64: 1e-7}


def widened(value):
    if isinstance(value, torch.Tensor) and value.dtype.is_complex:
        return value.to(torch.complex128)
    if isinstance(value, torch.Tensor) and value.dtype.is_floating_point:
        return value.double()
    return value


def in_float64(function, values):
    """What a function gives in float64; None where its operators do not run so."""
    try:
        return function(*map(widened, values))
    except RuntimeError:
        return None


def is_finite(value):
    return not isinstance(value, torch.Tensor) or bool(value.isfinite().all())
'''

TIME = '''
def time_call(what, call):
    """Prints how long a call takes."""
    timer = torch.utils.benchmark.Timer("call()", globals={"call": call}, num_threads=threads)
    median = timer.blocked_autorange(min_run_time=0.2).median
    print(f"{what}: {median * 1e6:.2f} us a call")
'''

TOP = """
import math
import operator
from math import inf, nan

import torch
import torch._inductor.inductor_prims  # operators that Inductor adds to torch's
import torch.utils.benchmark
from torch import device
from torch._dynamo.testing import rand_strided

threads = torch.get_num_threads()
"""

KERNEL_MAIN = """
VARIABLE_NAMES = $variables
OUTPUT_NAMES = $outputs  # what the launch returns
HIGH = $highs  # of integers that index: below what
NODES = $inputs  # of the graph, which the arguments hold
NODE_SHAPES = $shapes
why_unchecked = $unchecked


def filled(positive):
    generator = torch.Generator().manual_seed(0)
    values = make_arguments()
    for name, value in zip(VARIABLE_NAMES, values):
        fill(value, HIGH.get(name, 2.0 if positive else None), generator)
    return values


def node_values(values):
    known = dict(zip(VARIABLE_NAMES, values))
    result = {}
    for node, name in NODES.items():
        value = known[name]
        if isinstance(value, torch.Tensor):
            value = value.clone()
            if node in NODE_SHAPES:
                value = value.reshape(NODE_SHAPES[node])
        result[node] = value
    return result


def main():
    reference = $reference
    agrees = True
    values = filled(False)
    if reference is not None:
        expected = reference(*node_values(values).values())
        if not all(map(is_finite, expected.values())):
            # A square root or a logarithm, say: with positive inputs there is more to compare.
            values = filled(True)
            expected = reference(*node_values(values).values())
        exact = in_float64(reference, node_values(values).values())
    outputs = launch(*values)
    if reference is not None:
        known = dict(zip(VARIABLE_NAMES, values))
        known |= dict(zip(OUTPUT_NAMES, [outputs] if len(OUTPUT_NAMES) == 1 else outputs or []))
        for name, value in expected.items():
            agrees &= compare(name, known[name], value, exact and exact[name], values)
    if why_unchecked:
        print(f"not compared{'' if reference is None else ' completely'}: {why_unchecked}")
    time_call($name, lambda: launch(*values))
    return 0 if agrees else 1


if __name__ == "__main__":
    raise SystemExit(main())
"""

LAID_OUT = '''
def laid_out(size, stride, dtype, device, high):
    """A tensor of random numbers with this layout; integers below ``high``."""
    tensor = torch.empty_strided(size, stride, dtype=dtype, device=device)
    fill(tensor, high, torch.Generator().manual_seed(sum(size)))
    return tensor
'''

GRAPH_MAIN = """
why_unchecked = $unchecked


def compiled(module):
    return torch.compile(module, fullgraph=True$arguments)


def results_of(value):
    return [] if value is None else torch.utils._pytree.tree_leaves(value)


def agree(module, function, make):
    # Whether a function gives what a module gives in eager, on the inputs that `make` creates.
    expected = results_of(module(*make()))
    actual = results_of(function(*make()))
    if why_unchecked:
        print(f"not compared: {why_unchecked}")
        return True
    exact = results_of(in_float64(module, make())) or [None] * len(expected)
    inputs = make()
    agrees = True
    for place, (mine, eager, wide) in enumerate(zip(actual, expected, exact)):
        agrees &= compare(f"result {place}", mine, eager, wide, inputs)
    return agrees


def main():
    module = $graph_class()
    function = compiled(module)
    with torch.no_grad():
        agrees = agree(module, function, make_inputs)
        inputs = make_inputs()
        time_call("eager", lambda: module(*inputs))
        time_call("compiled", lambda: function(*inputs))
    return 0 if agrees else 1


if __name__ == "__main__":
    raise SystemExit(main())
"""

EAGER_RAN = "eager: ran"
"""What the program of a graph that fails prints first: what it raises then is of torch.compile."""

FAILING_MAIN = """
def compiled(module):
    return torch.compile(module, fullgraph=True$arguments)


def main():
    module = $graph_class()
    with torch.no_grad():
        module(*make_inputs())
        print("$eager_ran")
        compiled(module)(*make_inputs())
    print("compiled: ran")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
"""
"""Of a graph that fails to compile or to run: the program ends with the exception."""


def head(
    report: Report, what: str, does: str = "run, compared with torch's operators, timed"
) -> str:
    """The docstring of a program."""
    torch = report.environment.torch
    return (
        f'"""{what}: {does}.\n\n'
        f"Written by compilescope from what torch {torch} generated. It needs nothing but torch.\n"
        '"""'
    )
