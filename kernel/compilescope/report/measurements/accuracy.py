"""The errors of results against eager, and the first kernel with a wrong result."""

from __future__ import annotations

from ..problem import Problem, Struct

NOT_FINITE = " (not finite in one of the two"
"""Suffix of the path of an `OutputError` for which only the other elements are compared."""

SINGLE = "differs from eager's by more than its tolerance."
SEVERAL = "outputs or gradients differ from eager's by more than their tolerance."
UNLIKE = "is not what eager returns."
"""Ends of the problem of a variant whose results differ."""


def is_mismatch(problem: Problem) -> bool:
    """Whether a problem is that results of a variant differ from eager's."""
    return problem.what.endswith((SINGLE, SEVERAL, UNLIKE))


class OutputError(Struct):
    """The difference of one output from eager's."""

    path: str
    dtype: str
    max_abs: float
    max_rel: float
    tolerance_abs: float
    tolerance_rel: float
    ok: bool
    reference: str = ""
    """The reference that it was also compared with: ``eager in float64``; empty if that is
    impossible."""
    reference_abs: float | None = None
    """The largest difference from the reference."""
    eager_reference_abs: float | None = None
    """Eager's own difference from the reference."""
    other_rounding_abs: float | None = None
    """The difference between eager and eager with every operator rounded differently; None if the
    verdict did not need it."""

    @property
    def is_not_finite(self) -> bool:
        """Whether elements are not finite in one of the two."""
        return NOT_FINITE in self.path

    @property
    def is_unlike(self) -> bool:
        """Whether it is wrong by more than a number: its path says how."""
        return not self.ok and (self.is_not_finite or not self.max_abs)


NO_TENSORS = "What the call returns holds no tensor with values. The rest equals eager's."
NOTHING_TO_COMPARE = "The call returns nothing, leaves no gradient and changes no tensor."
"""Why a variant without any `OutputError` agrees with eager."""


class FirstWrongKernel(Struct):
    """The first kernel with a wrong result."""

    compilation: str
    kernel: str
    key: str = ""
    """The key of its launch, as `Region.key`."""
    buffer: str = ""
    node: str = ""
    """The node of the post-grad graph whose value it is."""
    error: OutputError | None = None
    how: str = ""
