"""The 80 % interval of one case: from its regime, wider where a constant stands on few groups or none, narrower where the user measured."""

from __future__ import annotations

from tierspan.estimates.calibration.intervals import MEASURED, Bounds, lookup, table_from_json, widened
from tierspan.estimates.cases import Case
from tierspan.estimates.regimes import NANOTRON
from tierspan.specs.profile.profile import Profile


def own_key(case: Case) -> str:
    """By what measured runs of the user are remembered: software stack and accelerator."""
    return f"{case.stack.id}|{case.cluster.accelerator.id}"


def measured_accelerator(profile: Profile, case: Case) -> bool:
    """Whether runs on this very part stand behind the constants; another part of its design does not count (records without counts: yes)."""
    counts = profile.record.get("counts", {}).get("accelerator|precision")
    return counts is None or any(name.split("|")[0] == case.cluster.accelerator.id for name in counts)


def bounds_of_case(profile: Profile, case: Case, regime: str) -> tuple[Bounds | None, str]:
    """Factors on the predicted time, and the name of the row of the interval table that they come from; none where nothing was measured."""
    table = table_from_json(profile.record.get("intervals", {}))
    # runs of nanotron stall by chance: one that was measured says little of the next
    if own_key(case) in profile.record.get("own", {}) and MEASURED in table and regime != NANOTRON:
        own, usual = table[MEASURED], table.get(regime)
        # a regime that repeats better than runs do on the whole keeps its narrower bounds
        return (own if usual is None or own.high / own.low < usual.high / usual.low else usual), MEASURED
    known = measured_accelerator(profile, case) and profile.known("gemm_efficiency", case.keys) and profile.known("stack_factor", case.keys)
    found, basis = lookup(table, regime, known)
    return (None if found is None else widened(found, profile.doubt(case.keys))), basis
