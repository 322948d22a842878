"""Shares of a call: by layers, and by steps of a wrapper."""

from __future__ import annotations

import compilescope as cs
import msgspec
import pytest
from compilescope.report import Compilation, Layer, Layers, Report, Steps, Subject, VariantReport
from compilescope.report.compilation.wrapper_steps import Step, sum_kinds
from compilescope.report.saving.storage import from_json
from compilescope.views.rows import steps as step_rows


@pytest.mark.parametrize(
    ("whole", "shares", "together"),
    [
        (100.0, [0.1, 0.2, 0.5, 0.0], 0.8),
        (64.0, [0.125, 0.25, 0.625, 0.0], 1.0),  # longer than the call: of their sum
    ],
)
def test_layers_share_a_call(whole: float, shares: list[float], together: float) -> None:
    times = [("guards", 10.0), ("kernels", 20.0), ("kernels", 50.0), ("other", -2.0)]
    layers = Layers(whole_us=whole, layers=[Layer(kind=kind, us=us) for kind, us in times])  # type: ignore[arg-type]
    assert [layer.share for layer in layers.layers] == pytest.approx(shares)
    assert [(kind.kind, kind.us) for kind in layers.kinds] == [
        ("guards", 10.0),
        ("kernels", 70.0),
        ("other", -2.0),
    ]
    guards, first, second, other = shares
    assert [kind.share for kind in layers.kinds] == pytest.approx([guards, first + second, other])
    assert (layers.sum_us, layers.sum_share) == (78.0, pytest.approx(together))


def test_a_call_without_time_has_no_shares() -> None:
    layers = Layers(whole_us=0.0, layers=[Layer(kind="other", us=-1.0)])
    assert (layers.kinds[0].share, layers.sum_share) == (None, None)


def test_a_file_of_an_earlier_version_gets_the_shares() -> None:
    steps = [Step(kind="launch", start=1, end=1, us=3.0), Step(kind="free", start=2, end=2, us=1.0)]
    wrapper = Steps(artifact="python", steps=steps, whole_us=4.0, sum_us=4.0)
    variant = VariantReport(name="python", requested=cs.Variant())
    variant.compilations = [Compilation(id="0/0", steps=[wrapper])]
    variant.layers = [Layers(whole_us=4.0, layers=[Layer(kind="guards", us=1.0)])]
    plain = msgspec.json.decode(
        Report(subject=Subject(id="s", name="f"), variants=[variant]).to_json()
    )
    (written,) = plain["variants"]
    for name in ("kinds", "sum_share"):
        del written["layers"][0][name]
    del written["layers"][0]["layers"][0]["share"]
    (loaded,) = from_json(msgspec.json.encode(plain)).variants
    assert loaded.layers[0] == variant.layers[0]
    (of_steps,) = loaded.compilations[0].steps
    assert [(kind.kind, kind.share) for kind in of_steps.kinds] == [
        ("launch", 0.75),
        ("free", 0.25),
    ]


def test_rows_of_steps_show_the_shares() -> None:
    steps = [
        Step(kind="launch", start=1, end=1, us=99.6),
        Step(kind="free", start=2, end=2, us=0.4),
        Step(kind="call", start=3, end=3),
    ]
    wrapper = Steps(artifact="python", steps=steps, whole_us=102.0, sum_us=100.0)
    wrapper.kinds = sum_kinds(steps)
    graph = step_rows.Graph("0/0", "inference", [("python", wrapper)])
    assert step_rows.rows(graph) == [
        ("kernel launch", "1", "99.6 µs", "100 %"),
        ("extern call", "1", "", ""),
        ("free", "1", "0.40 µs", "0.4 %"),
        ("sum", "3", "100 µs", ""),
    ]
