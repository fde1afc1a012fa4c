"""Constants, stacks and the shipped profile: inside their bounds, complete, and fitted with the laws that stand here."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tierspan.estimates.fingerprint import law_hash
from tierspan.specs.catalog import accelerator, accelerator_ids, system, system_ids
from tierspan.specs.profile.constants import Constants
from tierspan.specs.profile.load import load_profile
from tierspan.specs.profile.profile import (
    DATA,
    Keys,
    Profile,
    lookup_keys,
    prior_value,
    priors,
    profile_from_json,
    profile_to_json,
    shipped_profile,
    transports,
)
from tierspan.specs.stacks.stack import stack, stacks

SHIPPED = DATA / "profile.json"
fitted = pytest.mark.skipif(not SHIPPED.exists(), reason="no fitted profile ships yet")
H100 = Keys(accelerator("h100-sxm5-80gb"), "bf16", stack("megatron-core"), "nvlink", "infiniband")


@pytest.mark.parametrize("name", priors())
def test_a_prior_lies_inside_its_bounds(name: str) -> None:
    p = priors()[name]
    assert 0 < p.low <= p.prior <= p.high
    assert 0 < p.sigma < 2
    assert p.neutral is None or p.neutral >= 0
    assert p.fit in ("yes", "no", *stacks())
    assert p.level in ("global", "architecture|precision", "architecture|kernel", "stack", "transport")
    assert p.unit
    assert p.meaning


def test_every_constant_of_the_law_has_a_row() -> None:
    assert set(Constants.__dataclass_fields__) - {"gemm_efficiency_wide"} == set(priors())


def test_every_prior_of_every_accelerator_lies_inside_the_bounds() -> None:
    p = priors()["gemm_efficiency"]
    for name in accelerator_ids():
        card = accelerator(name)
        for precision in card.peak_flops:
            value = prior_value("gemm_efficiency", replace(H100, accelerator=card, precision=precision))
            assert p.low <= value <= p.high, (name, precision)


def test_every_transport_of_the_catalogue_has_a_share_of_line_rate() -> None:
    used = {t.transport for name in system_ids() for t in system(name).tiers}
    assert used <= set(transports())
    assert all(0.2 <= share <= 1 for pair in transports().values() for share in pair)


@pytest.mark.parametrize("name", stacks())
def test_a_stack_has_a_family_and_possible_facts(name: str) -> None:
    s = stacks()[name]
    assert s.family in stacks()
    assert s.source
    assert s.name
    assert s.flash_attention in (0, 1)
    assert s.selective_attention in (0, 1)
    assert s.dispatch_once in (0, 1)
    assert s.attention_kernel in ("cudnn", "flash-2", "own")
    for flag in (s.balances_stages, s.fuses_sinks, s.drops_tokens, s.host_driven):
        assert flag in (0, 1)
    assert 0 <= s.gathered_tensors <= 20
    assert s.gradient_bytes in (2, 4)
    assert s.dispatch_bytes in (1, 2)
    assert s.bucket_elements > 0
    assert s.bucket_elements_per_rank >= 0
    assert 2018 <= s.year <= 2030


def test_a_stack_takes_the_constants_of_its_family() -> None:
    own = Profile("own", {"stack_factor": {"nemo": 0.9}})
    assert own.value("stack_factor", H100) == 0.9
    assert own.value("stack_factor", replace(H100, stack=stack("torchtitan"))) == priors()["stack_factor"].prior
    # Megatron-Core under NeMo is the same engine; a Bridge release is not
    assert own.known("stack_factor", H100)
    assert not own.known("stack_factor", replace(H100, stack=stack("megatron-bridge")))


def test_half_precisions_share_their_units() -> None:
    assert lookup_keys("gemm_efficiency", replace(H100, precision="fp16")) == lookup_keys("gemm_efficiency", H100) == ["hopper|bf16"]


def test_parts_of_one_design_share_their_efficiencies() -> None:
    h200 = replace(H100, accelerator=accelerator("h200-sxm"))
    assert lookup_keys("gemm_efficiency", h200) == lookup_keys("gemm_efficiency", H100)
    # the attention core depends on the kernel too
    assert lookup_keys("attention_efficiency", h200) == lookup_keys("attention_efficiency", H100) == ["hopper|cudnn"]
    assert lookup_keys("attention_efficiency", replace(H100, stack=stack("nanotron"))) == ["hopper|flash-2"]
    # what stands in no catalogue is a design of its own
    own = replace(H100, accelerator=replace(H100.accelerator, id="mine", architecture=""))
    assert lookup_keys("gemm_efficiency", own) == ["mine|bf16"]


def test_what_is_fitted_for_one_stack_is_neutral_elsewhere() -> None:
    nanotron = replace(H100, stack=stack("nanotron"))
    for name, neutral in (("host_pipeline_s", 0), ("host_cross_factor", 1), ("rank_skew_s", 0), ("slot_wait_s", 0)):
        p = priors()[name]
        assert prior_value(name, H100) == p.neutral == neutral
        assert prior_value(name, nanotron) == p.prior


def test_gathered_constants_are_the_values_of_each_case() -> None:
    keys = [H100, replace(H100, precision="fp8"), replace(H100, stack=stack("nanotron")), replace(H100, scale_out_transport="roce"), H100]
    profile = shipped_profile()
    found = profile.gather(keys)
    for name in priors():
        np.testing.assert_array_equal(getattr(found, name), [profile.value(name, k) for k in keys], err_msg=name)
    assert found.gemm_efficiency_wide[1] == profile.value("gemm_efficiency", H100)


def test_a_profile_goes_to_json_and_back() -> None:
    p = Profile("2026-01-01", {"stack_factor": {"nemo": 0.9}}, {"rows": 3, "note": "甲"})
    assert profile_from_json(profile_to_json(p)) == p


# the profile that ships


@fitted
def test_the_shipped_profile_was_fitted_with_these_laws() -> None:
    """Laws or data changed since: run ``tierspan calibrate`` again."""
    assert shipped_profile().record["law_hash"] == law_hash()


@fitted
def test_every_shipped_constant_is_known_and_possible() -> None:
    profile = load_profile(SHIPPED)  # checks names and bounds
    designs = {accelerator(name).architecture or name for name in accelerator_ids()}
    keys = {"": {""}, "stack": set(stacks()), "architecture|precision": designs, "architecture|kernel": designs, "transport": set(transports())}
    for name, table in profile.values.items():
        level = priors()[name].level
        for key, value in table.items():
            assert key.split("|")[0] in keys["" if level == "global" else level], (name, key)
            assert math.isfinite(value)
        assert priors()[name].fit != "no", name


@fitted
def test_the_record_tells_how_the_profile_came_about() -> None:
    record = shipped_profile().record
    assert {"date", "data", "data_sha256", "law_hash", "rows_fitted", "rows_scored", "errors", "intervals", "counts"} <= set(record)
    assert record["rows_fitted"] >= record["rows_scored"] > 1000
    # each split is harder than the one before
    errors = [record["errors"][split]["median_ape"] for split in ("fitted", "groups left out", "sources left out")]
    assert errors == sorted(errors)
    assert errors[1] <= 0.16


@fitted
def test_shipped_intervals_hold_one_and_are_wider_for_what_is_new() -> None:
    intervals = shipped_profile().record["intervals"]
    assert {"all", "new stack or accelerator"} <= set(intervals)
    for name, (low, high, rows) in intervals.items():
        assert 0.3 < low < 1 < high < 3.5, name
        assert rows >= 20, name
    new, everything = intervals["new stack or accelerator"], intervals["all"]
    assert new[0] <= everything[0] < everything[1] <= new[1]


@fitted
def test_every_fitted_stack_and_accelerator_was_measured() -> None:
    record, values = shipped_profile().record, shipped_profile().values
    assert set(values["stack_factor"]) <= set(record["counts"]["stack"])
    # units that only the wide part of FP8 rows feels have no row of their own
    cards = {key.split("|")[0] for key in record["counts"]["accelerator|precision"]}
    designs = {accelerator(name).architecture or name for name in cards}
    assert {key.split("|")[0] for key in values["gemm_efficiency"]} <= designs
