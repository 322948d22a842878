"""Models of timm by name, for small images, with random weights.

Nothing is downloaded. timm needs the torchvision that belongs to the torch that is there::

    pip install timm

Without the library its models are left out.
"""

from __future__ import annotations

import torch

from .cases import CASES, Made, is_installed

_MODELS = {
    "mobilenet": ("mobilenetv3_small_050", 32),
    "resnet10t": ("resnet10t", 32),
    "convnext": ("convnext_atto", 32),
    "efficientnet": ("efficientnet_b0", 32),
    "regnet": ("regnetx_002", 32),
    "ghostnet": ("ghostnet_050", 32),
    "vit_tiny": ("vit_tiny_patch16_224", 224),
    "mixer": ("mixer_s32_224", 224),
}
"""Name → timm's own, and the image's size."""


def _add(name: str) -> None:
    def make() -> Made:
        import timm

        known, size = _MODELS[name]
        model = timm.create_model(known, pretrained=False)
        return model.eval().requires_grad_(False), (torch.randn(1, 3, size, size),)

    CASES[name] = make


if is_installed("timm"):
    for _name in _MODELS:
        _add(_name)
