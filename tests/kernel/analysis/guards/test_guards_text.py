"""Printed guard trees: whole, damaged, and what failing guards say."""

from __future__ import annotations

import time

import pytest
from compilescope.analysis.guards.guard_tree import (
    GuardMemory,
    GuardTree,
    parse_guards,
    select_managers,
)
from compilescope.analysis.guards.reasons.failed_guard import (
    changed_modes,
    find_guard,
    parse_failure,
)
from compilescope.report import Guard, SourceLine
from hypothesis import given, settings
from hypothesis import strategies as st

HURRIED = settings(max_examples=60)


def sound(tree: GuardTree) -> None:
    for place, manager in enumerate(tree.managers):
        assert manager.parent is None or manager.parent < place
    for guard in tree.guards:
        assert guard.manager is None or 0 <= guard.manager < len(tree.managers)
        assert guard.language in ("cpp", "python")


def printed(records) -> list[str]:
    return [
        record.payload or ""
        for case in ("mlp", "recompiles", "training", "breaks")
        for record in records(case, "python")
        if record.event == "dynamo_cpp_guards_str"
    ]


def test_guards_are_read_once_and_each_reader_has_its_own(records):
    memory = GuardMemory()
    for text in printed(records):
        first = memory.parse(text, ["/case/program.py"])
        assert first == parse_guards(text, ["/case/program.py"])
        for guard in first.guards:
            guard.fails, guard.failed, guard.cost_ns = 1, True, 2.0
        for manager in first.managers:
            manager.fails, manager.cost_ns = 1, 2.0
        assert memory.parse(text, ["/case/program.py"]) == parse_guards(text, ["/case/program.py"])


def test_the_guards_of_selected_managers_are_those_of_the_whole_tree(records):
    def on(source: str, text: str) -> list[tuple[str, str]]:
        guards = parse_guards(text).guards
        return [(guard.type, guard.source) for guard in guards if guard.source == source]

    for text in printed(records):
        sources = {manager.source for manager in parse_guards(text).managers} - {"", "L", "G"}
        assert sources
        for source in sources:
            selected = select_managers(text, lambda names, source=source: map(source.__eq__, names))
            assert on(source, selected) == on(source, text)


def test_guards_are_read_again_where_files_have_other_names():
    text = (
        "+- RootGuardManager\n| +- ID_MATCH: ___check(L['f'], 1)  # f(x)  # program.py:7 in run\n"
    )
    memory = GuardMemory()
    for files in (["/a/program.py"], ["/b/program.py", "/c/other.py"], []):
        tree = memory.parse(text, files)
        assert tree == parse_guards(text, files)
        [guard] = tree.guards
        assert guard.origin is not None
        assert guard.origin.file == (files[0] if files else "program.py")


def test_the_tree_has_every_manager_below_its_own(records):
    for text in printed(records):
        tree = parse_guards(text)
        sound(tree)
        assert tree.managers[0].kind == "RootGuardManager"
        assert sum(manager.parent is None for manager in tree.managers) == 1
        assert len(tree.managers) == text.count("Manager: source=") + 1
        for manager in tree.managers[1:]:
            assert manager.source
            assert manager.accessor
            assert manager.value_type


@given(choice=st.data())
@HURRIED
def test_damaged_trees_are_read(choice, records):
    text = choice.draw(st.sampled_from(printed(records)))
    characters = list(text)
    for _ in range(choice.draw(st.integers(0, 40))):
        place = choice.draw(st.integers(0, len(characters) - 1))
        characters[place] = choice.draw(st.characters())
    start = choice.draw(st.integers(0, len(text) // 2))
    sound(parse_guards("".join(characters)[start:]))


@given(lines=st.lists(st.text(alphabet="|+- ABManagerKeyVlu:,='#()\n0", max_size=60), max_size=30))
@HURRIED
def test_any_text_is_read(lines):
    sound(parse_guards("\n".join(lines)))
    sound(parse_guards("\n".join(f"{'| ' * (i % 4)}+- {line}" for i, line in enumerate(lines))))


@given(message=st.text(max_size=200))
@HURRIED
def test_any_failure_is_read(message):
    failure = parse_failure(message)
    find_guard(failure, [Guard(expression=message)])
    changed_modes(message, message)


def test_thousands_of_guards_are_read_fast():
    lines = ["TREE_GUARD_MANAGER:", "+- RootGuardManager"]
    for i in range(3000):
        source = f"L['self']._modules['layers']._modules['{i}']._parameters['weight']"
        lines += [
            (
                f"| +- GuardManager: source={source}, accessed_by=DictGetItemGuardAccessor('{i}'), "
                "type=<class 'torch.nn.parameter.Parameter'>, tag_safe=(True, False)"
            ),
            (
                f"| | +- TENSOR_MATCH: check_tensor({source}, Parameter, size=[4, 4])  "
                f"# return F.linear(x, w)  # tests 'and # so' on  # model.py:{i} in forward"
            ),
        ]
    start = time.thread_time()
    tree = parse_guards("\n".join(lines))
    assert time.thread_time() - start < 10
    assert len(tree.guards) == 3000
    assert tree.guards[7].origin is not None
    assert tree.guards[7].origin.line == 7
    # One line without an end to its text does not cost more than its length.
    start = time.thread_time()
    parse_guards("+- EQUALS_MATCH: L['s'] == '" + "# 'a" * 100_000)
    assert time.thread_time() - start < 10


TREE = """
+- RootGuardManager
| +- LAMBDA_GUARD: torch._functorch.x ids == None  # _dynamo/output_graph.py:1135 in init
| +- GuardManager: source=L['n'], accessed_by=FrameLocalsGuardAccessor(key='n'), type=<class 'int'>
| | +- EQUALS_MATCH: L['n'] == 3   # x * n  # a.py:1 in f (HINT: make it a tensor.)
| +- GuardManager: source=L['a'], accessed_by=PythonLambdaGuardAccessor, type=<class 'T'>, \
tag_safe=(True, True)
| | +- TYPE_MATCH: ___check_type_id(L['a'], 9), type=<class 'T'>  # x  # a.py:1 in f (HINT: type T)
| | +- GuardManager: source=L['a'].b, accessed_by=GetAttrGuardAccessor(b), type=<class 'float'>
| | | +- EQUALS_MATCH: L['a'].b == 2.5  # x  # a.py:1 in f
+- LAMBDA_GUARD: L['x'].size()[1] == L['x'].size()[0]  # duck sizing added this equality because
+- LAMBDA_GUARD: 2 <= L['x'].size()[0]  # x  # a.py:1 in f (due to 0/1 specialization in the fra)
+- SYMBOLIC_SHAPE_GUARD: 3 <= L['x'].size()[0]
"""


def test_what_carries_a_guard_out_and_why_it_is_there():
    guards, managers = parse_guards(TREE)
    assert [(guard.type, guard.language) for guard in guards] == [
        ("LAMBDA_GUARD", "python"),
        ("EQUALS_MATCH", "cpp"),
        ("TYPE_MATCH", "python"),
        ("EQUALS_MATCH", "python"),
        ("LAMBDA_GUARD", "python"),
        ("LAMBDA_GUARD", "python"),
        ("SYMBOLIC_SHAPE_GUARD", "cpp"),
    ]
    whies = [guard.why for guard in guards]
    assert "saved tensors" not in whies[0]
    assert whies[1] == "make it a tensor."
    assert "Python function" in whies[2]
    assert "float is a constant" in whies[3]
    assert "taken" not in whies[4]
    assert "use_duck_shape" in whies[4]
    assert "mark_unbacked" in whies[5]
    assert "relation" in whies[6]
    assert [manager.shortcut for manager in managers] == [False, False, True, False]
    assert [guard.manager for guard in guards] == [0, 1, 2, 3, 0, 0, 0]


SAID = {
    "tensor 'L['x']' size mismatch at index 1. expected 4, actual 5": (
        "L['x']",
        "size",
        "size(1) = 4",
        "size(1) = 5",
    ),
    "tensor 'x' stride mismatch at index 0. expected 4, actual 1. Guard failed on a parameter, "
    "consider using torch": ("x", "stride", "stride(0) = 4", "stride(0) = 1"),
    "tensor 'L['x']' dtype mismatch. expected Float, actual BFloat16": (
        "L['x']",
        "dtype",
        "float32",
        "bfloat16",
    ),
    "tensor 'L['x']' Tensor device index mismatch. Expected device index to be 0, actual 1": (
        "L['x']",
        "device",
        "0",
        "1",
    ),
    "tensor 'L['x']' dispatch key set mismatch. expected DispatchKeySet(CPU, BackendSelect), "
    "actual DispatchKeySet(CUDA, BackendSelect)": ("L['x']", "dispatch key set", "CPU", "CUDA"),
    "tensor 'L['x']' rank mismatch. expected 2, actual 1": ("L['x']", "rank", "2", "1"),
    "tensor 'L['x']' requires_grad mismatch. expected requires_grad=1": (
        "L['x']",
        "requires_grad",
        "requires_grad",
        "?",
    ),
    "expected type of 'L['x']' to be a tensor type, ' but found <class 'int'>": (
        "L['x']",
        "type",
        "a tensor",
        "?",
    ),
    "KeyError on L['d']['a']": ("L['d']['a']", "missing", "L['d']['a']", "is not there"),
    "getattr failed on source L['e'].a": ("L['e'].a", "missing", "L['e'].a", "is not there"),
    "len(L['d']) != 2": ("L['d']", "length", "2 items", "?"),
    "TYPE_MISMATCH(L['d'])": ("L['d']", "type", "the type it had", "?"),
    "GLOBAL_STATE changed: grad_mode ": ("", "global", "", "grad_mode"),
    "L['k'] == 'a # b'   # y = x  # note  # m.py:3 in f": ("L['k']", "value", "'a # b'", "?"),
    "L['k'] is None  # y  # m.py:3 in f": ("L['k']", "value", "None", "?"),
    "L['k'] is not None  # y  # m.py:3 in f": ("L['k']", "value", "not None", "?"),
    "not L['args']": ("L['args']", "value", "empty or false", "?"),
    "not ___dict_contains('k', L['d'])": ("L['d']", "key", "no key 'k'", "the key 'k'"),
    "2 <= L['x'].size()[0] <= 9": (
        "L['x'].size()[0]",
        "relation",
        "2 <= L['x'].size()[0] <= 9",
        "L['x'].size()[0] = ?",
    ),
    "Duplicate tensor found where not expected!": (
        "",
        "alias",
        "different tensors",
        "the same tensor twice",
    ),
}


@pytest.mark.parametrize("message", SAID)
def test_what_torch_says_of_a_failing_guard(message):
    failure = parse_failure(message, lambda _: "?")
    source, kind, expected, result = SAID[message]
    assert (failure.source, failure.kind, failure.expected) == (source, kind, expected)
    assert failure.actual == result or result == "?"


def test_the_failing_guard_is_found_in_the_report():
    guards = [
        Guard(expression="L['k'] == 2", type="EQUALS_MATCH", source="L['k']"),
        Guard(expression="check_tensor(L['x2'])", type="TENSOR_MATCH", source="L['x2']"),
        Guard(expression="check_tensor(L['x'])", type="TENSOR_MATCH", source="L['x']"),
        Guard(expression="L['e'].ab == 1", type="EQUALS_MATCH", source="L['e'].ab"),
        Guard(expression="L['e'].a.b == 1", type="EQUALS_MATCH", source="L['e'].a.b"),
    ]
    for message, place in {
        "L['k'] == 2  # y  # m.py:3 in f": 0,
        "tensor 'L['x']' rank mismatch. expected 2, actual 1": 2,
        "getattr failed on source L['e'].a": 4,
        "L['other'] == 2": None,
        "GLOBAL_STATE changed: grad_mode ": None,
    }.items():
        assert find_guard(parse_failure(message), guards) == place


def test_global_modes_are_compared():
    expression = '___check_global_state() against {"grad_mode":true,"num_threads":2}'
    assert changed_modes(expression, '{"grad_mode":false,"num_threads":2}') == (
        "grad_mode = true",
        "grad_mode = false",
    )
    assert changed_modes(expression, "?") == ("", "")


def test_a_line_in_a_folder_whose_name_has_a_blank():
    result = "| +- EQUALS_MATCH: L['k'] == 2   # y = x * k  # my models/net.py:7 in forward"
    guards, _ = parse_guards(f"+- RootGuardManager\n{result}\n")
    (guard,) = guards
    assert guard.expression == "L['k'] == 2"
    assert guard.origin == SourceLine(
        file="my models/net.py", line=7, function="forward", code="y = x * k"
    )
