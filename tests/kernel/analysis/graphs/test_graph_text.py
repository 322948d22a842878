"""Graphs read from their text."""

from __future__ import annotations

import time

import pytest
from compilescope.analysis.graphs.annotations import read_annotation
from compilescope.analysis.graphs.graph_text import Statements, parse_graph
from compilescope.report import Node, SourceLine
from hypothesis import given, settings
from hypothesis import strategies as st

DTYPES = {"f32": "float32", "bf16": "bfloat16", "i64": "int64", "b8": "bool"}

sizes = st.one_of(st.integers(0, 5000).map(str), st.sampled_from(["s0", "s77", "s0 + 1", "2*s3"]))
arguments = st.one_of(
    st.integers(-9, 9).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["None", "True", "torch.float32", "[1, 0]", "(32,)", "device(type='cpu')"]),
    st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), max_size=8).map(repr),
)
sources = st.builds(
    SourceLine,
    file=st.sampled_from(["/case/program.py", "/tmp/ipykernel_7/1234.py", "C:\\model.py"]),
    line=st.integers(1, 10**6),
    function=st.sampled_from(["forward", "f", "<lambda>", "torch_dynamo_resume_in_f_at_3"]),
    code=st.sampled_from(["return x", "y = f(x)  # code: no", "", "x = {'a': 1}"]),
)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[str, list[Node]]:
    """A graph's text as FX prints it, and its nodes."""
    nodes: list[Node] = []

    def tensor(name: str, op: str, target: str, args: str, inputs: list[str]) -> Node:
        shape = draw(st.lists(sizes, max_size=3))
        return Node(
            name=name,
            op=op,
            target=target,
            args=args,
            inputs=inputs,
            shape=shape,
            stride=draw(st.lists(sizes, min_size=len(shape), max_size=len(shape))),
            dtype=draw(st.sampled_from(sorted(DTYPES))),
            device=draw(st.sampled_from(["cpu", "cuda:0", "meta"])),
        )

    for number in range(draw(st.integers(1, 3))):
        name = f"arg{number}_1"
        nodes.append(tensor(name, "placeholder", name, "", []))
    for number in range(draw(st.integers(0, 8))):
        used = draw(st.lists(st.sampled_from([node.name for node in nodes]), max_size=3))
        used = list(dict.fromkeys(used))
        args = ", ".join([*used, *draw(st.lists(arguments, max_size=2))])
        target = draw(st.sampled_from(["torch.ops.aten.add.Tensor", "torch.nn.functional.gelu"]))
        node = tensor(f"op_{number}", "call_function", target, args, used)
        node.sources = draw(st.lists(sources, max_size=1))
        nodes.append(node)
    last = nodes[-1].name
    nodes.append(
        Node(name="output", op="output", target="output", args=f"({last},)", inputs=[last])
    )
    text = _print(nodes, long=draw(st.booleans()), frees=draw(st.booleans()))
    by_name = {node.name: node for node in nodes}
    for node in nodes:
        for name in node.inputs:
            by_name[name].users.append(node.name)
        if node.dtype:
            node.dtype = DTYPES[node.dtype]
    return text, nodes


def _print(nodes: list[Node], *, long: bool, frees: bool) -> str:
    lines = ["class GraphModule(torch.nn.Module):"]
    inputs = [node for node in nodes if node.op == "placeholder"]
    if long:
        lines += ["    def forward(", "        self,"]
        for node in inputs:
            node.line = len(lines) + 1
            lines.append(f"        {node.name}: {_annotation(node)},  # PlainAOTInput(idx=0)")
        lines.append("    ):")
    else:
        for node in inputs:
            node.line = 2
        given = ", ".join(f"{node.name}: {_annotation(node)}" for node in inputs)
        lines.append(f"    def forward(self, {given}):")
    current: list[SourceLine] | None = None
    for node in nodes[len(inputs) :]:
        if node.op == "output":
            node.line = len(lines) + 1
            lines.append(f"        return {node.args}")
            continue
        if node.sources != current:
            current = node.sources
            said = "No stacktrace found for following nodes"
            for item in current:
                said = f"File: {item.file}:{item.line} in {item.function}, code: {item.code}"
            lines += ["", f"        # {said}"]
        end = f";  {node.inputs[0]} = None" if frees and node.inputs else ""
        node.line = len(lines) + 1
        lines.append(f"        {node.name}: {_annotation(node)} = {node.target}({node.args}){end}")
    return "\n".join(lines)


def _annotation(node: Node) -> str:
    shape, stride = ", ".join(node.shape or []), ", ".join(node.stride or [])
    return f'"{node.dtype}[{shape}][{stride}]{node.device}"'


@given(graphs())
@settings(max_examples=200)
def test_what_is_printed_is_read(graph):
    text, nodes = graph
    assert parse_graph(text) == nodes


@given(st.text(max_size=300))
@settings(max_examples=200)
def test_any_text_is_survived(text):
    parse_graph(text)
    parse_graph("class G(torch.nn.Module):\n    def forward(self, x):\n        " + text)


def make_node(line: str, before: str = "x, y") -> Node:
    text = f"class G(torch.nn.Module):\n    def forward(self, {before}):\n        {line}\n"
    return parse_graph(text)[-1]


@pytest.mark.parametrize(
    ("line", "op", "target", "inputs"),
    [
        ("z = x + y", "call_function", "operator.add", ["x", "y"]),
        ("z = x @ 2.5e-05", "call_function", "operator.matmul", ["x"]),
        ("z = -x;  x = None", "call_function", "operator.neg", ["x"]),
        ("z = x[(0, slice(None, None, None))]", "call_function", "operator.getitem", ["x"]),
        ("z = x.sin()", "call_method", "sin", ["x"]),
        ("z = x.softmax(-1);  x = None", "call_method", "softmax", ["x"]),
        ("z = x.T", "call_function", "getattr", ["x"]),
        ("z = self.blocks.fc(x)", "call_module", "blocks.fc", ["x"]),
        ('z = getattr(self.blocks, "0").fc(x)', "call_module", "blocks.0.fc", ["x"]),
        ("z = self._tensor_constant0", "get_attr", "_tensor_constant0", []),
        ("x += y;  z = x", "call_function", "operator.iadd", ["x", "y"]),
        ("z = torch.foo(x, x = y)", "call_function", "torch.foo", ["x", "y"]),
        ("z = torch.foo('x', \"y\")", "call_function", "torch.foo", []),
        ("z = torch.foo([x, (y, 1)], dim = -1)", "call_function", "torch.foo", ["x", "y"]),
        ("z : torch.Size = x.size()", "call_method", "size", ["x"]),
    ],
)
def test_expressions(line, op, target, inputs):
    node = make_node(line)
    assert (node.name, node.op, node.target, node.inputs) == ("z", op, target, inputs)


def test_a_renamed_placeholder_keeps_its_target():
    nodes = parse_graph(
        'class G(torch.nn.Module):\n    def forward(self, L_x_: "f32[4][1]cpu"):\n'
        "        l_x_ = L_x_\n        sin = l_x_.sin();  l_x_ = None\n        return (sin,)\n"
    )
    assert [(node.name, node.op, node.target) for node in nodes] == [
        ("l_x_", "placeholder", "L_x_"),
        ("sin", "call_method", "sin"),
        ("output", "output", "output"),
    ]
    assert nodes[0].users == ["sin"]
    assert nodes[0].shape == ["4"]


def test_the_joint_graph_declares_its_inputs(compiled):
    joint = compiled("training", "python")[0].graphs["joint"]
    inputs = [node for node in joint.nodes if node.op == "placeholder" and node.dtype]
    assert {"primals_1", "tangents_1"} <= {node.name for node in inputs}
    assert all(node.line for node in inputs)


def test_graphs_in_graphs_have_their_own_names(compiled):
    nodes = compiled("fallbacks", "python")[0].graphs["post_grad"].nodes
    names = [node.name for node in nodes]
    assert len(names) == len(set(names))
    branches = [name for name in names if name.startswith("true_graph_0.")]
    assert "true_graph_0.sin" in branches
    assert "true_graph_0.output" in branches
    assert "output" in names


@pytest.mark.parametrize("wrapper", ["python", "cpp"])
@pytest.mark.parametrize("case", ["breaks", "fallbacks", "mlp", "recompiles", "training"])
def test_every_line_of_real_graphs_is_understood(case, wrapper, compiled):
    for compilation in compiled(case, wrapper):
        for graph in compilation.graphs.values():
            lines = graph.text.split("\n")
            assert graph.nodes[-1].op == "output"
            for node in graph.nodes:
                assert node.target, node
                assert node.line is not None
                if node.op != "output":
                    assert node.name.rpartition(".")[2] in lines[node.line - 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32[4, 32][32, 1]cpu", (["4", "32"], ["32", "1"], "float32", "cpu")),
        ("f32[][]cuda:0", ([], [], "float32", "cuda:0")),
        ("f16[s0, 4]", (["s0", "4"], None, "float16", None)),
        ("DTensor(f32[4][1]cpu, S(0))", (["4"], ["1"], "float32", "cpu")),
        ("Sym(s0)", (None, None, None, None)),
        ("f4e2m1fn_x2[4][1]cpu", (["4"], ["1"], "f4e2m1fn_x2", "cpu")),
        (None, (None, None, None, None)),
    ],
)
def test_annotations(text, expected):
    assert read_annotation(text) == expected


@given(
    st.lists(st.sampled_from(["x", "f(", ")", "g([", "])", "h(1)", "f(  # )", "# ("]), max_size=12)
)
def test_a_statement_ends_where_its_brackets_balance(lines):
    def expected(start: int) -> tuple[str, int]:
        level, parts = 0, []
        for index in range(start, len(lines)):
            parts.append(lines[index].split("  #")[0])
            level += sum(parts[-1].count(c) for c in "([") - sum(parts[-1].count(c) for c in ")]")
            if level <= 0:
                return (lines[start] if index == start else "\n".join(parts)), index
        return lines[start], start

    statements = Statements(lines)
    for start, line in enumerate(lines):
        if not line.startswith("#"):
            assert statements.read(start) == expected(start)


def test_a_big_graph_is_read_in_linear_time():
    def text(count: int) -> str:
        body = "\n".join(
            f'        x{i}: "f32[4][1]cpu" = torch.ops.aten.add.Tensor(x{i - 1}, {i});  '
            f"x{i - 1} = None"
            for i in range(1, count)
        )
        return f"class G(torch.nn.Module):\n    def forward(self, x0):\n{body}\n"

    def seconds(count: int) -> float:
        given, best = text(count), 1e9
        for _ in range(3):
            start = time.thread_time()  # its own: others may be busy
            assert len(parse_graph(given)) == count
            best = min(best, time.thread_time() - start)
        return best

    assert seconds(8000) < 40 * seconds(1000), "the square would be 64"
