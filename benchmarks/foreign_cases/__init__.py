"""Calls that were written for no test of compilescope: what people write, in many styles.

Each module puts its own into `CASES`.
"""

from . import python_code as python_code
from . import small_models as small_models
from . import tensor_code as tensor_code
from . import timm_models as timm_models
from . import torch_examples as torch_examples
from . import transformers_models as transformers_models
from .cases import CASES as CASES
from .cases import MISSING as MISSING
