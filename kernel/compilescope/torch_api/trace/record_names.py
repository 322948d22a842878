"""The names of records that torch itself logs to its trace: of events and of artifacts.

Does not import torch.
"""

BACKWARD_METRICS = "bwd_compilation_metrics"
CHROMIUM_EVENT = "chromium_event"
"""A begin or an end of a span of time, in the format of Chromium's trace viewer."""
COMPILATION_METRICS = "compilation_metrics"
"""The figures of a compilation, logged when it ends."""
CREATE_SYMBOL = "create_symbol"
DYNAMO_ERROR = "dynamo_error"
DYNAMO_GRAPH = "dynamo_output_graph"
DYNAMO_START = "dynamo_start"
"""Dynamo begins to compile a frame."""
GRAPH_BREAK_REASON = "dynamo_graph_break_reason"
GUARDS = "dynamo_cpp_guards_str"
"""The tree of a compilation's guards."""
GUARD_LIST = "dynamo_guards"
"""A compilation's guards, each with its code."""
OUTPUT_CODE = "inductor_output_code"
"""The code of a wrapper."""
RECOMPILE_REASONS = "recompile_reasons"
"""The guards that failed, by which torch compiles a frame again."""

METRICS = (COMPILATION_METRICS, BACKWARD_METRICS)
