"""The fit of the communication constants: what it finds, what it records, and when it is stale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tierspan.estimates.communication import CollectiveCase
from tierspan.estimates.communication.constants import CommunicationProfile, gather, key_for, priors, shipped, value_of
from tierspan.estimates.communication.cross import cross_validate, group_folds
from tierspan.estimates.communication.dataset import collective_data
from tierspan.estimates.communication.estimate import batch_of, evaluate
from tierspan.estimates.communication.fit import Data, constants_at, fit, layout_of, parts_of, values_of
from tierspan.estimates.communication.intervals import bounds_for
from tierspan.estimates.communication.record import PRIORS, communication_hash
from tierspan.formats.measurements import read_measurements
from tierspan.specs.catalog import cluster

SHARED = Path(__file__).parents[2].parent / "shared" / "validation" / "collectives.csv"
H100 = cluster("hgx-h100", 256)


def made(change: dict[tuple[str, str], float], weights: np.ndarray | None = None) -> Data:
    """Times of a machine whose constants differ from the priors by ``change`` (factors)."""
    cases = [CollectiveCase("all_reduce", 2.0**k, H100, n, 8) for k in range(3, 34, 2) for n in (8, 16, 32, 64)]
    batch = batch_of(cases, PRIORS)
    layout = layout_of(batch)
    theta = layout.start + np.array([np.log(change.get(name, 1.0)) for name in layout.names])
    time = evaluate(batch, constants_at(theta, batch.constants, layout)).time_s
    ones = np.ones(len(cases))
    heavy = 20 * ones  # so that the rows outweigh the priors
    return Data(batch, layout, np.arange(len(cases)), time, heavy if weights is None else weights, ones, parts_of(batch, layout))


def test_fit_finds_constants_that_made_the_data():
    change = {("net_share", "infiniband"): 0.94, ("nvls_share", "nvlink4"): 0.95}
    data = made(change)
    found = fit(data)
    assert np.abs(found.residual).max() < 0.03
    values = values_of(data, found)
    for (name, key), factor in change.items():
        assert values[name][key] == pytest.approx(priors()[name][key].value * factor, rel=0.02)


def test_fit_of_the_priors_stays_there():
    data = made({})
    assert values_of(data, fit(data)) == {}


def test_one_wild_row_does_not_bend_a_law():
    data = made({}, np.ones(64))
    data.measured_s[40] *= 50
    moved = fit(data).theta - data.layout.start
    assert np.abs(moved).max() < 0.05


def test_rows_without_weight_are_not_seen():
    data = made({("net_share", "infiniband"): 0.8}, np.zeros(64))
    assert fit(data).theta == pytest.approx(data.layout.start)


def test_every_prior_has_a_source_and_lies_between_its_bounds():
    for table in priors().values():
        for prior in table.values():
            assert prior.source
            assert prior.low < prior.value < prior.high or prior.value == pytest.approx(prior.high)


def test_the_most_specific_key_is_taken():
    batch = batch_of([CollectiveCase("all_reduce", 8, H100, 16, 8, library="ctran"), CollectiveCase("all_reduce", 8, H100, 16, 8)])
    assert [key_for("net_hop_s", k) for k in batch.keys] == ["ctran/infiniband", "infiniband"]


def test_a_transport_without_prior_hops_at_the_catalogue_s_latency():
    batch = batch_of([CollectiveCase("all_reduce", 8, H100, 16, 8, transport="carrier-pigeon")])
    assert value_of("net_hop_s", batch.keys[0], PRIORS, 1.5e-3) == 1.5e-3
    assert gather(batch.keys, [1.5e-3], PRIORS).net_hop_s[0] == 1.5e-3


def test_fitted_values_replace_priors():
    keys = batch_of([CollectiveCase("all_reduce", 8, H100, 8, 8)]).keys[0]
    assert value_of("up_share", keys, CommunicationProfile("x", {"up_share": {"nvlink4": 0.5}})) == 0.5


def test_intervals_of_what_is_new_are_never_narrower():
    raw = {"all": [0.9, 1.1, 100], "new stack or accelerator": [0.95, 2.0, 50]}
    low, high = bounds_for(["below 1 MiB, one domain", "new"], raw)
    assert list(low) == [0.9, 0.9]
    assert list(high) == [1.1, 2.0]
    assert np.isnan(bounds_for(["new"], {})[0]).all()


def test_the_shipped_fit_is_not_stale():
    assert shipped().record["law_hash"] == communication_hash(), "fit the communication constants again"


def test_the_record_meets_the_bars():
    errors = shipped().record["errors"]
    large, small = (errors[f"pages left out, three pages or more, {name}"] for name in ("1 MiB and above", "below 1 MiB"))
    assert large["median_ape"] <= 0.10
    assert small["median_ape"] <= 0.25
    assert abs(large["bias"]) <= 0.05
    assert abs(small["bias"]) <= 0.05


@pytest.mark.skipif(not SHARED.exists(), reason="no public measurements beside this checkout")
def test_a_page_left_out_is_predicted_by_the_others():
    rows = [r for r in read_measurements(SHARED).collectives if r.collective == "all_reduce" and r.accelerator == "H200"]
    data = collective_data(rows, PRIORS)
    time, number = cross_validate(data, ["a" if "Azure" in p else "b" for p in data.pages])
    measured = data.fit_data.measured_s
    assert number.max() == 1
    assert np.median(np.abs(time / measured - 1)) < 0.1
    assert len(set(group_folds(data))) <= 10
    assert len(data.pages) == len(time)
