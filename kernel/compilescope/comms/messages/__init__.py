"""The messages between the panel and the kernel, defined once.

Two comms for each client (the reason is in ``docs/protocol.md``): `REQUESTS_TARGET` carries a
request and its reply, published on only inside the handler; `EVENTS_TARGET` carries pushes from the
kernel. Each file holds the messages of one purpose; `COMMANDS` and `EVENTS` list them all.
"""

from __future__ import annotations

from ...report import Struct
from ...report.subjects.watching import WatchState
from ...report.variant import Choices as Choices
from .clients import CheckupResult as CheckupResult
from .clients import GetCheckup as GetCheckup
from .clients import Heartbeat as Heartbeat
from .clients import Hello as Hello
from .clients import HelloResult as HelloResult
from .envelopes import EVENTS_TARGET as EVENTS_TARGET
from .envelopes import MESSAGE_BYTES as MESSAGE_BYTES
from .envelopes import PART_BYTES as PART_BYTES
from .envelopes import PROTOCOL_VERSION as PROTOCOL_VERSION
from .envelopes import REQUESTS_TARGET as REQUESTS_TARGET
from .envelopes import Done as Done
from .envelopes import Event as Event
from .envelopes import Message as Message
from .envelopes import Reply as Reply
from .envelopes import ReplyPart as ReplyPart
from .envelopes import Request as Request
from .jobs import AddVariant as AddVariant
from .jobs import AddVariantResult as AddVariantResult
from .jobs import Cancel as Cancel
from .jobs import GetReproducer as GetReproducer
from .jobs import GetStudyChoices as GetStudyChoices
from .jobs import JobState as JobState
from .jobs import ReproducerFile as ReproducerFile
from .jobs import ReproducerResult as ReproducerResult
from .jobs import StartRun as StartRun
from .jobs import StartRunResult as StartRunResult
from .jobs import StartStudies as StartStudies
from .jobs import StudyChoices as StudyChoices
from .measuring import GetMeasurement as GetMeasurement
from .measuring import Measurement as Measurement
from .measuring import Series as Series
from .measuring import StartMeasure as StartMeasure
from .outlines import ReportSummary as ReportSummary
from .outlines import SubjectSummary as SubjectSummary
from .pushes import ChoicesChanged as ChoicesChanged
from .pushes import JobChanged as JobChanged
from .pushes import Measured as Measured
from .pushes import ReportChanged as ReportChanged
from .pushes import SubjectsChanged as SubjectsChanged
from .pushes import SweepChanged as SweepChanged
from .pushes import WatchChanged as WatchChanged
from .relayed import FromWidget as FromWidget
from .relayed import PagePart as PagePart
from .relayed import ToWidget as ToWidget
from .reports import ArtifactResult as ArtifactResult
from .reports import CompareTrace as CompareTrace
from .reports import CompilationResult as CompilationResult
from .reports import Forget as Forget
from .reports import GetArtifact as GetArtifact
from .reports import GetCompilation as GetCompilation
from .reports import GetGraph as GetGraph
from .reports import GetReport as GetReport
from .reports import GetVariant as GetVariant
from .reports import GraphResult as GraphResult
from .reports import ReadOn as ReadOn
from .reports import SaveReport as SaveReport
from .reports import SaveReportResult as SaveReportResult
from .reports import Search as Search
from .reports import SearchHit as SearchHit
from .reports import SearchResult as SearchResult
from .reports import VariantResult as VariantResult
from .sweeping import CancelSweep as CancelSweep
from .sweeping import GetSweep as GetSweep
from .sweeping import StartSweep as StartSweep
from .sweeping import SweepResult as SweepResult
from .tiers import PinTier as PinTier
from .tiers import TiersChanged as TiersChanged
from .tiers import TiersResult as TiersResult
from .watching import SetWatch as SetWatch
from .what_if import WhatIf as WhatIf
from .what_if import WhatIfResult as WhatIfResult

COMMANDS: dict[str, tuple[type[Message], type[Struct]]] = {
    "hello": (Hello, HelloResult),
    "heartbeat": (Heartbeat, Done),
    "get_report": (GetReport, ReportSummary),
    "get_artifact": (GetArtifact, ArtifactResult),
    "get_variant": (GetVariant, VariantResult),
    "get_compilation": (GetCompilation, CompilationResult),
    "get_graph": (GetGraph, GraphResult),
    "search": (Search, SearchResult),
    "compare_trace": (CompareTrace, Done),
    "read_on": (ReadOn, Done),
    "what_if": (WhatIf, WhatIfResult),
    "set_watch": (SetWatch, WatchState),
    "add_variant": (AddVariant, AddVariantResult),
    "start_run": (StartRun, StartRunResult),
    "start_measure": (StartMeasure, StartRunResult),
    "get_measurement": (GetMeasurement, Measurement),
    "start_studies": (StartStudies, StartRunResult),
    "get_study_choices": (GetStudyChoices, StudyChoices),
    "start_sweep": (StartSweep, SweepResult),
    "cancel_sweep": (CancelSweep, Done),
    "get_sweep": (GetSweep, SweepResult),
    "cancel": (Cancel, Done),
    "forget": (Forget, Done),
    "save_report": (SaveReport, SaveReportResult),
    "get_checkup": (GetCheckup, CheckupResult),
    "get_reproducer": (GetReproducer, ReproducerResult),
    "pin_tier": (PinTier, TiersResult),
}
"""Command → its arguments and its result."""

EVENTS: dict[str, type[Message]] = {
    "subjects_changed": SubjectsChanged,
    "report_changed": ReportChanged,
    "job_changed": JobChanged,
    "watch_changed": WatchChanged,
    "measured": Measured,
    "sweep_changed": SweepChanged,
    "tiers_changed": TiersChanged,
    "choices_changed": ChoicesChanged,
}
"""Event → its data."""
