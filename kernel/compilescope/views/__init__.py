"""The report in a cell, in a file and in a terminal. Every view reads a report and nothing else."""

from ..analysis.changes.rank_words import add_rank_words
from ..analysis.changes.variants import add_backend_words
from ..analysis.contents.stored import contents
from ..analysis.figures.outcome_words import complete_outcomes
from ..analysis.figures.tier_words import add_tier_words
from ..analysis.figures.trace_words import complete_trace
from ..analysis.guards.conditions import add_conditions
from ..analysis.guards.reasons.recompile_words import add_causes
from ..analysis.guards.symbolic_shapes.symbol_ranges import complete_symbols
from ..analysis.kernels.launch_times import add_to_variant
from ..analysis.kernels.tiling import add_usual
from ..analysis.overview import bounds
from ..analysis.overview.overview import overview
from ..analysis.overview.sweep_status import add_sweep_words
from ..analysis.packages.package_words import complete_package
from ..analysis.phases.cold import add_words
from ..analysis.phases.compile_time import complete_times
from ..analysis.problems.distinct_breaks import complete_breaks, share_break_costs
from ..analysis.settings.cuda_graph_words import add_graph_words
from ..analysis.target.check_words import add_check_words
from ..report import completing, concluding, renderers
from ..report.checkup import checkup_renderers
from . import cell, saved_page
from .html import checkup
from .html import report as html
from .text import report as text
from .text import sweep as text_sweep
from .text import tiers

# How a report prints, displays in a cell and saves itself. It is in a layer below the views and
# cannot import them, so importing this package registers its displays.
concluding.update(overview=overview, contents=contents)
completing.update(
    backends=add_backend_words,
    bound=bounds.add_words,
    break_costs=share_break_costs,
    breaks=complete_breaks,
    causes=add_causes,
    checks=add_check_words,
    cold=add_words,
    conditions=add_conditions,
    cuda_graphs=add_graph_words,
    launches=add_to_variant,
    outcomes=complete_outcomes,
    package=complete_package,
    rank=add_rank_words,
    sweep=add_sweep_words,
    symbols=complete_symbols,
    times=complete_times,
    tiers=add_tier_words,
    tiles=add_usual,
    trace=complete_trace,
)
renderers.update(text=text.render, html=cell.render, page=saved_page.render)
checkup_renderers.update(text=checkup.text, html=checkup.html)
renderers.update({"tiers text": tiers.render})
renderers.update({"sweep html": html.render_sweep, "sweep text": text_sweep.render})
