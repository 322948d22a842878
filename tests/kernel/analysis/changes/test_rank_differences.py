"""What two ranks' reports have otherwise."""

from __future__ import annotations

from compilescope.analysis.changes.ranks import compare
from compilescope.analysis.overview.overview import overview
from compilescope.report import (
    Break,
    Code,
    Compilation,
    Guard,
    Recompile,
    RecompileCause,
    Report,
    SourceLine,
    Subject,
    VariantReport,
)
from compilescope.report.subjects.ranks import Rank
from compilescope.report.variant import Variant


def report(rank: int, code: Code) -> Report:
    return Report(
        subject=Subject(id=f"g-{rank}", name="step", kind="callable"),
        rank=Rank(rank=rank, size=2, device=f"cuda:{rank}"),
        variants=[
            VariantReport(
                name="python",
                requested=Variant(),
                compilations=[Compilation(id="0/0", code=code)],
            )
        ],
    )


def graphs(*texts: str, backward: Code | None = None, direction: str = "forward") -> Code:
    """The code of several graphs that torch compiled under one id."""
    first, *others = (Code(direction=direction, python=text) for text in texts)  # type: ignore[arg-type]
    first.others, first.backward = others, backward
    return first


def differences(here: Code, there: Code) -> list[tuple[str, str, str]]:
    reports = [report(0, here), report(1, there)]
    compare(reports)
    assert reports[1].rank is not None
    return [
        (difference.what, difference.here, difference.there)
        for difference in reports[1].rank.differences
    ]


def test_further_graphs_under_one_id_are_compared_each() -> None:
    here = graphs("a", "b", "c", backward=graphs("d", "e", direction="backward"))
    there = graphs("a", "b", "x", backward=graphs("d", "y", direction="backward"))
    assert differences(here, there) == [
        ("python: the Python wrapper, graph 3, of 0/0, line 1", "x", "c"),
        ("python: the Python wrapper, backward, graph 2, of 0/0, line 1", "y", "e"),
    ]


def test_no_side_of_a_difference_is_empty() -> None:
    (difference,) = differences(graphs("a\n\n  c"), graphs("a\nb"))
    assert difference == ("python: the Python wrapper of 0/0, line 2", "b", "… c")
    (difference,) = differences(graphs("a\nb"), graphs("a\n"))
    assert difference == ("python: the Python wrapper of 0/0, line 2", "nothing", "b")


def test_a_graph_more_is_told_and_the_others_are_compared() -> None:
    assert differences(graphs("a", "b"), graphs("x")) == [
        ("python: number of graphs of 0/0", "1", "2"),
        ("python: the Python wrapper of 0/0, line 1", "x", "a"),
    ]


def test_ranks_that_failed_have_no_device_and_are_not_the_same() -> None:
    failed = [
        Report(
            subject=Subject(id=f"g-{rank}", name="step"),
            rank=Rank(rank=rank, size=2, backend="gloo"),
        )
        for rank in range(2)
    ]
    compare(failed)
    assert [(report.rank.title, report.rank.outcome) for report in failed if report.rank] == [
        ("Rank 0 of 2, gloo", ""),
        ("Rank 1 of 2, gloo", ""),
    ]


def test_what_is_a_rank_s_own_is_no_difference() -> None:
    here = graphs("with cuda:0 at 0x7f00aa\n", "open('/tmp/ab/cd.py')")
    assert not differences(here, graphs("with cuda:1 at 0x7f00bb\n", "open('/tmp/ef/gh.py')"))


def with_guards(rank: int, *guards: str) -> Report:
    result = report(rank, Code(python="a"))
    result.variants[0].compilations[0].guards = [Guard(expression=guard) for guard in guards]
    return result


def test_the_ids_of_objects_are_no_difference_of_guards() -> None:
    guards = (
        "___check_obj_id(G['_GeneratorContextManager'], {}), type=<class 'type'>",
        "___check_type_id(___tuple_iterator_getitem(L['it'], 0), {}), type=<class 'f(a, 1)'>",
        "___check_obj_id(G['_{}_c1'].Tensor, 9)",
    )
    here = with_guards(0, *(guard.format(84962608) for guard in guards))
    there = with_guards(1, *(guard.format(140710230885776) for guard in guards))
    compare([here, there])
    assert here.rank is not None
    assert here.rank.same

    same = (guard.format(1) for guard in guards[:2])
    other = with_guards(1, *same, "___check_obj_id(G['_7_c1'].Module, 9)")
    compare([here, other])
    (difference,) = here.rank.differences
    assert difference.here == "___check_obj_id(G['_…_c1'].Tensor, …)"
    assert difference.there == "___check_obj_id(G['_…_c1'].Module, …)"


def test_a_variant_of_one_rank_alone_is_a_difference_of_both() -> None:
    alive, dead = report(0, Code(python="a")), report(1, Code(python="a"))
    dead.variants.clear()
    compare([alive, dead])
    for one, stages in ((alive, ("sources", "none")), (dead, ("none", "sources"))):
        assert one.rank is not None
        (difference,) = one.rank.differences
        assert (difference.here, difference.there) == stages
        assert difference.serious
        assert not one.rank.same


def test_what_may_hang_comes_first() -> None:
    here, there = report(0, Code(python="a")), report(1, Code(python="b"))
    here.variants.append(VariantReport(name="cpp", requested=Variant()))
    compare([here, there])
    for each in (here, there):
        assert each.rank is not None
        assert [difference.serious for difference in each.rank.differences] == [True, False]


def test_torchs_count_of_compilations_is_no_difference() -> None:
    texts = "# AOT ID: ['1_inference']\ncall()", "# AOT ID: ['2_inference']\ncall()"
    assert not differences(graphs(texts[0]), graphs(texts[1]))
    (difference,) = differences(graphs(texts[0]), graphs(texts[1] + "\nmore()"))
    assert difference == ("python: the Python wrapper of 0/0, line 3", "more()", "nothing")


def test_the_line_that_makes_a_rank_compile_more_is_named() -> None:
    """Each rank's report names it, and the Overview warns of it with a link to the Ranks view."""
    printed = SourceLine(file="/job/train.py", line=7, function="step")
    fewer, more = (report(rank, Code(python="a")) for rank in range(2))
    (compilation,) = more.variants[0].compilations
    compilation.breaks = [Break(reason="print", where=printed)]
    more.variants[0].compilations.append(Compilation(id="1/0"))
    compare([fewer, more])
    for each in (fewer, more):
        assert each.rank is not None
        (difference,) = each.rank.differences
        assert difference.why.endswith(" Rank 1 has a graph break (train.py:7); rank 0 does not.")
        assert difference.where == printed
        (warning,) = [count for count in overview(each).counts if count.warning]
        assert warning.view == "ranks"
        assert warning.text == (
            "1 difference from other ranks, 1 may hang or corrupt data (train.py:7)"
        )
        assert warning.why == difference.why

    # Without a break, a recompile, and without one the function that is compiled.
    compilation.breaks = []
    more.variants[0].compilations[1].frame = printed
    compare([fewer, more])
    assert more.rank is not None
    assert more.rank.differences[0].why.endswith(
        " Rank 1 compiles another function (train.py:7); rank 0 does not."
    )
    more.variants[0].compilations[1].recompile = Recompile(
        reasons=[], causes=[RecompileCause(subject="x.size(0)", text="x.size(0): 2 \u2192 3")]
    )
    compare([fewer, more])
    why = "Rank 1 recompiles: x.size(0): 2 \u2192 3 (train.py:7); rank 0 does not."
    assert more.rank.differences[0].why.endswith(why)


def test_ranks_with_the_same_code_are_no_warning() -> None:
    same = [report(rank, Code(python="a")) for rank in range(2)]
    compare(same)
    assert not [count for count in overview(same[0]).counts if count.view == "ranks"]
