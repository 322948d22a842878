"""Classifies a phase by torch's name for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...report import Phase

_KINDS = {
    "dynamo": (
        "dynamo|entire_frame_compile|compile_attempt_.*|bytecode_tracing|fullgraph_capture|"
        "backend_compile|insert_deferred_runtime_asserts|bytecode_hooks_.*|compiler_collective|"
        "compile_inner|create_dynamo_.*|after_deserialization"
    ),
    "guards": "build_guards|precompile_(?:build|load)_guards|guard_collective|.*check_guards.*",
    "aot_autograd": (
        "create_aot_dispatcher_function|aot_.*|entire_backward_compile|invoke_subgraph_.*|"
        "min_cut_rematerialization_partition|.*[Pp]artitioner|"
        r"compile_fx\.<locals>\.(?:fw_compiler_base|bw_compiler)"
    ),
    "passes": (
        r"_recursive_(?:pre_grad|joint_graph|post_grad)_passes|pass\..*|fx\.bucketing\..*|"
        "additional_fake_tensor_prop|convert_conv_weights_to_channels_last|debug_insert_nops"
    ),
    "lowering": r"GraphLowering\.run|inductor_compile|compile_fx_inner|fx_codegen_and_compile",
    "scheduling": r"Scheduler\.(?:__init__|fused_nodes|create_combo_kernel_nodes|simple_overlap)",
    "code_generation": (
        r"code_gen|GraphLowering\..*|Scheduler\.codegen|(?:Python|Cpp)Wrapper\w*\.generate|"
        r"generate_kernel_code_from_nodes|PyCodeCache\.write|CUTLASS.*|cutlass_utils\..*"
    ),
    "autotuning": (
        r".*_template_(?:autotuning|precompiling)|benchmark_.*|collective_compute_do_bench|"
        r"CachingAutotuner\.(?:benchmark_all_configs|coordinate_descent_tuning|combo_.*)"
    ),
    "triton": (
        r"async_compile\.precompile|CachingAutotuner\..*|StaticAutotunerFuture\..*|"
        r"reload_kernel_in_parent|aoti_compile_fatbin|CacheBase\.get_system\.triton_key"
    ),
    "cpp_build": (
        r"compile_file|CppBuilder\..*|aoti_precompile_header|cpp_wrapper_compile|"
        r"AotCodeCompiler\.compile|async_compile\.wait"
    ),
    "cache": (
        r"inductor_codecache_torch_key|.*_cache_(?:hit|miss|bypass)|.*Cache\.(?:inductor_load|"
        r"prepare_key|_lookup_graph|_save_graph|_lookup|save|clear)|TritonBundler\..*|pgo\..*|aoti_serialize_constants|"
        r"remote_.*|GraphPickler\..*|CompiledArtifact\..*|.*_code_state"
    ),
    "load": r"PyCodeCache\.load_by_key_path|CppCodeCache\._load_library|inductor_import",
    "other": r"gc|TranslationValidator\.validate|offload_constants_\w+",
}
_PATTERNS = [(re.compile(pattern), kind) for kind, pattern in _KINDS.items()]
_WAIT = "async_compile.wait"
"""Waits for C++ and Triton builds alike."""


def kind_of(name: str, parent: str = "") -> str:
    """The kind of a phase, one of `PHASE_KINDS`.

    Parameters
    ----------
    name
        torch's.
    parent
        The kind of the enclosing phase, which an unknown name gets.
    """
    return next((kind for pattern, kind in _PATTERNS if pattern.fullmatch(name)), parent or "other")


def name_kinds(phases: Sequence[Phase], *, triton: bool = False) -> None:
    """Fill in the kind of each phase of a compilation's trees.

    Parameters
    ----------
    phases
        The outermost phases.
    triton
        Whether a wait for kernels is for Triton's even if no other phase is Triton's.
    """
    _name(phases, "", triton or any(_has_triton(phase) for phase in phases))


def _name(phases: Sequence[Phase], parent: str, triton: bool) -> None:
    for phase in phases:
        phase.kind = "triton" if triton and phase.name == _WAIT else kind_of(phase.name, parent)
        _name(phase.children, phase.kind, triton)


def _has_triton(phase: Phase) -> bool:
    return (phase.name != _WAIT and kind_of(phase.name) == "triton") or any(
        _has_triton(child) for child in phase.children
    )
