"""Emulates this machine's GPU in a process that does not see it, for code that is used here."""

from __future__ import annotations

from ...report.devices import Device
from ...torch_api.targets import backend_hashes
from .pretend_device import PretendDevice
from .world import ThisMachine


class HiddenGpu(ThisMachine):
    """The GPU and CPU of this machine; the GPU's memory is not used, and nothing is timed on it.

    The tensors on the GPU are plain ones, too: the runtime that emulates it gives them memory of
    the host, which is never written.
    """

    lacks_gpu = True

    @classmethod
    def enter(cls, device: Device, backend_hash: str) -> HiddenGpu:
        """Makes this process emulate ``device``, once, before Inductor is loaded.

        Parameters
        ----------
        device
            This machine's GPU.
        backend_hash
            The hash that the kernel writes into its Triton code.

        Raises
        ------
        CompilescopeError
            There is no C++ compiler.
        """
        PretendDevice.enter(device, is_here=True)
        backend_hashes.replace_backend_hash(backend_hash)
        return cls()
