"""The names of what compilescope adds to torch's trace: artifacts and a key of metadata.

Does not import torch.
"""

AUTOTUNING = "compilescope_autotuning"
"""The measurements of `torch_api.inductor.autotuning`."""
KERNEL_LOAD = "compilescope_kernel_load"
"""A step of `torch_api.kernels.loading`."""
DECISION = "compilescope_decision"
"""A decision by rule of `torch_api.targets.choices`."""
BUFFERS = "compilescope_buffers"
"""The nodes of a wrapper's buffers, from `torch_api.inductor.buffer_nodes`."""
SIZE_GUARDS = "compilescope_size_guards"
"""What code generation adds to the guards on sizes: `torch_api.inductor.added_size_guards`."""
RAISES = "compilescope_raises"
"""A key of the metadata of ``compilation_metrics``: torch raises the error of the compilation
whatever ``suppress_errors`` is, as `torch_api.trace.raising` finds out."""
ENTRY = "inductor_entry"
"""The name of a C++ wrapper's library in generated code; torch's own name."""
