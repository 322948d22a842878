"""The text of an FX graph (``print_readable`` with strides and devices) → nodes.

The text has no schema, so this reads line by line and keeps only what is certain. It does not
return module paths: those come from live hooks (see `analysis.assemble`), or stay absent.
"""

from __future__ import annotations

import re

from ...report import Node, SourceLine
from ..text.brackets import closing, depth, names, split_list
from .annotations import read_annotation
from .expressions import Expression, read_expression

NO_MODULES = (
    "The graph was read from its text, which does not name the module a node belongs to; "
    "a live capture does."
)

_SOURCE = re.compile(r"\s*#.*?\bFile: (.+):(\d+) in (\S.*?), code:(.*)$")
_ASSIGN = re.compile(r'\s*([A-Za-z_]\w*)(?:\s*: "([^"]*)"| ?: ([^=]+?))? = (.*)$', re.S)
_DECLARED = re.compile(r'\s*([A-Za-z_]\w*): "([^"]*)"\s*(?:#.*)?$')
_PARAMETER = re.compile(r'\**([A-Za-z_]\w*)(?:\s*: (?:"([^"]*)"|([^=]+)))?(?: = .*)?$', re.S)
_CLASS = re.compile(r"(\s*)class ([^\s(:]+)")
_FREES = re.compile(r";\s{2}(?:[A-Za-z_]\w* = )+None\s*$")
_COMMENT = re.compile(r"\s{2}# .*$")


def parse_graph(text: str) -> list[Node]:
    """Read the nodes of a graph from its text.

    Parameters
    ----------
    text
        The payload of a graph event in torch's structured trace.

    Returns
    -------
    list of Node
        In the graph's order. The nodes of a subgraph (a branch of ``torch.cond``) have its name as
        a prefix: ``true_graph_0.sin``.
    """
    nodes: list[Node] = []
    stack: list[tuple[int, _Reader]] = []
    lines = text.split("\n")
    statements = Statements(lines)
    number = 0
    while number < len(lines):
        line = lines[number]
        match = _CLASS.match(line)
        if match:
            indent = len(match.group(1))
            while stack and stack[-1][0] >= indent:
                stack.pop()
            prefix = f"{match.group(2)}." if stack else ""
            if stack:
                prefix = stack[-1][1].prefix + prefix
            stack.append((indent, _Reader(prefix, nodes)))
            number += 1
            continue
        if not stack:
            if not line.lstrip().startswith("def "):
                number += 1
                continue
            stack.append((-1, _Reader("", nodes)))
        statement, end = statements.read(number)
        indent = len(line) - len(line.lstrip())
        while (
            len(stack) > 1
            and statement.strip()
            and indent <= stack[-1][0] + 4
            and (not statement.lstrip().startswith("def "))
        ):
            stack.pop()
        stack[-1][1].read(statement, number + 1)
        number = end + 1
    _add_users(nodes)
    return nodes


class Statements:
    """Statements that may take several lines, until their brackets balance."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._ends: dict[int, int] | None = None
        """First line → last line, once a statement was read that never ends."""

    def read(self, start: int) -> tuple[str, int]:
        """The statement from line ``start``, without the ends' comments, and its last line."""
        first = self._lines[start]
        if first.lstrip().startswith("#") or first.endswith((";", "None")):
            return first, start
        if depth(_uncommented(first)) <= 0:
            return first, start
        end = self._end(start)
        if end is None:
            return first, start
        return "\n".join(map(_uncommented, self._lines[start : end + 1])), end

    def _end(self, start: int) -> int | None:
        if self._ends is not None:
            return self._ends.get(start)
        level = 0
        for index in range(start, len(self._lines)):
            level += depth(_uncommented(self._lines[index]))
            if level <= 0:
                return index
        # To search again from each line after it would take quadratic time.
        self._ends = _ends([depth(_uncommented(line)) for line in self._lines])
        return None


def _ends(depths: list[int]) -> dict[int, int]:
    """Where the brackets balance that a line opens: first line → last line."""
    ends: dict[int, int] = {}
    unbalanced: list[tuple[int, int]] = []  # (first line, level before it), levels ascending
    level = 0
    for index, change in enumerate(depths):
        before, level = level, level + change
        while unbalanced and level <= unbalanced[-1][1]:
            ends[unbalanced.pop()[0]] = index
        if change > 0:
            unbalanced.append((index, before))
    return ends


def _uncommented(line: str) -> str:
    return _COMMENT.sub("", line) if "  # " in line else line


class _Reader:
    """Reads the statements of one ``forward``."""

    def __init__(self, prefix: str, nodes: list[Node]) -> None:
        self.prefix = prefix
        self.nodes = nodes
        self.values: dict[str, object] = {}
        self.sources: list[SourceLine] = []

    def read(self, statement: str, line: int) -> None:
        stripped = statement.strip()
        if not stripped:
            return
        if stripped.startswith("#"):
            self._comment(stripped)
        elif stripped.startswith("def "):
            self._signature(statement, line)
        elif stripped.startswith("return"):
            self._output(stripped[len("return") :].strip(), line)
        else:
            self._assignment(statement, line)

    def _comment(self, comment: str) -> None:
        match = _SOURCE.match(comment)
        if match:
            file, number, function, code = match.groups()
            self.sources = [
                SourceLine(file=file, line=int(number), function=function, code=code.strip())
            ]
        elif "No stacktrace found" in comment:
            self.sources = []

    def _signature(self, statement: str, line: int) -> None:
        start = statement.find("(")
        if start < 0:
            return
        inside = statement[start + 1 : closing(statement, start) - 1]
        # In the long form each parameter is on its own line.
        offset = statement[: start + 1].count("\n")
        position = 0
        for parameter in split_list(inside):
            at_position = inside.find(parameter, position)
            if at_position >= 0:
                position = at_position
            match = _PARAMETER.match(parameter)
            if match is None or match.group(1) == "self":
                continue
            at = line + offset + inside.count("\n", 0, position)
            self._add(match.group(1), "placeholder", match.group(1), match.group(2), at)

    def _output(self, value: str, line: int) -> None:
        value = _FREES.sub("", value)
        self.nodes.append(
            Node(
                name=f"{self.prefix}output",
                op="output",
                target="output",
                args=value,
                inputs=[self.prefix + name for name in names(value, self.values)],
                line=line,
            )
        )

    def _assignment(self, statement: str, line: int) -> None:
        declared = _DECLARED.match(statement)
        if declared:
            # The joint graph lists its inputs so, and unpacks them in a later line.
            self._add(declared.group(1), "placeholder", declared.group(1), declared.group(2), line)
            return
        statement = _FREES.sub("", statement)
        update = ""
        if ";  " in statement and not _ASSIGN.match(statement.split(";  ", 1)[0]):
            update, statement = statement.split(";  ", 1)  # x += y;  x_1 = x
        match = _ASSIGN.match(statement)
        if match is None:
            return
        name, annotation, _, value = match.groups()
        value = value.rstrip()
        value_node = self.values.get(value)
        if isinstance(value_node, Node) and value_node.op == "placeholder" and not update:
            # ``l_x_ = L_x_`` gives a placeholder whose target is no legal or no free name its own.
            del self.values[value]
            value_node.name, value_node.line = self.prefix + name, line
            self.values[name] = value_node
            return
        expression = read_expression(update.strip() or value, self.values)
        self._add(name, expression.op, expression.target, annotation, line, expression)

    def _add(
        self,
        name: str,
        op: str,
        target: str,
        annotation: str | None,
        line: int,
        expression: Expression | None = None,
    ) -> None:
        shape, stride, dtype, device = read_annotation(annotation)
        if name in self.values and op == "placeholder":
            return
        node = Node(
            name=self.prefix + name,
            op=op,
            target=target,
            args=expression.args if expression else "",
            inputs=[self.prefix + used for used in names(expression.args, self.values)]
            if expression
            else [],
            shape=shape,
            stride=stride,
            dtype=dtype,
            device=device,
            sources=[] if op == "placeholder" else self.sources,
            line=line,
        )
        self.values[name] = node
        self.nodes.append(node)


def _add_users(nodes: list[Node]) -> None:
    by_name = {node.name: node for node in nodes}
    for node in nodes:
        for used in node.inputs:
            owner = by_name.get(used)
            if owner is not None:
                owner.users.append(node.name)
