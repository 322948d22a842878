"""The switches above a report: core ipywidgets, so that they run wherever widgets do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets
from markupsafe import Markup, escape

from ..analysis.figures.stages import stage_words
from ..report import Report
from ..report.errors import CompilescopeError
from ..report.variant import Variant
from . import wording
from .main_thread import Main
from .wrapper_pairs import compared

if TYPE_CHECKING:
    from ..progress.progress import Progress
    from ..session.session import Session

Show = Callable[..., None]
_DYNAMIC = {"auto": None, "on": True, "off": False}
_INDUCTOR = "inductor"


class ReportWidget(widgets.VBox):  # type: ignore[misc]
    """Switches, folded, and progress of one subject.

    A switch generates its variant's sources at once and shows them; "Run" builds, checks and times
    the variant. The widget starts empty, so that its output in the cell is above the report's.
    """

    def __init__(self) -> None:
        self._main = Main()
        self._quiet = False
        self.cpp_wrapper = widgets.Checkbox(description="cpp_wrapper", indent=False)
        self.mode = widgets.Dropdown(description="mode")
        self.dynamic = widgets.Dropdown(description="dynamic", options=list(_DYNAMIC))
        self.fullgraph = widgets.Checkbox(description="fullgraph", indent=False)
        self.backend = widgets.Dropdown(description="backend")
        self.run = widgets.Button(
            description="Run", icon="play", tooltip="Build, check and time this variant"
        )
        self.progress = widgets.FloatProgress(max=1.0)
        self.status = widgets.HTML()
        self.switches = widgets.Accordion()
        for control, width in ((self.mode, 280), (self.dynamic, 140), (self.backend, 220)):
            control.layout.width = f"{width}px"
            control.style.description_width = "initial"
        for control in (self.cpp_wrapper, self.fullgraph):
            control.layout.width = "auto"
        self.run.layout.width = "90px"
        self.progress.layout.display = "none"
        super().__init__()

    def fill(self, report: Report, session: Session, show: Show) -> None:
        """Fill the widget.

        Parameters
        ----------
        report
            The report of the cell; it grows as variants are added.
        session
            The session that creates the variants.
        show
            Called with the report, and the variants to show left and right, when it has changed.
        """
        self._report, self._session, self._show = report, session, show
        choices = session.choices()
        self.mode.options = choices.modes
        self.backend.options = choices.backends
        self._set(next((v.requested for v in compared(report) if v.requested.backend), Variant()))
        switches = (self.cpp_wrapper, self.mode, self.dynamic, self.fullgraph, self.backend)
        for switch in switches:
            switch.observe(self._flipped, names="value")
        self.run.on_click(lambda _: self._make(build=True))
        row = widgets.HBox([*switches, self.run])
        row.layout.flex_flow = "row wrap"
        row.layout.align_items = "center"
        row.layout.grid_gap = "0 16px"
        self.switches.children, self.switches.titles = (row,), ("Switches",)
        self.children = (self.switches, widgets.HBox([self.progress, self.status]))

    def variant(self) -> Variant:
        """Return the variant that the switches select."""
        inductor = self.backend.value == _INDUCTOR
        mode = self.mode.value if self.mode.value != "default" else None
        return Variant(
            backend=self.backend.value,
            mode=mode if inductor else None,
            cpp_wrapper=self.cpp_wrapper.value and inductor,
            dynamic=_DYNAMIC[self.dynamic.value],
            fullgraph=self.fullgraph.value,
        )

    def _set(self, variant: Variant) -> None:
        if variant.backend not in self.backend.options:  # a function of the user's
            self.backend.options = [*self.backend.options, variant.backend]
        self.backend.value = variant.backend
        self.mode.value = variant.mode or "default"
        self.cpp_wrapper.value = variant.cpp_wrapper
        self.dynamic.value = next(k for k, v in _DYNAMIC.items() if v is variant.dynamic)
        self.fullgraph.value = variant.fullgraph

    def _flipped(self, _: object) -> None:
        inductor = self.backend.value == _INDUCTOR
        self.mode.disabled = self.cpp_wrapper.disabled = not inductor
        self._make(build=False)

    def _make(self, *, build: bool) -> None:
        variant = self.variant()
        self._show_progress("waiting for the kernel", None)
        self._main.call(lambda: self._add(variant, build=build))

    def _add(self, variant: Variant, *, build: bool) -> None:
        """Add a variant and show it. The widget shows errors."""
        try:
            report = self._session.add(
                self._report.subject.id, variant, run=build, progress=self._step
            )
        except CompilescopeError as error:
            self._show_failure(str(error))
        except KeyboardInterrupt:
            self._show_failure("Interrupted: the results so far are kept.")
        except Exception as error:
            # ipywidgets only logs the exceptions of a callback, where users do not see them.
            self._show_failure(f"{type(error).__name__}: {error}")
            raise
        else:
            self._report = report
            self._done(variant)

    def _done(self, variant: Variant) -> None:
        generated = next(
            (candidate for candidate in self._report.variants if candidate.requested == variant),
            None,
        )
        self.progress.layout.display = "none"
        if generated is None:
            self._show_failure("This variant is not in the report.")
            return
        figure = wording.duration(generated.timing.median_us) if generated.timing else ""
        summary = ", ".join(part for part in (stage_words(generated), figure) if part)
        problems = [
            Markup("<br>{} {}").format(problem.what, problem.remedy)
            for problem in generated.problems
        ]
        self.status.value = Markup("<b>{}</b>: {}{}").format(
            generated.name, summary, Markup().join(problems)
        )
        side = {"right": generated.name} if variant.cpp_wrapper else {"left": generated.name}
        self._show(self._report, **side)

    def _step(self, now: Progress) -> None:
        self._show_progress(f"{now.variant}: {now.step}" if now.variant else now.step, now.fraction)

    def _show_progress(self, step: str, fraction: float | None) -> None:
        self.progress.layout.display = ""
        self.progress.value = 0.0 if fraction is None else fraction
        self.status.value = escape(step)

    def _show_failure(self, message: str) -> None:
        self.progress.layout.display = "none"
        self.status.value = Markup("<b>Not done.</b> {}").format(message)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        note = (
            "The switches of this report are not shown here: they need the kernel that made it, "
            "and in JupyterLab the package jupyterlab_widgets."
        )
        fallback = {"text/plain": note, "text/html": f"<small>{note}</small>"}
        return {**(data or {}), **fallback}, metadata
