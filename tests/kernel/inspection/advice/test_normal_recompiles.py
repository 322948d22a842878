"""Where each compilation serves another kind of call, nothing is to change."""

from __future__ import annotations

import pytest
from compilescope.analysis.guards.compiled_values import Values
from compilescope.analysis.guards.reasons.expected_recompiles import BACKENDS as BACKENDS_DIFFER
from compilescope.analysis.guards.reasons.expected_recompiles import is_avoidable, normal_recompile
from compilescope.analysis.guards.reasons.parse_reason import read_failure
from compilescope.analysis.guards.reasons.recompile_words import describe
from compilescope.report import Failure, Recompile

from .recompiling_programs import LENGTH, MODE, SIZES, Program, advice_of, run, suggestions_of

pytestmark = pytest.mark.usefixtures("settings_kept")

TRAINED = Program(
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.part = nn.Linear(3, 3)\n"
    "    def forward(self, x):\n"
    "        return self.part(x) * (0.5 if self.training else 1.0)\n"
    "net = Net()\n"
    "x = torch.ones(2, 3)",
    "for epoch in range(2):\n"
    "    compiled.train()\n"
    "    compiled(x)\n"
    "    compiled.eval()\n"
    "    with torch.no_grad():\n"
    "        compiled(x)",
    "compiled = torch.compile(net, backend='eager')",
)
AUTOCAST = Program(
    "def f(x):\n    return x.sin()\nx = torch.ones(2)",
    "with torch.autocast('cpu', dtype=torch.bfloat16):\n    compiled(x)\n"
    "with torch.no_grad():\n    compiled(x)",
)
FLAG = Program(
    "def f(x, verbose):\n    return x.sin() if verbose else x.cos()\nx = torch.ones(2)",
    "for verbose in (False, True, False):\n    compiled(x, verbose)",
)
BACKENDS = Program(
    "def f(x):\n    return x.sin()\nnarrow, wide = torch.ones(3), torch.ones(4)",
    "compiled(narrow)\nother(narrow)\nother(wide)",
    "compiled = torch.compile(f, backend='eager')\nother = torch.compile(f, backend='aot_eager')",
)
DETERMINISTIC = Program(
    "def f(x):\n    return x.sin()\nx = torch.ones(2)",
    "for on in (True, False):\n    torch.use_deterministic_algorithms(on)\n    compiled(x)",
)
BRANCH = Program(
    "def f(x):\n    return x.sin() if x.shape[0] > 10 else x.cos()",
    "for n in (4, 5, 12, 6):\n    compiled(torch.ones(n, 3))",
    "compiled = torch.compile(f, backend='eager', dynamic=True)",
)
DECODER = Program(
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.cache = None\n"
    "    def forward(self, x):\n"
    "        old = self.cache or (x[:0], x[:0])\n"
    "        self.cache = tuple(torch.cat([each, x]) for each in old)\n"
    "        return self.cache[0] + self.cache[1]\n"
    "net = Net()\n"
    "x = torch.ones(1, 3)",
    "for _ in range(4):\n    compiled(x)",
    "compiled = torch.compile(net, backend='eager')",
)
NORMAL = "One compilation for {} is normal; nothing to change."
TRAINING = NORMAL.format("training and one for evaluation")


@pytest.mark.parametrize(
    ("program", "what", "why"),
    [
        (TRAINED, "recompile 0/1", f"The calls differ in grad mode, training mode. {TRAINING}"),
        (AUTOCAST, "recompile 0/1", f"The calls differ in grad mode, autocast. {TRAINING}"),
        (
            FLAG,
            "recompile 0/1 (verbose: False → True)",
            f"The calls differ in verbose. {NORMAL.format('each of its two values')}",
        ),
        (
            BRANCH,
            "recompile 0/1 (x.size(0): 2 to 10 → 12)",
            f"The code branches on x.size(0). {NORMAL.format('each branch')}",
        ),
    ],
    ids=["training", "autocast", "flag", "branch"],
)
def test_a_compilation_for_each_kind_of_call_needs_no_change(
    program: Program, what: str, why: str
) -> None:
    ran = run(program.define, program.compile, program.calls)
    assert ran.recompiles == 1
    (suggestion,) = suggestions_of(ran)
    assert suggestion.what.startswith(f"No change needed for {what}")
    assert (suggestion.why, suggestion.code, suggestion.gain) == (why, "", "")


def test_a_cache_that_the_first_call_creates_and_each_call_extends_needs_no_change() -> None:
    ran = run(DECODER.define, DECODER.compile, DECODER.calls)
    assert ran.recompiles == 2
    created, grown = suggestions_of(ran)
    assert created.what == "No change needed for recompile 0/1 (self.cache: None → tuple)"
    assert created.why == f"The calls differ in self.cache. {NORMAL.format('each kind of call')}"
    assert grown.what == "No change needed for recompile 0/2 (self.cache[0].size(0): 1 → 2)"
    assert grown.why == (
        "torch compiles sizes of 0 and 1 separately. self.cache[0].size(0), self.cache[1].size(0) "
        "are symbols in the new compilation, which serves larger sizes too without a recompile; "
        "nothing to change."
    )


@pytest.mark.parametrize(
    ("program", "avoidable"),
    [
        (TRAINED, False),
        (AUTOCAST, False),
        (FLAG, False),
        (DETERMINISTIC, False),
        (BRANCH, False),
        (SIZES, True),
    ],
    ids=["training", "autocast", "flag", "deterministic", "branch", "sizes"],
)
def test_torchs_messages_alone_tell_what_is_normal(program: Program, avoidable: bool) -> None:
    ran = run(program.define, program.compile, program.calls)
    (recompile,) = [each.recompile for each in ran.compilations if each.recompile is not None]
    assert is_avoidable(recompile) == avoidable
    # As a reader of a trace's outlines has it.
    assert is_avoidable(Recompile(reasons=recompile.reasons)) == avoidable
    # An outline has the failures of the messages, with new values where it knows them.
    failures = [read_failure(reason, {}, Values((), {})) for reason in recompile.reasons]
    assert is_avoidable(Recompile(reasons=recompile.reasons, failures=failures)) == avoidable


def test_another_backend_is_normal_and_removes_no_other_recompile() -> None:
    ran = run(BACKENDS.define, BACKENDS.compile, BACKENDS.calls)
    backend, size = suggestions_of(ran)
    assert backend.what == "No change needed for recompile 0/1 (backend: eager → aot_eager)"
    assert (backend.why, backend.code) == (BACKENDS_DIFFER, "")
    assert "x.size(0): 3 → 4" in size.what
    assert "with several backends or modes: each still has its own compilation" in size.why


def test_a_mode_of_inductor_is_another_backend() -> None:
    inductor = "<class 'torch._TorchCompileInductorWrapper'> (id=0x7f{})"
    reason = (
        f"0/0: BACKEND_MATCH failure: torch.compile detected different backend callables. "
        f"Cached backend: {inductor.format(1)}. New backend: {inductor.format(2)}. If this is "
        "unexpected, wrap your backend."
    )
    failure = read_failure(reason, {}, Values((), {}))
    assert describe(failure).text == "backend: inductor → another inductor"
    assert normal_recompile([failure]) == BACKENDS_DIFFER


def test_one_grad_mode_is_not_asked_of_training_and_evaluation() -> None:
    (advice,) = advice_of(run(MODE.define, MODE.compile, MODE.calls))
    assert "One compilation for training and one for evaluation is normal" in advice.what


def test_at_the_limit_the_limit_is_raised_for_kinds_of_calls() -> None:
    ran = run(FLAG.define, f"torch._dynamo.config.recompile_limit = 1\n{FLAG.compile}", FLAG.calls)
    assert [advice.kind for advice in advice_of(ran)] == ["limit"]
    (suggestion,) = suggestions_of(ran)
    assert suggestion.what == "Avoid the fallback to eager"
    assert suggestion.place.startswith("before the first call")


def test_what_has_many_values_is_no_kind_of_call() -> None:
    flag = Failure(guard="L['a'] == True", source="L['a']", kind="value", old="True", new="False")
    text = Failure(guard="L['b'] == 'x'", source="L['b']", kind="value", old="'x'", new="'y'")
    threads = Failure(guard="GLOBAL_STATE changed: num_threads", kind="global_state")
    single = Failure(guard="", source="L['x']", kind="size", dimension=0, old="at least 2", new="1")
    assert normal_recompile([flag])
    for change in (text, threads, single):
        assert normal_recompile([flag, change]) == ""
    kinds = [advice.kind for advice in advice_of(run(LENGTH.define, LENGTH.compile, LENGTH.calls))]
    assert kinds == ["stance"]
