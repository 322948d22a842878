"""Programs that recompile; what was compiled when they ran, and what is advised."""

from __future__ import annotations

import linecache
from typing import NamedTuple

import torch
from compilescope.analysis.overview.suggestions.code_suggestions import against_recompiles
from compilescope.report import Advice, Compilation, Suggestion, VariantReport
from compilescope.report.variant import Variant
from compilescope.watching.running_code import watching

PREPARE = """\
import functools
import torch
from torch import nn
torch.manual_seed(0)
"""


class Program(NamedTuple):
    """Code that recompiles: what is defined, the line that compiles, and the loop that calls."""

    define: str
    calls: str
    compile: str = 'compiled = torch.compile(f, backend="eager")'


class Ran(NamedTuple):
    compilations: list[Compilation]
    text: str

    @property
    def recompiles(self) -> int:
        return sum(compilation.recompile is not None for compilation in self.compilations)


SIZES = Program(
    "def f(x):\n    return x + 1", "for n in (4, 5, 6):\n    compiled(torch.ones(n, 3))"
)
GROWING_CACHE = Program(
    """\
def f(x, cache):
    for layer in range(4):
        cache[layer] = torch.cat([cache[layer], x], 1) if layer in cache else x + layer
    return sum(cache[layer].sum() for layer in range(4))
""",
    "cache = {}\nfor n in (4, 1, 1, 1):\n    compiled(torch.ones(3, n), cache)",
)
"""A prompt, then tokens: the third call differs from the second in the sizes of the cache alone."""
NAMED = Program(
    "def f(x):\n    return x + 1",
    "for batch in (torch.ones(4, 3), torch.ones(5, 3)):\n    compiled(batch)",
)
SLICED = Program(
    "def f(x):\n    return x + 1\ndata = torch.ones(9, 3)",
    "for n in (4, 5):\n    compiled(data[:n])",
)
INDEXED = Program(
    "def f(x):\n    return x + 1\ndata = [torch.ones(4, 3), torch.ones(5, 3)]",
    "for n in (0, 1):\n    compiled(data[n])",
)
TRANSPOSED = Program(
    "def f(x):\n    return x + 1",
    "for batch in (torch.ones(3, 3).T, torch.ones(3, 3)):\n    compiled(batch.T)",
)
KEYWORD = Program(
    "def f(a, *, x):\n    return a + x['image'].sum()",
    "for n in (4, 5):\n    batch = {'image': torch.ones(n, 3)}\n    compiled(1.0, x=batch)",
)
PAIR = Program(
    "def f(x, y):\n    return x + y",
    "for n in (4, 5):\n    x, y = torch.ones(n, 3), torch.ones(n, 3)\n    compiled(x, y)",
)
PAIR_OF_SINGLES = Program(
    "def f(x, y):\n    return x + 1, y + 1",
    "for n in (1, 5):\n    x, y = torch.ones(n, 3), torch.ones(n, 3)\n    compiled(x, y)",
)
GROWN = Program(
    "def f(x, k, v):\n    return torch.cat([k, x]), torch.cat([v, x])\nx = torch.ones(1, 3)",
    "k = v = torch.ones(0, 3)\nfor _ in range(5):\n    k, v = compiled(x, k, v)",
)
PAIR_AND_NUMBER = Program(
    "def f(x, y, scale):\n    return (x + y) * scale",
    "for n in (4, 5):\n    x, y = torch.ones(n, 3), torch.ones(n, 3)\n    compiled(x, y, n / 3)",
)
METHOD = Program(
    "class Step:\n    def run(s, batch):\n        return batch['x'] + 1\nstep = Step()",
    "for n in (4, 5):\n    compiled({'x': torch.ones(n, 3)})",
    "compiled = torch.compile(step.run, backend='eager')",
)
WRAPPED = Program(
    "@torch.no_grad()\ndef f(x):\n    return x + 1",
    "for n in (4, 5):\n    compiled(torch.ones(n, 3))",
)
DECORATED = Program(
    "@torch.compile(backend='eager')\ndef compiled(x):\n    return x + 1",
    "for n in (4, 5):\n    compiled(torch.ones(n, 3))",
    "pass",
)
CACHE = Program(
    "class Cache:\n    def __init__(self):\n        self.k = []\n"
    "def f(x, cache):\n"
    "    if cache.k:\n        cache.k[0] = torch.cat([cache.k[0], x])\n"
    "    else:\n        cache.k.append(x + 1)\n"
    "    return cache.k[0].sin()\n"
    "cache = Cache()",
    "for _ in range(4):\n    compiled(torch.ones(2, 3), cache)",
)
PROMPT = Program(
    CACHE.define,
    "for n in (7, 1):\n    x = torch.ones(n, 3)\n    compiled(x, cache)",
)
TRANSPOSED_CACHE = Program(
    CACHE.define,
    "cache.k = [torch.ones(3, 2).t()]\nfor _ in range(3):\n    compiled(torch.ones(2, 3), cache)",
)
SINGLE = Program(
    "def f(x):\n    return x + 1", "for x in (torch.ones(1, 3), torch.ones(5, 3)):\n    compiled(x)"
)
SINGLES = Program(
    "def f(x, y, z):\n    return x + y * z",
    "for n in (1, 5):\n    compiled(*(torch.ones(n, 3) for _ in range(3)))",
)
SIZE_AND_SINGLE = Program(
    SINGLES.define,
    "compiled(torch.ones(2, 3), torch.ones(1, 3), torch.ones(1, 3))\n"
    "compiled(*(torch.ones(5, 3) for _ in range(3)))",
)
SINGLE_AT_LAST = Program(
    "def f(x, y):\n    return x + y",
    "for n in (8, 1):\n    compiled(*(torch.ones(n, 3) for _ in range(2)))",
    "compiled = torch.compile(f, backend='eager', dynamic=True)",
)
TO_ONE = Program(
    "def f(x):\n    return x + 1",
    "for n in (4, 5, 1):\n    x = torch.ones(n, 3)\n    compiled(x)",
    "compiled = torch.compile(f, backend='eager', dynamic=True)",
)
DUCK = Program(
    "def f(x):\n    return x + 1",
    "for x in (torch.ones(4, 4), torch.ones(5, 4)):\n    compiled(x)",
    "compiled = torch.compile(f, backend='eager', dynamic=True)",
)
INTEGER = Program(
    "def f(x, n):\n    return x * n", "for n in (2, 3, 4):\n    compiled(torch.ones(3), n)"
)
FLOAT = Program(
    "def f(x, *, rate=0.1):\n    return x * rate",
    "for step in range(3):\n    compiled(torch.ones(3), rate=0.5 ** step + 0.1)",
)
SPECIALIZED = FLOAT._replace(
    compile="torch._dynamo.config.specialize_float = True\n" + FLOAT.compile
)
TYPE = Program(
    "def f(x, n):\n    return x * n", "for n in (2, 3, 4.5):\n    compiled(torch.ones(3), n)"
)
TYPE_AND_VALUE = Program(
    "def f(x, n):\n    return x * n", "for n in (2, 4.5, 3):\n    compiled(torch.ones(3), n)"
)
TYPE_BEHIND_BREAK = Program(
    "def f(x, n):\n    y = x.sum()\n    torch._dynamo.graph_break()\n    return y * n",
    "for n in (0.5, 1):\n    compiled(torch.ones(3), n)",
)
FIELD = Program(
    "class Options:\n    pass\noptions = Options()\ndef f(x, o):\n    return x * o.scale",
    "for n in (2, 3, 4):\n    options.scale = n\n    compiled(torch.ones(3), options)",
)
COUNTER = Program(
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.calls = 0\n"
    "    def forward(self, x):\n"
    "        self.calls += 1\n"
    "        return x * self.calls\n"
    "net = Net()",
    "for _ in range(4):\n    net_compiled(torch.ones(3))",
    'net_compiled = torch.compile(net, backend="eager")',
)
COUNTER_AND_NUMBER = COUNTER._replace(
    define=COUNTER.define.replace("self, x", "self, x, n").replace(
        "x * self.calls", "x * self.calls + n"
    ),
    calls="for n in (0, 0, 0, 1):\n    net_compiled(torch.ones(3), n)",
)
COUNTER_AND_SIZE = COUNTER._replace(
    calls="for n in (4, 5, 6):\n    net_compiled(torch.ones(n))",
)
COUNTER_TO_LIMIT = COUNTER._replace(
    define=COUNTER.define.replace("self", "s"),
    calls="for _ in range(12):\n    net_compiled(torch.ones(3))",
)
"""The receiver has another name than usual."""
COUNTER_THEN_SCALE = COUNTER._replace(
    define=COUNTER.define.replace("self, x", "self, x, **options").replace(
        "x * self.calls", "x * self.calls * options['scale']"
    ),
    calls="for step in range(12):\n    net_compiled(torch.ones(3), scale=1.0 + step // 8)",
)
"""The counter leads to the limit; at the limit, the scale changes too."""
GLOBAL = Program(
    "scale = 2\ndef f(x):\n    return x * scale",
    "for step in (2, 3, 4):\n    scale = scale + 1\n    compiled(torch.ones(3))",
)
STRIDE = Program(
    "def f(x):\n    return x + 1",
    "for x in (torch.ones(4, 3), torch.ones(3, 4).t()):\n    compiled(x)",
)
LAID_OUT = Program(
    "def f(x):\n    return x + 1",
    "for x in (torch.ones(4, 3), torch.ones(4, 3, requires_grad=True), torch.ones(3, 4).t()):\n"
    "    compiled(x)",
)
"""The last call differs from the first in its layout, from the second in its gradient too."""
LAID_OUT_AT_LIMIT = LAID_OUT._replace(
    compile="torch._dynamo.config.recompile_limit = 2\n" + LAID_OUT.compile
)
EXCHANGED = Program(
    "class Part(nn.Module):\n"
    "    def __init__(self, rank):\n"
    "        super().__init__()\n"
    "        self.down, self.up = nn.Linear(3, rank), nn.Linear(rank, 3)\n"
    "    def forward(self, x):\n"
    "        return self.up(self.down(x))\n"
    "net = nn.Sequential(nn.Linear(3, 3))",
    "for part in (net[0], Part(4), Part(8)):\n    net[0] = part\n    compiled(torch.ones(2, 3))",
    "compiled = torch.compile(net, backend='eager')",
)
"""The last two modules differ in their sizes, the first one in its type."""
DTYPE = Program(
    "def f(x):\n    return x + 1",
    "for x in (torch.ones(4), torch.ones(4, dtype=torch.float64)):\n    compiled(x)",
)
NO_GRADIENT = Program(
    "def f(x):\n    return x + 1",
    "for x in (torch.ones(4), torch.ones(4, requires_grad=True)):\n    compiled(x)",
)
GRADIENT = Program(
    "def f(x):\n    return x + 1",
    "for x in (torch.ones(4, requires_grad=True), torch.ones(4)):\n    compiled(x)",
)
MODE = Program(
    "def f(x):\n    return x + 1",
    "compiled(torch.ones(4))\nwith torch.no_grad():\n    compiled(torch.ones(4))",
)
EVALUATED = Program(
    "def f(x, h):\n    return h(x)",
    "for _ in range(3):\n    compiled(torch.ones(4), eval('lambda v: v + 1'))",
)
LENGTH = Program(
    "def f(xs):\n    return sum(x.sin() for x in xs)",
    "for n in (2, 3):\n    compiled([torch.ones(4)] * n)",
)
FILLED = Program(
    "def f(x, xs):\n    return x + len(xs)",
    "for n in (0, 2, 0):\n    compiled(torch.ones(4), [1] * n)",
)
EMPTIED = Program(FILLED.define, "for n in (2, 0):\n    compiled(torch.ones(4), [1] * n)")
TEXT = Program(
    "def f(x, mode):\n    return x.sin() if mode == 'sin' else x.cos()",
    "for mode in ('sin', 'cos'):\n    compiled(torch.ones(4), mode)",
)
OPTIONAL = TEXT._replace(calls=TEXT.calls.replace("('sin', 'cos')", "(None, 'sin')"))
KEYS = Program(
    "def f(q):\n    return sum(q.values())\no = torch.ones(2)",
    "for q in ({'a': o}, {'a': o, 'b': o}, {'a': o, 'c': o}, {'a': o, 'c': 1}):\n    compiled(q)",
)
NUMBER_THEN_TEXT = Program(
    "def f(x, n, mode):\n    return x.sin() * n if mode == 'sin' else x.cos() * n",
    "for n, mode in ((2, 'sin'), (3, 'sin'), (3, 'cos')):\n    compiled(torch.ones(4), n, mode)",
)
TWO_BACKENDS = Program(
    "def f(x, k):\n    return x + 1 if k else x - 1\no = torch.ones(2)",
    "compiled(o, True)\ncompiled(o, False)\nother(o, True)",
    "compiled = torch.compile(f, backend='eager')\n"
    "other = torch.compile(f, backend=lambda graph, inputs: graph)",
)
LIMIT = Program(
    "def f(x, text):\n    return x * len(text)",
    "for n in range(12):\n    compiled(torch.ones(4), 'a' * n)",
)
TO_RANK = Program(
    "def f(x):\n    return x.sin()",
    "for x in (torch.ones(3), torch.ones(4), torch.ones(4, 2)):\n    compiled(x)",
)
TO_EXCLUDED = Program(
    "def f(x):\n    return x.sin() if x.shape[0] != 4 else x.cos()",
    "for n in (5, 4):\n    x = torch.ones(n, 3)\n    compiled(x)",
    "compiled = torch.compile(f, backend='eager', dynamic=True)",
)
TO_ONE_UNNAMED = Program(
    "def f(*xs):\n    return xs[0].sin()",
    "for xs in ([torch.ones(8, 3)], [torch.ones(4, 3)], [torch.ones(1, 3)]):\n    compiled(*xs)",
)
SIZE_AND_NUMBER = Program(
    "def f(x, n):\n    return (x * n).sin()",
    "for n in (3, 4):\n    compiled(torch.ones(n), n)",
)
OPTIMIZER = Program(
    "model = nn.Linear(3, 3)\n"
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)\n"
    "def f(x):\n"
    "    optimizer.zero_grad()\n"
    "    model(x).sum().backward()\n"
    "    optimizer.step()",
    "for _ in range(3):\n    compiled(torch.ones(2, 3))",
)
SCHEDULED = Program(
    "net = nn.Linear(3, 3, bias=False)\n"
    "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    "scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)",
    "for _ in range(3):\n"
    "    net(torch.ones(2, 3)).sum().backward()\n"
    "    compiled()\n"
    "    scheduler.step()",
    "compiled = torch.compile(optimizer.step, backend='aot_eager')",
)
CYCLED = SCHEDULED._replace(
    define="net = nn.Linear(3, 3, bias=False)\n"
    "optimizer = torch.optim.Adam(net.parameters(), lr=torch.tensor(0.1))\n"
    "scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=20)",
)
SCALED = Program(
    "def f(x, y, s):\n    return torch.add(x, y, alpha=s)\nx = torch.ones(4)",
    "for s in (0.1, 0.2, 0.3):\n    compiled(x, x, s)",
    "compiled = torch.compile(f, backend='aot_eager')",
)
POWER = SCALED._replace(define="def f(x, y, s):\n    return x.clamp(max=s) ** s\nx = torch.ones(4)")
ROWS = Program(
    "def f(x, n):\n    return x + torch.zeros(n, 4)",
    "for n in (2, 3, 4):\n    compiled(torch.ones(4), n)",
)
DIVIDED = Program(
    "def f(x, n):\n    return x.view(n, x.shape[0] // n) + 1",
    "for n in (2, 4):\n    compiled(torch.ones(16), n)",
)
REPEATED = Program(
    "def f(x, n):\n    for i in range(n):\n        x = x.sin()\n    return x",
    "for n in (2, 3, 4):\n    compiled(torch.ones(4), n)",
)
UNROLLED = Program(
    "def f(x):\n    return sum(row * i for i, row in enumerate(x))",
    "for n in (2, 3, 4):\n    compiled(torch.ones(n))",
)


_number = 0


def run(define: str, compile_: str, calls: str) -> Ran:
    """Run a program that has a file of its own, as a cell has; watch what it compiles."""
    global _number
    _number += 1
    file = f"<program-{_number}>"
    text = f"{PREPARE}{define}\n{compile_}\n{calls}\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    torch._dynamo.reset()
    with watching() as watched:
        exec(compile(text, file, "exec"), {"__name__": file})
    return Ran(watched.compilations("watched"), text)


def advice_of(ran: Ran) -> list[Advice]:
    return [
        advice
        for compilation in ran.compilations
        if compilation.recompile
        for advice in compilation.recompile.advice
    ]


def suggestions_of(ran: Ran) -> list[Suggestion]:
    """What the Overview says against the recompiles."""
    variant = VariantReport(name="watched", requested=Variant(), compilations=ran.compilations)
    return [ranked.suggestion for ranked in against_recompiles(variant, None)]
