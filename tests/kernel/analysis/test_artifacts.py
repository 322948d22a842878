"""Guards, breaks, recompiles, phases, caches: each from its record's text."""

from __future__ import annotations

import json

import msgspec
import pytest
from compilescope.analysis.assemble import assemble
from compilescope.analysis.graphs.provenance import Origin, Provenance, merge
from compilescope.analysis.guards.guard_tree import parse_guards
from compilescope.analysis.guards.reasons.logged_reasons import parse_recompile
from compilescope.analysis.phases.caches import parse_cache
from compilescope.analysis.phases.phases import build_phases
from compilescope.analysis.problems.breaks import parse_break
from compilescope.analysis.text.wrapper_marks import Mark
from compilescope.capture.records import Record
from compilescope.report import Node, Phase, SourceLine


def test_guards():
    text = """
TREE_GUARD_MANAGER:
+- RootGuardManager
| +- GLOBAL_STATE: ___check_global_state() against {"grad_mode":false}
| +- DEFAULT_DEVICE: device == None       # _dynamo/output_graph.py:1122 in init_ambient_guards
| +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor(key='x'), type=<class 'T'>
| | +- TENSOR_MATCH: check_tensor(L['x'], size=[4, 4])  # y = x.cos()  # program.py:37 in f
| | +- EQUALS_MATCH: L['s'] == '  # no comment'  # s = "#"  # other.py:1 in g
| | +- DictGuardManager: source=L['x'].d, accessed_by=GetAttrGuardAccessor(d), type=<class 'dict'>
| | | +- DICT_LENGTH: len(L['x'].d) == 1
| | | +- KeyValueManager pair at index=0
| | | | +- ValueManager: GuardManager: source=L['x'].d['k'], accessed_by=None, type=<class 'int'>
| | +- NO_TENSOR_ALIASING
| +- EQUALS_MATCH: G['text'] == 'one
two'  # text  # program.py:3 in f
+- LAMBDA_GUARD: 2 <= L['x'].size()[0]  # x * n  # program.py:43 in f (user code shown is first use)

Guard latency = 48.76 us
"""
    guards, managers = parse_guards(text, ["/case/program.py", "/a/other.py", "/b/other.py"])
    assert [(guard.type, guard.source) for guard in guards] == [
        ("GLOBAL_STATE", ""),
        ("DEFAULT_DEVICE", ""),
        ("TENSOR_MATCH", "L['x']"),
        ("EQUALS_MATCH", "L['x']"),
        ("DICT_LENGTH", "L['x'].d"),
        ("NO_TENSOR_ALIASING", "L['x']"),
        ("EQUALS_MATCH", "G['text']"),
        ("LAMBDA_GUARD", "L['x'].size()[0]"),
    ]
    tensor, _, length, _, text_guard, size = guards[2:]
    assert tensor.expression == "check_tensor(L['x'], size=[4, 4])"
    assert tensor.origin == SourceLine(
        file="/case/program.py", line=37, function="f", code="y = x.cos()"
    )
    assert length.origin is None
    assert text_guard.expression == "G['text'] == 'one\ntwo'"
    assert size.expression == "2 <= L['x'].size()[0]"
    assert size.origin is not None
    assert size.origin.line == 43
    assert guards[1].origin is not None
    assert guards[1].origin.file == "_dynamo/output_graph.py"  # not among the known files
    assert guards[3].origin is not None
    assert guards[3].origin.file == "other.py"  # two files end so
    assert guards[3].expression == "L['s'] == '  # no comment'"
    assert guards[3].origin.code == 's = "#"'
    assert [
        (manager.kind, manager.source, manager.accessor, manager.parent) for manager in managers
    ] == [
        ("RootGuardManager", "", "", None),
        ("GuardManager", "L['x']", "FrameLocalsGuardAccessor(key='x')", 0),
        ("DictGuardManager", "L['x'].d", "GetAttrGuardAccessor(d)", 1),
        ("GuardManager", "L['x'].d['k']", "value 0", 2),
    ]
    assert managers[1].value_type == "T"
    assert [guard.manager for guard in guards] == [0, 0, 1, 1, 2, 1, 0, 0]


def test_every_guard_of_the_tree_is_read(records, compiled):
    for case in ("breaks", "mlp", "recompiles", "training"):
        texts = [
            record.payload or ""
            for record in records(case, "python")
            if record.event == "dynamo_cpp_guards_str"
        ]
        lines = [line for text in texts for line in text.split("\n") if "+- " in line]
        leaves = [line for line in lines if "Manager" not in line.split("+- ")[1].split(":")[0]]
        results = [
            guard for compilation in compiled(case, "python") for guard in compilation.guards
        ]
        assert len(results) == len(leaves)
        users = [guard for guard in results if guard.origin and "program.py" in guard.origin.file]
        assert users
        assert all(guard.origin.file == "/case/program.py" for guard in users)


def test_a_break():
    result = parse_break(
        """Graph break in user code at /case/program.py:39
Graph Break Reason: Encountered graph break when attempting to trace CALL: a call, e.g. f(x, y):

Data-dependent branching
  Explanation: Detected branching on data.

      Computed as follows:
        gt = gt(sum_1, 0)

  Hint: Use `torch.cond`.
  Hint: Give up:
    or try again.

  Developer debug context: attempted to jump

 For more details about this graph break, please visit: https://example.org/gb0170.html

Stack variable source attribution:
  TensorVariable() originated from:
  File "/elsewhere.py", line 1

User code traceback:
  File "/case/program.py", line 41, in <module>
    f(x)
    ^^^^
  File "/case/program.py", line 39, in f
    if y.sum() > 0:

Traceback (most recent call last):
  File "/site-packages/torch/_dynamo/symbolic_convert.py", line 1, in wrapper
    return inner_fn(self, inst)
"""
    )
    assert result.reason == "Data-dependent branching"
    assert result.explanation.startswith("Detected branching on data.")
    assert "gt = gt(sum_1, 0)" in result.explanation
    assert result.hints == ["Use `torch.cond`.", "Give up:\nor try again."]
    assert result.context == "attempted to jump"
    assert result.link == "https://example.org/gb0170.html"
    assert result.stack == [
        SourceLine(file="/case/program.py", line=41, function="<module>", code="f(x)"),
        SourceLine(file="/case/program.py", line=39, function="f", code="if y.sum() > 0:"),
    ]
    assert result.where == result.stack[1]


@pytest.mark.parametrize("text", ["", "Graph break in user code at x", "nothing of the kind\n\n"])
def test_a_break_in_other_words(text):
    result = parse_break(text)
    assert result.reason == text.strip()
    assert result.where is None


def test_breaks_of_every_attempt_stay(compiled):
    by_name = {compilation.id: compilation for compilation in compiled("breaks", "python")}
    assert by_name["0/0"].attempt == 1
    assert [graph_break.where.line for graph_break in by_name["0/0"].breaks] == [16]
    assert by_name["0/0"].graphs["dynamo"].text.count("cos") > 0
    skipped = by_name["3/0"]
    assert skipped.graphs == {}
    assert skipped.breaks
    assert "no operation" in skipped.absent["dynamo"]


@pytest.mark.parametrize(
    ("text", "reasons", "previous"),
    [
        ("0/0: tensor 'x' size mismatch", ["0/0: tensor 'x' size mismatch"], "0/0"),
        (
            '["0/1: n == 2\\nUser stack trace:\\n  File", "0/0: y"]',
            ["0/1: n == 2", "0/0: y"],
            "0/1",
        ),
        ("Unable to find recompilation reasons", ["Unable to find recompilation reasons"], ""),
        ("", [], ""),
        ("[]", [], ""),
        ("7", ["7"], ""),
    ],
)
def test_recompiles(text, reasons, previous):
    recompile = parse_recompile(text)
    assert (recompile.reasons, recompile.previous) == (reasons, previous)


def event(name: str, kind: str, at: float, owner: str | None = "0/0", thread: int = 1) -> Record:
    payload = {"name": name, "ph": kind, "ts": at, "args": {"compile_id": owner or "None"}}
    return Record(event="chromium_event", metadata={}, payload=json.dumps(payload), thread=thread)


def shape(phases: list[Phase]) -> list[object]:
    return [
        [phase.name, phase.start_us, phase.duration_us, shape(phase.children)] for phase in phases
    ]


def test_phases_nest():
    phases = build_phases(
        [
            event("dynamo", "B", 1000),
            event("backend", "B", 1100),
            event("other", "B", 1150, "1/0"),
            event("other", "E", 1160, "1/0"),
            event("cache_miss", "i", 1050),
            event("build", "B", 1110, None, thread=2),
            event("build", "E", 1190, None, thread=2),
            event("backend", "E", 1200),
            event("dynamo", "E", 1300),
        ]
    )
    build = ["build", 110.0, 80.0, []]
    assert shape(phases["0/0"]) == [
        [
            "dynamo",
            0.0,
            300.0,
            [["cache_miss", 50.0, 0.0, []], ["backend", 100.0, 100.0, [build]]],
        ]
    ]
    assert shape(phases["1/0"]) == [["other", 150.0, 10.0, []]]


def test_phases_that_are_cut_or_damaged():
    phases = build_phases(
        [
            event("never begun", "E", 5),
            event("never ended", "B", 10),
            event("inside", "B", 20),
            event("inside", "E", 30),
            Record(event="chromium_event", metadata={}, payload="{"),
            Record(event="chromium_event", metadata={}, payload='{"ph": "B"}'),
            Record(event="chromium_event", metadata={}, payload="[]"),
        ]
    )
    assert shape(phases["0/0"]) == [["never ended", 0.0, 20.0, [["inside", 10.0, 10.0, []]]]]


def test_real_phases_hold_their_children(compiled):
    def check(phase: Phase) -> int:
        end = phase.start_us + phase.duration_us + 1
        for child in phase.children:
            assert phase.start_us <= child.start_us
            assert child.start_us + child.duration_us <= end
        return 1 + sum(map(check, phase.children))

    for item in compiled("training", "cpp"):
        assert [phase.name for phase in item.phases][:1] == ["dynamo"]
        assert sum(map(check, item.phases)) > 20


@pytest.mark.parametrize(
    ("name", "payload", "expected"),
    [
        ("fx_graph_cache_miss", '{"key": "fk"}', ("FX graph", "miss", "fk", "")),
        (
            "aotautograd_cache_bypass",
            '{"cache_bypass_reason": "cond"}',
            ("AOTAutograd", "bypass", "", "cond"),
        ),
        ("other_cache_hit", "not json", ("other", "hit", "", "not json")),
        ("other_cache_hit", None, ("other", "hit", "", "")),
    ],
)
def test_caches(name, payload, expected):
    cache_event = parse_cache(name, payload)
    assert cache_event is not None
    assert (cache_event.cache, cache_event.outcome, cache_event.key, cache_event.detail) == expected


def test_other_artifacts_are_no_caches():
    assert parse_cache("dynamo_graph_break_reason", "") is None


def test_a_reset_begins_the_ids_anew(compiled):
    first, second = compiled("cached", "python")
    assert (first.id, second.id) == ("0/0", "0/0")
    assert [candidate.outcome for candidate in first.cache] == ["miss", "miss"]
    assert [candidate.outcome for candidate in second.cache][-1] == "hit"
    assert "before_post_grad" in first.graphs
    assert "before_post_grad" not in second.graphs
    assert "cache" in second.absent["before_post_grad"]
    assert second.graphs["post_grad"].nodes
    assert second.code.python == first.code.python
    assert first.phases
    assert second.phases
    assert second.phases[0].start_us == 0.0


def test_what_is_missing_says_why(compiled):
    (inference,) = compiled("mlp", "python")
    assert "inference" in inference.absent["backward"]
    assert inference.code.absent.keys() == {"cpp", "shell"}
    (training,) = compiled("training", "cpp")
    assert "training" in training.absent["inference"]
    assert training.code.absent.keys() == {"python"}
    assert "modules" in training.graphs["forward"].absent


def test_live_nodes_take_the_place_of_the_text(records):
    given = records("mlp", "python")
    (plain,) = assemble(given, variant="python")
    text = plain.graphs["post_grad"].text
    live = list(plain.graphs["post_grad"].nodes)
    for node in live:
        node.module, node.line = "blocks.0", None
    (result,) = assemble(given, variant="python", nodes={text: live})
    graph = result.graphs["post_grad"]
    assert graph.nodes == live
    assert "modules" not in graph.absent
    assert all(node.line for node in graph.nodes)
    assert "modules" in result.graphs["dynamo"].absent


def test_a_branch_keeps_its_nodes_beside_live_ones(records):
    given = records("fallbacks", "python")
    (plain,) = assemble(given, variant="python")
    text = plain.graphs["post_grad"].text
    live = [node for node in plain.graphs["post_grad"].nodes if "." not in node.name]
    (result,) = assemble(given, variant="python", nodes={text: live})
    assert [node.name for node in result.graphs["post_grad"].nodes[: len(live)]] == [
        node.name for node in live
    ]
    assert result.graphs["post_grad"].nodes[len(live) :]
    assert [kernel.nodes for kernel in result.kernels] == [kernel.nodes for kernel in plain.kernels]


def test_code_generated_after_a_restart_belongs_to_the_last_attempt(records):
    """Generated from a capture, the code's records name attempt 0 whatever Dynamo's was."""
    given = [record for record in records("breaks", "python") if record.compile_id == "0/0"]
    again = [
        Record(
            event=record.event,
            metadata=record.metadata,
            payload=record.payload,
            compile_id=record.compile_id,
            attempt=0 if record.name.startswith(("inductor", "before_post")) else record.attempt,
        )
        for record in given
    ]
    (result,) = assemble(again, variant="python")
    assert result.attempt == 1
    assert result.code.python is not None
    assert "post_grad" in result.graphs


def test_an_attempt_that_came_to_nothing_shows_no_older_code(records):
    given = [record for record in records("breaks", "python") if record.compile_id == "0/0"]
    failed = Record(
        event="artifact",
        metadata={"artifact": {"name": "dynamo_error"}},
        compile_id="0/0",
        attempt=2,
    )
    (result,) = assemble([*given, failed], variant="python")
    assert result.graphs == {}
    assert result.code.python is None
    assert result.breaks


def test_nothing_from_nothing():
    assert assemble([], variant="python") == []


def test_several_graphs_under_one_id_are_all_kept(records):
    """DistributedDataParallel's optimizer splits a graph before Inductor sees it."""
    given = records("mlp", "python")
    names = ("before_post_grad_graph", "inductor_post_grad_graph", "inductor_output_code")
    (plain,) = assemble(given, variant="python")
    again = [record for record in given if record.name in names]
    (result,) = assemble([*given, *again], variant="python")
    assert result.code.python == plain.code.python
    assert [other.python for other in result.code.others] == [plain.code.python]
    assert "2 inference graphs" in result.absent["inference graphs"]
    assert len(result.kernels) == 2 * len(plain.kernels)
    keys = [launch.key for kernel in result.kernels for launch in kernel.launches]
    assert len(keys) == len(set(keys))


def test_the_graph_after_the_passes_by_its_older_name(records):
    """Torch 2.7 to 2.10 log it as an artifact."""
    given = records("mlp", "python")
    (plain,) = assemble(given, variant="python")
    older = [
        msgspec.structs.replace(
            record,
            event="artifact",
            metadata={"artifact": {"name": "after_post_grad_graph"}},
        )
        if record.name == "inductor_post_grad_graph"
        else record
        for record in given
    ]
    (result,) = assemble(older, variant="python", raw=True)
    assert result.graphs["post_grad"].text == plain.graphs["post_grad"].text
    assert [kernel.nodes for kernel in result.kernels] == [kernel.nodes for kernel in plain.kernels]
    assert "after_post_grad_graph" not in [event.name for event in result.raw]


def test_tables_without_debug_handles_name_kernels():
    """Torch 2.7 and 2.8, and AOTInductor's C++ there, which has no comments."""
    mapping = {"cppCodeToPost": {"cpp_fused_mul_0": ["mul"]}}
    stacks = {"cpp_fused_mul_0": ['  File "/user/model.py", line 7, in forward\n    x * 2\n']}
    provenance = Provenance(mapping=json.dumps(mapping), stacks=json.dumps(stacks))
    origin = provenance.origin_of(Mark("launch", 1, 1, kernel="cpp_fused_mul_0"))
    assert origin.nodes == ["mul"]
    assert [(line.file, line.line) for line in origin.sources] == [("/user/model.py", 7)]


@pytest.mark.parametrize(
    ("kernel", "lines"),
    [("extern_kernels.addmm", [2, 1, 3]), ("cpp_fused_addmm_view_0", [3, 1, 2])],
)
def test_the_line_of_the_operator_that_a_kernel_is_for_comes_first(
    kernel: str, lines: list[int]
) -> None:
    targets = ["aten.view.default", "aten.addmm.default", "aten.view.default"]
    nodes = [
        Node(
            name=f"node_{line}",
            op="call_function",
            target=f"torch.ops.{target}",
            sources=[SourceLine("/user/model.py", line, "forward", "")],
        )
        for line, target in enumerate(targets, 1)
    ]
    mapping = {"cppCodeToPost": {kernel: [node.name for node in nodes]}}
    provenance = Provenance(nodes, mapping=json.dumps(mapping))
    origin = provenance.origin_of(Mark("launch", 1, 1, kernel=kernel))
    assert [line.line for line in origin.sources] == lines
    # What a forward computes ahead for the backward is at its end, and not what the kernel is for.
    program = [Node(name=name, op="call_function", target=name) for name in ("norm", "loss")]
    before = {"loss": ["node_1", "node_2"], "norm": ["node_3"]}
    ahead = json.dumps({"preToPost": before, **mapping})
    forward = Provenance(nodes, program, mapping=ahead).origin_of(
        Mark("launch", 1, 1, kernel=kernel)
    )
    assert forward.sources[0].line == 2
    later = Origin(sources=[SourceLine("/user/model.py", 9, "forward", "")])
    assert [line.line for line in merge([origin, later], {}).sources] == [lines[0], 9, *lines[1:]]


def test_aot_inductors_kernels_of_a_trace_name_their_nodes(records):
    given = records("mlp", "python")
    post_grad = next(record for record in given if record.name == "inductor_post_grad_graph")
    (plain,) = assemble(given, variant="python")
    node = next(
        node
        for node in plain.graphs["post_grad"].nodes
        if node.op.startswith("call") and node.sources
    )
    mapping = {"cppCodeToPost": {"aoti_torch_cpu_addmm_out:1": [node.name]}}
    code = (
        "void AOTInductorModel::run_impl(\n    AtenTensorHandle* input_handles\n) {\n"
        "    // [Provenance debug handles] aoti_torch_cpu_addmm_out:1\n"
        "    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_addmm_out(buf0, a, b, c, 1L, 1L));\n"
        "}\n"
    )
    dumped = [
        post_grad,
        Record(
            event="artifact",
            metadata={"artifact": {"name": "inductor_provenance_tracking_node_mappings"}},
            payload=json.dumps(mapping),
        ),
        Record(
            event="graph_dump",
            metadata={"graph_dump": {"name": "inductor_aot_wrapper_code"}},
            payload=code,
        ),
    ]
    dumped = [msgspec.structs.replace(record, compile_id="0/0") for record in dumped]
    (result,) = assemble(dumped, variant="python")
    (kernel,) = result.kernels
    assert kernel.nodes == [node.name]
    (launch,) = (region for region in result.code.regions["aot"] if region.kind == "launch")
    assert launch.nodes == [node.name]
    assert launch.sources == kernel.sources == node.sources[-1:]
