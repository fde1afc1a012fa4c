"""The second opinion of ``predict --timeline``: the step played task by task beside the closed form."""

from __future__ import annotations

from collections.abc import Sequence

from tierspan.answers.question import Question
from tierspan.answers.results import TimelineTraffic, TimelineView, Traffic
from tierspan.estimates.cases import Case
from tierspan.estimates.timeline import estimate_timeline
from tierspan.specs.profile.profile import Profile

KINDS = ("tp", "cp", "ep", "pp", "dp")


def timeline_view(question: Question, case: Case, closed: Sequence[Traffic], profile: Profile) -> TimelineView:
    """The timeline of a plan that can run; ``closed`` is what the closed form exposes."""
    found = estimate_timeline(case, profile)
    played = found.timeline
    tiers = [tier.name for tier in question.cluster.tiers]
    seen = {(kind, tiers[min(tier, len(tiers) - 1)]): seconds for (kind, tier), seconds in played.exposed_s.items()}
    said = {(part.kind, part.tier): part.exposed_s for part in closed if part.exposed_s > 0}
    order = sorted(seen.keys() | said.keys(), key=lambda key: (KINDS.index(key[0]), tiers.index(key[1])))
    traffic = tuple(TimelineTraffic(kind, tier, seen.get((kind, tier), 0.0), said.get((kind, tier), 0.0)) for kind, tier in order)
    share = played.bubble_s / found.step_time_s
    return TimelineView(played.schedule, found.step_time_s, found.closed_form_s, found.difference, share, traffic, played.in_flight)
