"""What the tests of ranks inspect; made in each rank's process."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as collectives
from compilescope.torch_api.process import caches
from torch import Tensor, nn
from torch.distributed.tensor import DeviceMesh
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from torch.nn.parallel import DistributedDataParallel

Call = tuple[Callable[..., Any], tuple[Any, ...]]


class Net(nn.Module):
    """Two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = nn.Linear(8, 2)

    def forward(self, x: Tensor) -> Tensor:
        """Runs them."""
        tensor: Tensor = self.second(torch.relu(self.first(x)))
        return tensor


def sharded(x: Tensor, shard: Tensor, how: str = "sum") -> Tensor:
    """As FSDP does: gather the weight, use it, scatter the result."""
    group = dist.group.WORLD
    weight = collectives.all_gather_tensor(shard, 0, group)
    result = torch.relu(x @ weight)
    mine = collectives.reduce_scatter_tensor(result, "sum", 0, group)
    tensor: Tensor = collectives.all_reduce(mine.sum(), how, group)
    return tensor


def make_sharded() -> Call:
    """The call of `sharded` on this rank."""
    torch.manual_seed(0)
    return sharded, (torch.ones(8, 16), torch.ones(16 // dist.get_world_size(), 4))


def make_ddp() -> Call:
    """A model under DistributedDataParallel, which trains."""
    torch.manual_seed(0)
    return DistributedDataParallel(Net()), (torch.ones(4, 8),)


def halved(bucket: dist.GradBucket) -> Any:
    """Reduces a bucket's gradients in half precision."""
    narrow = bucket.buffer().half() / dist.get_world_size()
    work: Any = dist.all_reduce(narrow, async_op=True)
    return work.get_future().then(lambda done: bucket.buffer().copy_(done.value()[0]))


def make_hooked_ddp() -> Call:
    """A model under DistributedDataParallel that reduces in its own way."""
    torch.manual_seed(0)
    model = DistributedDataParallel(Net())
    # A lambda, as torch compares annotations with its classes, and here they are texts.
    model.register_comm_hook(None, lambda state, bucket: halved(bucket))
    return model, (torch.ones(4, 8),)


def make_fsdp() -> Call:
    """A model that ``fully_shard`` spreads over the ranks, a layer and the rest by themselves."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    torch.manual_seed(0)
    model, mesh = Net(), init_device_mesh("cpu", (dist.get_world_size(),))
    fully_shard(model.first, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model, (torch.ones(4, 8),)


def make_fsdp_step() -> Call:
    """An optimizer's step on such a model, after a backward."""
    model, args = make_fsdp()
    model(*args).sum().backward()
    return torch.optim.SGD(model.parameters(), lr=0.1).step, ()  # type: ignore[attr-defined]


def make_uneven() -> Call:
    """The same, but that the ranks reduce otherwise."""
    fn, args = make_sharded()
    return fn, (*args, "max" if dist.get_rank() else "sum")


def _full_at_first(mkdtemp: Callable[..., str]) -> Callable[..., str]:
    """``tempfile.mkdtemp`` for a disk that has no room for the first folder of a build."""
    full = [OSError(errno.ENOSPC, "No space left on device", "/cache")]

    def refusing(*args: Any, **kwargs: Any) -> str:
        if full and kwargs.get("dir") == caches.own_folder():
            raise full.pop()
        return mkdtemp(*args, **kwargs)

    return refusing


def off_when_compiled(x: Tensor, by: float) -> tuple[Tensor, Tensor]:
    """Not what eager gives, unless ``by`` is 0; what the ranks reduce is right."""
    summed = collectives.all_reduce(x.sum(), "sum", dist.group.WORLD)
    return (x + by if torch.compiler.is_compiling() else x), summed


def make_off_on_one() -> Call:
    """The call of `off_when_compiled`, which goes wrong on rank 1 alone; its disk is full once."""
    if dist.get_rank() == 1:
        tempfile.mkdtemp = _full_at_first(tempfile.mkdtemp)
    return off_when_compiled, (torch.ones(8, 4), float(dist.get_rank()))


def make_dying() -> Call:
    """On the last rank, the end of its process."""
    if dist.get_rank() == dist.get_world_size() - 1:
        os._exit(3)
    return sharded, (torch.ones(8, 16), torch.ones(16 // dist.get_world_size(), 4))


def make_ddp_on_gpu() -> Call:
    """The model on this rank's GPU, which is the current one."""
    torch.manual_seed(0)
    device = torch.cuda.current_device()
    return DistributedDataParallel(Net().cuda(), device_ids=[device]), (torch.ones(4, 8).cuda(),)


def make_sharded_on_gpu() -> Call:
    """The call of `sharded` on this rank's GPU."""
    _, args = make_sharded()
    return sharded, tuple(arg.cuda() for arg in args)


def make_tensor_parallel() -> Call:
    """Two layers in column and row style, as DTensors."""
    mesh = DeviceMesh("cpu", list(range(dist.get_world_size())))
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
    plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
    return parallelize_module(model, mesh, plan), (torch.randn(4, 4),)
