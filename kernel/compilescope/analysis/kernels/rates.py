"""The peak rates of a device, and the rate that applies to a kernel."""

from __future__ import annotations

from ...report import Peaks, devices

VECTOR = "vector "
"""Begins the key of a rate outside of matrix products, where it is another than within."""


def specified(device: str, specification: devices.Device) -> Peaks:
    """The peaks of a device that is in the catalog."""
    vector = {f"{VECTOR}{name}": rate for name, rate in specification.vector.items()}
    return Peaks(
        device=device,
        name=specification.name,
        bandwidth_bytes_per_s=specification.bandwidth_bytes_per_s,
        operations_per_s={**specification.products, **vector},
        how="specified",
        source=f"{specification.source.title} ({specification.source.date}); dense rates.",
    )


def rate_of(peaks: Peaks, dtype: str, *, product: bool, tf32: bool = False) -> float | None:
    """Operations a second that a kernel could reach.

    Parameters
    ----------
    dtype
        torch's name, without ``torch.``.
    product
        Whether it is a matrix product, a convolution or an attention. Everything else that
        Inductor generates computes in float32, also for shorter floats.
    tf32
        Whether float32 products may be rounded to TF32.
    """
    rates = peaks.operations_per_s
    if product:
        if dtype == "float32" and tf32 and "tf32" in rates:
            return rates["tf32"]
        return rates.get("float8" if dtype.startswith("float8") else dtype)
    if not dtype.startswith(("float", "bfloat")):
        return None
    wide = "float64" if dtype == "float64" else "float32"
    return rates.get(f"{VECTOR}{wide}", rates.get(wide))
