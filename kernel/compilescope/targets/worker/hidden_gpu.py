"""Emulates this machine's GPU in a process that does not see it, for code that is used here."""

from __future__ import annotations

from ...report.devices import Device
from .pretend_device import PretendDevice
from .world import ThisMachine


class HiddenGpu(ThisMachine):
    """The GPU and CPU of this machine; the GPU's memory is not used, and nothing is timed on it.

    The tensors on the GPU are plain ones, too: the runtime that emulates it gives them memory of
    the host, which is never written.
    """

    lacks_gpu = True

    @classmethod
    def enter(cls, device: Device) -> HiddenGpu:
        """Makes this process emulate ``device``, once, before Inductor is loaded.

        Raises
        ------
        CompilescopeError
            There is no C++ compiler.
        """
        PretendDevice.enter(device, is_here=True)
        return cls()
