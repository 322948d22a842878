"""A training loop with two recompiles and a graph break, for TORCH_TRACE."""

from __future__ import annotations

import torch
from torch import Tensor, nn

model = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 10))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
rows, classes = torch.randn(88, 32), torch.randint(10, (88,))


@torch.compile
def loss(rows: Tensor, classes: Tensor, smoothing: float) -> Tensor:
    logits = model(rows)
    print("batch of", len(rows))
    return nn.functional.cross_entropy(logits, classes, label_smoothing=smoothing)


# The last batch is smaller, and each epoch has another value.
for smoothing in (0.1, 0.05):
    for start in range(0, 88, 32):
        batch = slice(start, start + 32)
        optimizer.zero_grad()
        loss(rows[batch], classes[batch], smoothing).backward()
        optimizer.step()
