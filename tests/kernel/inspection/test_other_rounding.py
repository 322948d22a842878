"""How far results may differ from eager's by rounding: by rounding each operation otherwise."""

from __future__ import annotations

import pytest
import torch
from compilescope.builds.comparison.call_result import outcome_of
from compilescope.builds.comparison.compare_with_eager import Reference
from compilescope.isolation.user_state import preserved
from compilescope.torch_api.operators.other_rounding import with_other_rounding

pytestmark = pytest.mark.slow


def test_a_long_sum_may_round_as_one_term_after_the_other() -> None:
    """Eager adds in pairs; half a step a term is what a vector's lane may be off by."""
    x = torch.full((64, 32_768), 0.1)
    with with_other_rounding(0):
        total, product = x.sum(1), x * 2
    off = (total / 3276.8 - 1).abs().max().item()
    assert 2e-5 < off < 2 * 32_768 / 32 * torch.finfo(torch.float32).eps
    assert (product / 0.2 - 1).abs().max().item() <= 4 * torch.finfo(torch.float32).eps
    half = torch.full((64, 32_768), 0.1, dtype=torch.bfloat16)
    with with_other_rounding(0):
        total = half.sum(1)
    assert (total.float() / half.sum(1).float() - 1).abs().max() <= 3 * torch.finfo(half.dtype).eps


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
def test_masks_of_the_least_number_stay_finite(dtype: torch.dtype) -> None:
    scores, mask = torch.randn(8, 64, dtype=dtype), torch.finfo(dtype).min
    with with_other_rounding(0):
        masked = scores + mask
        shares = masked.softmax(-1)
    assert masked.isfinite().all()
    assert shares.isfinite().all()


def test_what_cannot_round_is_not_changed() -> None:
    x, places = torch.randn(1000), torch.arange(1000)

    def exact() -> list[torch.Tensor]:
        written = x.clone()
        written[5:9] = x[:4]
        written[places > 990] = 2.1
        return [
            x.floor(),
            x.sign(),
            torch.cat([x, x]).relu(),
            torch.where(x > 0, x, torch.ones_like(x)).max(),
            x[places].gather(0, places).sort().values,
            x.double(),
            written,
        ]

    def inexact() -> list[torch.Tensor]:
        added = x.index_put((places,), x, accumulate=True)
        return [x.half(), x.round(decimals=2), x.clone().mul_(2), added]

    for results, are_exact in ((exact, True), (inexact, False)):
        expected = results()
        with with_other_rounding(0):
            rounded = results()
        assert [torch.equal(*pair) for pair in zip(rounded, expected, strict=True)] == [
            are_exact
        ] * len(rounded)


def test_the_mean_of_millions_is_not_off_by_percents() -> None:
    x = torch.rand(4_000_000)
    with preserved(torch.mean, (x,)) as snapshot:
        reference = Reference(torch.mean, (x,), {}, snapshot)
        assert reference.agrees(outcome_of(x.mean() * 1.0001, None)) is True
        assert reference.agrees(outcome_of(x.mean() * 1.001, None)) is False


def test_a_sum_of_products_has_as_many_terms_as_the_factors_share() -> None:
    batches = torch.rand(64, 4, 640), torch.rand(64, 640, 4)
    image, weight = torch.rand(1, 64, 8, 8), torch.rand(8, 64, 3, 3)
    eps = torch.finfo(torch.float32).eps
    with with_other_rounding(0):
        product = torch.bmm(*batches)
        added = torch.baddbmm(torch.rand(64, 4, 4), *batches)
        image_of = torch.nn.functional.conv2d(image, weight)
    assert added.shape == product.shape
    for result, right, terms in (
        (product, torch.bmm(*batches), 640),
        (image_of, torch.nn.functional.conv2d(image, weight), 576),
    ):
        steps = ((result / right - 1) / eps).abs().max().item()
        assert 0.7 * terms / 32 < steps < terms / 32 + 2
