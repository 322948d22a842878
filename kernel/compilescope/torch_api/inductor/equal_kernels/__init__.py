"""Generates kernels that differ only in their buffers' names once.

Twelve equal layers repeat the same loops twelve times, and both wrappers contain the same loops.
`EqualKernels` caches the output of ``CppScheduling.codegen_node`` under everything that it depends
on, and reuses it for equal loops: the text, and the changes to the kernel's arguments and to the
graph. Decisions for each node, allocation and in-place reuse, are still torch's each time.

If anything unknown occurs, torch generates the kernel itself. The result is identical to torch's;
the tests compare both.

`linear_strides` makes a kernel that has to be generated cheaper.

Relies on ``torch._inductor.codegen.cpp`` (CppScheduling.codegen_node, CppKernelProxy.codegen_nodes,
KernelGroup, WorkSharing, stride_at_vec_range), ``torch._inductor.codegen.common`` (KernelArgs,
InplacedBuffer, DeferredLine), ``torch._inductor.loop_body.LoopBody`` and
``torch._inductor.scheduler`` (users, mutation_real_name, decide_inplace_update, mark_run). What a
kernel depends on was read in the versions of `reuse.PROVEN`; any other generates every kernel
itself.
"""

from .reuse import EqualKernels as EqualKernels
from .reuse import is_proven as is_proven
