"""What is inspected, in words; and what cannot be."""

from __future__ import annotations

import contextlib
import functools
import inspect
import linecache
from collections.abc import Callable
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report.errors import CompilescopeError
from compilescope.subject import arguments
from compilescope.subject.subject import describe, unwrap
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

x = torch.ones(4, 8)


def plain(x: torch.Tensor, *, scale: float = 1.0) -> torch.Tensor:
    return x * scale


def decorated(fn: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(fn)
    def with_twos(*args: Any) -> Any:
        return fn(*args, 2)

    return with_twos


@decorated
def takes_two(x: torch.Tensor, two: int) -> torch.Tensor:
    return x * two


async def waits(x: torch.Tensor) -> torch.Tensor:
    return x


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(8, 2)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        return self.fc(x)

    def loss(self, x: torch.Tensor) -> torch.Tensor:
        return self(x).sum()


class Holder:
    @classmethod
    def made(cls, x: torch.Tensor) -> torch.Tensor:
        return x


class Callable_:
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x


def in_a_circle(x: torch.Tensor) -> torch.Tensor:
    return x.sin()


in_a_circle.__wrapped__ = in_a_circle  # type: ignore[attr-defined]


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


def test_a_callable_that_says_it_wraps_itself_is_described() -> None:
    result = describe(in_a_circle, (x,))
    assert result.where is not None
    assert result.where.line == line_of("def in_a_circle")


def test_values_that_cannot_be_written_are_named_by_their_type() -> None:
    def takes(x: torch.Tensor, number: int, part: slice) -> torch.Tensor:
        return x

    result = describe(takes, (x, 10**5000, slice(Unspeakable())))
    assert result.arguments == ["x: float32[4, 8] cpu", "number: int", "part: slice"]


def line_of(text: str) -> int:
    source = inspect.getsource(inspect.getmodule(line_of) or line_of)
    return next(n for n, line in enumerate(source.splitlines(), 1) if line.strip().startswith(text))


@pytest.mark.parametrize(
    ("fn", "kind", "name"),
    [
        (plain, "function", "plain"),
        (lambda x: x + 1, "lambda", "<lambda>"),
        (Net(), "module", "Net"),
        (Net().loss, "method", "Net.loss"),
        (functools.partial(plain, scale=2.0), "callable", "plain"),
        (Callable_(), "callable", "Callable_"),
        (torch.relu, "function", "relu"),
        (takes_two, "function", "takes_two"),
        (nn.Sequential(nn.Linear(8, 2)), "module", "Sequential"),
    ],
)
def test_kinds(fn: Callable[..., Any], kind: str, name: str) -> None:
    subject = describe(fn, (x,))
    assert subject.kind == kind
    assert subject.name == name


@pytest.mark.parametrize(
    ("fn", "line"),
    [
        (plain, "def plain"),
        (takes_two, "def takes_two"),
        (Net(), "def forward"),
        (Net().loss, "def loss"),
        (Callable_(), "def __call__"),
        (functools.partial(plain, scale=2.0), "def plain"),
    ],
)
def test_where(fn: Callable[..., Any], line: str) -> None:
    where = describe(fn, (x,)).where
    assert where is not None
    assert where.file == __file__
    assert where.line == line_of(line)
    assert where.code.startswith(line)


def test_a_builtin_stands_nowhere() -> None:
    assert describe(torch.relu, (x,)).where is None


def test_a_notebook_cell() -> None:
    name, text = "/tmp/ipykernel_1/2345.py", "import torch\ndef cell(x):\n    return x + 1\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), namespace)
    first = describe(namespace["cell"], (x,))
    assert first.where is not None
    assert (first.where.file, first.where.line) == (name, 2)
    assert first.where.code == "def cell(x):"
    exec(compile(text, name, "exec"), namespace)
    assert describe(namespace["cell"], (x,)).id == first.id


@pytest.mark.parametrize("wrap", [lambda f: f, torch.no_grad()])
def test_compiled_callables_are_unwrapped(wrap: Callable[..., Any]) -> None:
    net = Net()
    assert unwrap(torch.compile(net)) is net
    assert unwrap(torch.compile(torch.compile(plain))) is plain
    fn = wrap(plain)
    assert unwrap(torch.compile(fn)) is fn
    assert unwrap(torch.compile(net.loss)) == net.loss
    partial = unwrap(functools.partial(torch.compile(plain), scale=2.0))
    assert isinstance(partial, functools.partial)
    assert partial.func is plain
    assert partial.keywords == {"scale": 2.0}


def test_a_method_compiled_in_its_class() -> None:
    class Model(Net):
        score = torch.compile(Net.loss, backend="eager")

    model = Model()
    method = unwrap(model.score)
    assert method.__self__ is model
    assert method.__func__ is Net.loss
    assert describe(model.score, (x,)).name == "Model.loss"


def test_a_module_compiled_in_place() -> None:
    net = Net()
    net.compile(backend=lambda *_: pytest.fail("compiled"))
    assert torch.equal(unwrap(net)(x), net.forward(x))
    subject = describe(net, (x,))
    assert (subject.kind, subject.name) == ("module", "Net")


def test_wrappers_that_are_not_torchs_stay() -> None:
    compiled = torch.compile(plain)

    @functools.wraps(compiled)
    def outer(x: torch.Tensor) -> torch.Tensor:
        return compiled(x) + 1

    disabled = torch.compiler.disable(plain)
    assert unwrap(outer) is outer
    assert unwrap(disabled) is disabled


def test_argument_lines() -> None:
    def fn(a: Any, b: Any, *rest: Any, flag: bool = False, **more: Any) -> None: ...

    lines = describe(
        fn,
        (
            torch.zeros(4, 8, dtype=torch.bfloat16, requires_grad=True),
            torch.zeros(2, 3).t(),
            torch.tensor(1),
            [x, x, x, x],
            {"ids": torch.zeros(2, dtype=torch.int64), 3: None},
        ),
        {"flag": True, "text": "y" * 100, "net": Net(), "empty": ()},
    ).arguments
    assert lines == [
        "a: bfloat16[4, 8] cpu requires_grad",
        "b: float32[3, 2] cpu strides [1, 3]",
        "rest[0]: int64[] cpu",
        "rest[1]: list of 4 (float32[4, 8] cpu, float32[4, 8] cpu, float32[4, 8] cpu, …)",
        "rest[2]: dict of 2 ('ids': int64[2] cpu, 3: None)",
        "flag: True",
        f"text: '{'y' * 38}…",
        "net: Net",
        "empty: tuple of 0",
    ]


def test_a_nested_tensor_in_words() -> None:
    parts = [torch.ones(2, 4), torch.ones(3, 4)]
    nested = torch.nested.nested_tensor(parts, layout=torch.strided)
    assert arguments.lines(plain, (nested,), {}) == ["x: float32[2, *, 4] cpu"]
    empty = torch.nested.nested_tensor([], layout=torch.strided)
    assert arguments.lines(plain, (empty,), {}) == ["x: float32[0] cpu"]


def test_arguments_that_a_decorator_changes() -> None:
    assert describe(takes_two, (x,)).arguments == ["args[0]: float32[4, 8] cpu"]
    assert describe(torch.relu, (x,)).arguments == ["args[0]: float32[4, 8] cpu"]


def test_device_is_that_of_the_tensors_reached() -> None:
    meta = nn.Linear(8, 2, device="meta")
    assert describe(meta, (x,)).device == "cpu"


def test_containers_within_each_other_are_listed_to_a_depth() -> None:
    deep: list[object] = [1]
    for _ in range(2000):
        deep = [deep]
    around: list[object] = [2]
    around.append(around)
    listed = arguments.lines(lambda x: x, (deep,), {}), arguments.lines(lambda x: x, (around,), {})
    assert listed[0] == ["x: list of 1 (list of 1 (list of 1 (list of 1 (list of 1))))"]
    assert listed[1][0].startswith("x: list of 2 (2, list of 2 (2, ")
    report = cs.inspect(lambda x: x[0] + 1, (around,), variants="python", run=False)
    assert report.variants[0].stage == "sources"


def test_ids_tell_subjects_apart() -> None:
    def make(net: nn.Module) -> Callable[..., Any]:
        return lambda x: net(x)

    net, other = Net(), Net()
    same = make(net)
    ids = [
        describe(fn, args).id
        for fn, args in [
            (net, (x,)),
            (other, (x,)),
            (net, (torch.ones(5, 8),)),
            (net.loss, (x,)),
            (other.loss, (x,)),
            (same, (x,)),
            (make(other), (x,)),
            (lambda x: x + 1, (x,)),
            (lambda x: x + 2, (x,)),
            (functools.partial(plain, scale=1.0), (x,)),
            (functools.partial(plain, scale=2.0), (x,)),
        ]
    ]
    assert len(set(ids)) == len(ids)
    assert describe(net, (torch.zeros(4, 8),)).id == ids[0]
    assert describe(torch.compile(net), (x,)).id == ids[0]
    assert describe(same, (x,)).id == ids[5]


@pytest.mark.parametrize(
    ("fn", "args", "kwargs", "what", "why"),
    [
        (x, (x,), None, "A Tensor is not callable.", "not what it returns"),
        (plain, x, None, "args is a Tensor, not a tuple.", "together"),
        (plain, "x", None, "args is a str, not a tuple.", "together"),
        (plain, (x,), [1], "kwargs is a list", ""),
        (plain, (x,), {1: 2}, "kwargs is a dict", ""),
        (Net, (x,), None, "Net is a class, not a module.", "make a module"),
        (waits, (x,), None, "waits is an async function.", "takes no coroutines"),
        (plain, (), None, "plain cannot be called", "Missing a required argument: 'x'"),
        (plain, (x, x), None, "plain cannot be called", "Too many positional arguments"),
        (plain, (x,), {"scal": 1}, "plain cannot be called", "unexpected keyword argument 'scal'"),
        (Net(), (), None, "Net cannot be called", "Missing a required argument: 'x'"),
        (Net().loss, (), None, "Net.loss cannot be called", "Missing a required argument: 'x'"),
    ],
)
def test_what_cannot_be_called_is_said(
    fn: Any, args: Any, kwargs: Any, what: str, why: str
) -> None:
    with pytest.raises(CompilescopeError) as caught:
        describe(fn, args, kwargs)
    problem = caught.value.problem
    assert problem.what.startswith(what)
    assert why in problem.why
    assert "inspect(" in problem.remedy


def test_fake_tensors_cannot_be_run() -> None:
    with FakeTensorMode(), pytest.raises(CompilescopeError, match="A FakeTensorMode is active"):
        describe(plain, (torch.ones(2),))


def test_a_hook_may_add_arguments() -> None:
    class Pair(nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return a + b

    pair = Pair()
    with pytest.raises(CompilescopeError):
        describe(pair, (x,))
    pair.register_forward_pre_hook(lambda module, args: (*args, args[0]))
    assert describe(pair, (x,)).arguments == ["args[0]: float32[4, 8] cpu"]


def test_describing_changes_nothing() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise AssertionError("shown")

        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

    with contextlib.suppress(RuntimeError):
        describe(lambda loud: loud, (Loud(),))
    assert describe(lambda loud: loud, (Loud(),)).arguments == ["loud: Loud"]


class Unshown:
    """A value whose ``repr`` raises."""

    def __repr__(self) -> str:
        raise ValueError("no repr")


@pytest.mark.parametrize("default", [Unshown(), "d" * 100_000], ids=["raises", "long"])
def test_what_a_message_quotes_of_the_user_is_bounded(default: object) -> None:
    def takes(x: torch.Tensor, value: object = default) -> torch.Tensor:
        return x

    with pytest.raises(cs.CompilescopeError) as error:
        cs.inspect(takes, (torch.ones(2),), {"n" * 100_000: 1}, run=False)
    assert "takes cannot be called with these arguments." in str(error.value)
    assert len(str(error.value)) < 2000


def test_a_class_method_is_called_by_its_class() -> None:
    subject = describe(Holder.made, (x,))
    assert (subject.kind, subject.name) == ("method", "Holder.made")
