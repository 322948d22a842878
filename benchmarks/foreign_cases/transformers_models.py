"""Models of transformers from their configurations, tiny, with random weights.

Nothing is downloaded. Beside a torch that is there already::

    pip install --no-deps transformers
    pip install huggingface-hub safetensors regex tokenizers tqdm

Without the library its models are left out.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch

from .cases import CASES, Made, is_installed

_SIZES = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
_TEXT = {**_SIZES, "intermediate_size": 64, "vocab_size": 50}
_DECODER = {**_TEXT, "use_cache": False}
_T5 = {"d_model": 32, "d_kv": 16, "d_ff": 64, "num_layers": 1, "num_heads": 2, "vocab_size": 50}
_WHISPER = {
    "d_model": 32,
    "encoder_layers": 1,
    "encoder_attention_heads": 2,
    "encoder_ffn_dim": 64,
    "num_mel_bins": 8,
    "max_source_positions": 16,
}
_IMAGES = {**_SIZES, "intermediate_size": 64, "image_size": 16, "patch_size": 8}


def _tokens() -> torch.Tensor:
    return torch.randint(50, (1, 8))


def _image() -> torch.Tensor:
    return torch.randn(1, 3, 16, 16)


_MODELS: dict[str, tuple[str, dict[str, Any], Any]] = {
    "gpt2": (
        "GPT2Model",
        {"n_layer": 2, "n_embd": 32, "n_head": 2, "vocab_size": 50, "use_cache": False},
        _tokens,
    ),
    "bert": ("BertModel", _TEXT, _tokens),
    "distilbert": (
        "DistilBertModel",
        {"dim": 32, "n_layers": 1, "n_heads": 2, "hidden_dim": 64, "vocab_size": 50},
        _tokens,
    ),
    "electra": ("ElectraModel", {**_TEXT, "embedding_size": 16}, _tokens),
    "llama": ("LlamaModel", _DECODER, _tokens),
    "mistral": ("MistralModel", {**_DECODER, "num_key_value_heads": 1}, _tokens),
    "qwen2": ("Qwen2Model", {**_DECODER, "num_key_value_heads": 1}, _tokens),
    "gpt_neox": ("GPTNeoXModel", _DECODER, _tokens),
    "opt": (
        "OPTModel",
        {**_SIZES, "ffn_dim": 64, "vocab_size": 50, "word_embed_proj_dim": 32, "use_cache": False},
        _tokens,
    ),
    "t5_encoder": ("T5EncoderModel", _T5, _tokens),
    "vit": ("ViTModel", _IMAGES, _image),
    "dinov2": ("Dinov2Model", {**_SIZES, "image_size": 16, "patch_size": 8}, _image),
    "whisper_encoder": ("WhisperEncoder", _WHISPER, lambda: torch.randn(1, 8, 32)),
}
"""Name → the class, its configuration's sizes, and what makes the argument."""


def _add(name: str) -> None:
    def make() -> Made:
        import transformers

        class_name, sizes, argument = _MODELS[name]
        holder = transformers
        if class_name == "WhisperEncoder":
            holder = importlib.import_module("transformers.models.whisper.modeling_whisper")
        model_class = getattr(holder, class_name)
        model = model_class(model_class.config_class(**sizes))
        return model.eval().requires_grad_(False), (argument(),)

    CASES[name] = make


if is_installed("transformers"):
    for _name in _MODELS:
        _add(_name)
