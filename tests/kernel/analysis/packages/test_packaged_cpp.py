"""What a package's C++ says of a model, where somebody wrote it to cost time or memory."""

from __future__ import annotations

from compilescope.analysis.packages import cpp


def test_a_dimension_that_no_tensor_has_costs_no_memory() -> None:
    text = 'inputs_info_[0].name = "x";\nif (3 != x_size[999999999])\nif (2 != x_size[0])'
    (line,) = cpp.inputs(text)
    assert line.startswith("x: tensor[2, ?")
    assert len(line) < 300


def test_a_long_line_is_read_once() -> None:
    # Looked for at each of its 200,000 places, the end of this line would take minutes.
    text = "constants_info_[0].name = " * 200_000
    assert cpp.constants(text + '\n  constants_info_[1].name = "w";\n')[0].name == "w"


def test_numbers_of_thousands_of_digits_are_no_numbers() -> None:
    digits = "9" * 5000
    text = (
        f"constants_info_[{digits}].shape = {{{digits}}};\n"
        f"  constants_info_[0].data_size = {digits};\n"
        f"int64_t s0 = x_size[{digits}];\nif (x_size[0] < {digits}L)"
    )
    assert cpp.constants(text)[0].bytes is None
    assert cpp.inputs(text) == cpp.dynamic(text) == []
