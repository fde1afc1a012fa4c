"""Causes in the scale-up domain: links, in-switch reduction, the path through PCIe."""

from __future__ import annotations

from tierspan.answers.comparison.causes.base import Evidence, Found, Rule, gigabytes, percent
from tierspan.answers.comparison.points import odd_pair
from tierspan.specs.catalog import system

_PCIE_SYSTEM = "l40s-node8"


def _inside(e: Evidence) -> bool:
    return e.setting.cluster is not None and not e.setting.scale_out and bool(e.deciding)


def _nvls_off(e: Evidence) -> Found | None:
    """The figures are those of a ring where the switches could reduce."""
    cluster = e.setting.cluster
    if cluster is None or not cluster.tiers[0].in_network_reduction or e.setting.operation != "all_reduce" or not e.deciding:
        return None
    if e.setting.context.nvls is False or e.environment("NCCL_NVLS_ENABLE") == "0":
        gain = e.under(e.setting) / e.under(e.with_context(nvls=True, algorithm="", protocol=""))
        return Found(3.0, {"gain": percent(1 / gain - 1) if gain == gain and gain > 0 else "-"}, "said") if gain < 0.93 else None
    fit = e.explains(e.with_context(nvls=False))
    if fit <= 0 or not e.bad:
        return None
    return Found(2.0 + 3.0 * fit, {"measured": gigabytes(e.measured_Bps), "share": percent(e.under(e.with_context(nvls=False)))})


def _pcie_path(e: Evidence) -> Found | None:
    """A plateau at or below what a PCIe path carries."""
    if not _inside(e) or e.setting.cluster is None or e.setting.cluster.tiers[0].transport == "pcie":
        return None
    disabled = e.environment("NCCL_P2P_DISABLE") == "1"
    pcie = system(_PCIE_SYSTEM).tiers[0]
    # A generation of PCIe doubles the one before: what a newer host gives is at most twice this.
    if not disabled and (e.ratio > 0.5 or not e.measured_Bps <= 2.0 * pcie.bandwidth_Bps):
        return None
    values = {
        "measured": gigabytes(e.measured_Bps),
        "pcie": gigabytes(pcie.bandwidth_Bps),
        "newer": gigabytes(2 * pcie.bandwidth_Bps),
        "tier": e.tier,
    }
    return Found(9.0 if disabled else 4.0, values, "said" if disabled else "")


def _links_down(e: Evidence) -> Found | None:
    """Below the band inside the domain, above any PCIe path: some links are down or run slow."""
    if not _inside(e) or e.ratio > 0.95 or e.setting.cluster is None:
        return None
    pcie = system(_PCIE_SYSTEM).tiers[0]
    if e.measured_Bps <= 2.0 * pcie.bandwidth_Bps:
        return None
    return Found(1.6, {"share": percent(e.ratio), "tier": e.tier})


def _heat(e: Evidence) -> Found | None:
    """Slightly below the band with the shape of the curve kept: clocks."""
    if not _inside(e) or not 0.7 < e.ratio < 0.95:
        return None
    return Found(1.0, {"share": percent(e.ratio)})


def _odd_pair(e: Evidence) -> Found | None:
    """One pair of devices well below the others."""
    odd = odd_pair(e.log)
    if odd is None:
        return None
    values = {"row": odd.row, "column": odd.column, "rate": gigabytes(odd.rate_Bps), "median": gigabytes(odd.median_Bps), "count": odd.count}
    return Found(5.0, values)


RULES = (
    Rule("odd_pair", "scale-up", _odd_pair, "note"),
    Rule("nvls_off", "scale-up", _nvls_off),
    Rule("pcie_path", "scale-up", _pcie_path),
    Rule("links_down", "scale-up", _links_down),
    Rule("clocks", "scale-up", _heat),
)
