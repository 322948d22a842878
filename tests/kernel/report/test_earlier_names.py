"""Fields of saved files that have had another name."""

from __future__ import annotations

from collections.abc import Iterator

from compilescope.report import Break, DistinctBreak, FirstWrongKernel, Report, Sweep
from compilescope.report.measurements.deployment import DeployWay
from compilescope.report.saving.earlier_names import EARLIER_NAMES, PATHS
from compilescope.report.saving.storage import from_json
from compilescope.sweep.plan_file import PlanFile
from compilescope.sweep.store import StoredCell
from msgspec import inspect

from ..views_report import report


def test_fields_of_an_earlier_version_are_read_under_their_present_names() -> None:
    first = report()
    (python, *_) = first.variants
    python.breaks = [DistinctBreak(cause=Break(reason="here"), wasted_us=2.0)]
    python.first_wrong_kernel = FirstWrongKernel(compilation="0/0", kernel="k")
    python.ways = [DeployWay(name="eager", restrictions=["no gradients"])]
    python.absent["first_wrong_kernel"] = "The backend 'eager' generates no kernels."
    text = first.to_json()
    for names in EARLIER_NAMES.values():
        for old, new in names.items():
            text = text.replace(f'"{new}":', f'"{old}":')
    assert text.count('"departure":') > 1
    assert all(f'"{old}":' in text for old in ("ended_us", "gives_up", "keeping"))
    assert from_json(text) == from_json(first.to_json())


def test_names_of_the_user_are_not_taken_for_those_of_earlier_fields() -> None:
    saved = report()
    saved.sweep = Sweep(shapes=["departure"], winners={"departure": "k"})
    saved.variants[0].config = {"given_up": "1"}
    loaded = from_json(saved.to_json())
    assert loaded.sweep is not None
    assert loaded.sweep.winners == {"departure": "k"}
    assert loaded.variants[0].config == {"given_up": "1"}


def test_renamed_fields_are_read_wherever_a_file_has_their_struct() -> None:
    def places(kind: inspect.Type, path: str, structs: tuple[type, ...]) -> Iterator[str]:
        if isinstance(kind, inspect.UnionType):
            for choice in kind.types:
                yield from places(choice, path, structs)
        elif isinstance(kind, inspect.ListType | inspect.VarTupleType):
            yield from places(kind.item_type, path, structs)
        elif isinstance(kind, inspect.DictType):
            yield from places(kind.value_type, f"{path}.*", structs)
        elif isinstance(kind, inspect.StructType) and kind.cls not in structs:
            names = [field.encode_name for field in kind.fields]
            for new in EARLIER_NAMES.get(kind.cls.__name__, {}).values():
                assert new in names
                yield path.lstrip(".")
            for field in kind.fields:
                below = f"{path}.{field.encode_name}"
                yield from places(field.type, below, (*structs, kind.cls))

    kinds = map(inspect.type_info, (Report, PlanFile, StoredCell))
    assert {place for kind in kinds for place in places(kind, "", ())} == set(PATHS)
