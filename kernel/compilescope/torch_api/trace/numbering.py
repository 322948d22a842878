"""Compile ids as a fresh process would count them."""

from __future__ import annotations


class Numbering:
    """Compile ids as a fresh process would count them: by first appearance."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}
        """torch's id → the id counted from 0."""
        self._frames: dict[str, int] = {}
        self._compilations: dict[str, dict[str, int]] = {}

    def add(self, compile_id: str) -> str:
        """The id counted from 0."""
        if compile_id not in self.ids:
            frame, _, compilation = compile_id.rpartition("/")
            number = self._frames.setdefault(frame, len(self._frames))
            seen = self._compilations.setdefault(frame, {})
            self.ids[compile_id] = f"{number}/{seen.setdefault(compilation, len(seen))}"
        return self.ids[compile_id]
