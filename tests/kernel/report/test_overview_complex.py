"""What the Overview suggests for complex numbers, for which Inductor generates no code."""

from __future__ import annotations

from compilescope.analysis.overview.overview import overview
from compilescope.report import Graph, Kernel, Launch, Node, Report, SourceLine

from .overview_reports import make_report, suggestion_of

LINE = SourceLine(file="model.py", line=49, function="rotate", code="return x * rotation")


def node(name: str, dtype: str, *inputs: str) -> Node:
    target = f"torch.ops.aten.{name}.default" if inputs else name
    op = "call_function" if inputs else "placeholder"
    sources = [LINE] if inputs else []
    return Node(name=name, op=op, target=target, dtype=dtype, inputs=list(inputs), sources=sources)


def library_call(name: str) -> Kernel:
    launch = Launch(artifact="python", variant="python", line=1, end=1, key=name)
    return Kernel(
        name=f"torch.ops.aten.{name}.default", language="extern", launches=[launch], nodes=[name]
    )


def of_nodes(*nodes: Node) -> Report:
    report = make_report(eager=40.0, python=90.0)
    (compilation,) = report.variant("python").compilations
    compilation.graphs["post_grad"] = Graph(stage="post_grad", text="", nodes=list(nodes))
    compilation.kernels = [library_call(each.name) for each in nodes if each.inputs]
    return report


def test_complex_operators_run_as_library_calls_and_are_to_be_real() -> None:
    report = of_nodes(
        node("x", "float32"),
        node("rotation", "complex64"),
        node("view_as_complex", "complex64", "x"),
        node("mul", "complex64", "view_as_complex", "rotation"),
        node("view_as_real", "float32", "mul"),
        node("mm", "float32", "view_as_real", "x"),
    )
    item = overview(report).suggestions[0]
    assert item.what == "Compute with real instead of complex numbers at model.py:49"
    assert "3 of 4 kernel launches are library calls, with which nothing" in item.why
    assert "x.chunk(2, -1), by cos and sin" in item.why


def test_what_an_fft_needs_stays_complex() -> None:
    transformed = node("_fft_r2c", "complex64", "x")
    inverse = node("_fft_c2r", "float32", "view_as_complex")
    views = [
        node("view_as_real", "float32", "_fft_r2c"),
        node("view_as_complex", "complex64", "view_as_real"),
    ]
    real = of_nodes(node("x", "float32"), transformed, *views, inverse)
    assert not [item for item in overview(real).suggestions if "complex" in item.what]
    product = node("mul", "complex64", "_fft_r2c")
    report = of_nodes(node("x", "float32"), transformed, product, *views, inverse)
    assert "Keep the FFT" in suggestion_of(report, "Compute with real").why
