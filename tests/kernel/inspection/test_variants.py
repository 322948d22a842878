"""What ``variants`` takes, what it is called, and what is said of anything else."""

from __future__ import annotations

from typing import Any

import compilescope as cs
import pytest
import torch._inductor
from compilescope.inspection import variants
from compilescope.session.session import Session
from compilescope.targets import known_devices
from torch._dynamo.backends.registry import list_backends

MODES = list(torch._inductor.list_mode_options())
NAMES = ["python", "cpp", *[mode for mode in MODES if mode != "default"], "eager"]
SETTINGS = ["backend", "mode", "cpp_wrapper", "dynamic", "fullgraph", "options", "target"]


def listed(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names)


def f(x: torch.Tensor) -> torch.Tensor:
    return x + 1


WRONG: dict[str, tuple[Any, str]] = {
    "unknown name": ("pythn", f"There is no variant 'pythn'. Available: {listed(NAMES)}."),
    "unknown name in a list": (
        ["cpp", "C++"],
        f"There is no variant 'C++'. Available: {listed(NAMES)}.",
    ),
    "no variants": ((), f"variants is empty. Name some of {listed(NAMES)}."),
    "a number": (
        3,
        f"variants is an int. Give names ({listed(NAMES)}), Variant objects, or a dict of them.",
    ),
    "a list of numbers": (
        [None],
        (
            f"A variant is None. Give a name ({listed(NAMES)}), a Variant, or a dict of its "
            "settings."
        ),
    ),
    "mode": (
        cs.Variant(mode="max"),
        f"There is no mode 'max'. Available: {listed(MODES)}.",
    ),
    "mode's type": (
        {"mine": {"mode": ["max"]}},
        "A variant's mode is ['max']. It takes the name of a mode, or None.",
    ),
    "setting": (
        [{"cpp": True}],
        f"There is no variant setting 'cpp'. Available: {listed(SETTINGS)}.",
    ),
    "backend's type": (
        {"mine": {"backend": 3}},
        "A variant's backend is 3. It takes the name of a backend, a function, or None for eager.",
    ),
    "cpp_wrapper": (
        cs.Variant(cpp_wrapper="no"),
        "A variant's cpp_wrapper is 'no'. It takes True or False.",
    ),
    "dynamic": (
        [{"dynamic": "maybe"}],
        "A variant's dynamic is 'maybe'. It takes True, False or None.",
    ),
    "fullgraph": (
        [{"fullgraph": None}],
        "A variant's fullgraph is None. It takes True or False.",
    ),
    "options' type": (
        [{"options": ["max_autotune"]}],
        "A variant's options is ['max_autotune']. It takes a dict of Inductor's settings.",
    ),
    "option": (
        cs.Variant(options={"freezin": True}),
        "There is no option 'freezin'. Did you mean 'freezing'?",
    ),
    "option like no other": (
        cs.Variant(options={"qqqqqqqq": True}),
        "There is no option 'qqqqqqqq'. See torch._inductor.list_options().",
    ),
    "option's value": (
        cs.Variant(options={"max_autotune": "yes"}),
        "The option 'max_autotune' takes bool, not str ('yes').",
    ),
    "target": (
        cs.Variant(target="H1000"),
        (
            "There is no target 'H1000'. Did you mean 'h100'? Available: "
            f"{', '.join(map(repr, known_devices.names()))}. To add a target:\n\n"
            "    import compilescope\n"
            "    compilescope.add_target('H1000', like='h100', multiprocessors=60)"
        ),
    ),
    "Inductor's settings for another backend": (
        cs.Variant(backend="aot_eager", cpp_wrapper=True),
        (
            "The backend 'aot_eager' takes no cpp_wrapper, mode or options. They are Inductor's "
            "settings; the only option it takes is guard_filter_fn. Use backend='inductor', or "
            "leave them out."
        ),
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_variant_names_what_is_allowed(case: str) -> None:
    given, message = WRONG[case]
    session = Session()
    with pytest.raises(cs.CompilescopeError) as error:
        session.inspect(f, (torch.ones(2),), variants=given)
    assert str(error.value) == message
    assert session.inspections == {}


def test_a_wrong_backend_names_those_to_use() -> None:
    with pytest.raises(cs.CompilescopeError) as error:
        variants.parse([cs.Variant(backend="nope")])
    message = str(error.value)
    assert message.startswith("There is no backend 'nope'. Available: 'aot_eager', ")
    assert "'inductor'" in message
    assert "'compilescope'" not in message
    assert set(message.split("'")[3::2]) <= set(list_backends(exclude_tags=None))


def test_torchs_own_spelling_of_the_cpp_wrapper_is_the_switch() -> None:
    written = cs.Variant(options={"cpp_wrapper": True, "epilogue_fusion": False})
    switched = cs.Variant(cpp_wrapper=True, options={"epilogue_fusion": False})
    assert variants.parse(written) == variants.parse(switched)
    assert variants.parse(cs.Variant(cpp_wrapper=True, options={"cpp_wrapper": False})) == {
        "python": cs.Variant()
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_a_variant(name: str) -> None:
    (item,) = variants.parse(name).items()
    assert item == (name, variants.named()[name])
    assert variants.name_of(item[1]) == name


def test_variants_may_be_given_in_several_ways() -> None:
    dynamic = cs.Variant(dynamic=True)
    assert variants.parse(dynamic) == {"python dynamic": dynamic}
    assert variants.parse(["cpp", dynamic, {"dynamic": False, "cpp_wrapper": True}]) == {
        "cpp": cs.Variant(cpp_wrapper=True),
        "python dynamic": dynamic,
        "cpp static": cs.Variant(cpp_wrapper=True, dynamic=False),
    }
    assert variants.parse({"mine": "cpp", "yours": {"mode": "max-autotune"}}) == {
        "mine": cs.Variant(cpp_wrapper=True),
        "yours": cs.Variant(mode="max-autotune"),
    }


@pytest.mark.parametrize(
    ("variant", "name"),
    [
        (cs.Variant(), "python"),
        (cs.Variant(mode="default"), "python"),
        (cs.Variant(backend=None, cpp_wrapper=True), "eager"),
        (cs.Variant(backend="aot_eager", fullgraph=True), "backend=aot_eager fullgraph"),
        (cs.Variant(cpp_wrapper=True, mode="max-autotune"), "cpp max-autotune"),
        (
            cs.Variant(options={"size_asserts": False, "freezing": True}),
            "python freezing=True size_asserts=False",
        ),
        (cs.Variant(target="H100"), "python on H100"),
    ],
)
def test_names(variant: cs.Variant, name: str) -> None:
    assert variants.name_of(variant) == name
