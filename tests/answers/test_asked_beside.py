"""What can be asked beside the step: training on so many tokens, and the tier that joins two ranks."""

import json

import pytest

import tierspan as ts
from tierspan.formats.scenario.settings import BY_NAME, checked
from tierspan.quantities.errors import InputError, Place

JOB = {"system": "dgx-h100", "accelerators": 64, "model": "llama-3.1-8b", "sequence_length": 8192, "global_batch": 128, "tp": 4, "pp": 2}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("15T", 15e12), ("300B", 300e9), ("1.4e12", 1.4e12), (1.4e12, 1.4e12), (1_000_000, 1e6), ("1,000,000", 1e6), ("15 t", 15e12),
        ("1.5 trillion tokens", 1.5e12), ("15万亿", 15e12), ("3000亿", 3e11), ("500M tokens", 5e8),
    ],
)  # fmt: skip
def test_amounts_of_tokens(text, tokens):
    assert checked(BY_NAME["tokens"], text, Place()) == pytest.approx(tokens)


@pytest.mark.parametrize("text", ["", "many", "15TB", "-3T", "0", 0, True, float("nan"), "1e30", "0.5", [15], "1.5 million B", "nan"])
def test_what_is_no_amount(text):
    with pytest.raises(InputError) as error:
        checked(BY_NAME["tokens"], text, Place(key="--tokens"))
    assert "--tokens" in str(error.value)


def test_training_follows_from_the_step():
    found = ts.predict(**JOB, tokens="1T")
    t = found.training
    assert t.steps == -(-(10**12) // (128 * 8192))
    assert t.time_s == pytest.approx(t.steps * found.step_time_s)
    assert (t.low_s, t.high_s) == pytest.approx((t.steps * found.low_s, t.steps * found.high_s))
    assert t.accelerator_hours == pytest.approx(64 * t.time_s / 3600)
    assert t.energy_J == pytest.approx(700 * 64 * t.time_s)
    assert ts.predict(**JOB).training is None
    assert ts.predict(**{**JOB, "tp": 3}, tokens="1T").training is None


def test_tokens_of_a_scenario(tmp_path):
    job = {"sequence_length": 8192, "global_batch": 128, "tokens": "300B"}
    path = tmp_path / "job.json"
    path.write_text(json.dumps({"cluster": {"system": "dgx-h100", "accelerators": 64}, "model": "llama-3.1-8b", "job": job}))
    assert ts.predict(path).training.tokens == 300e9
    assert ts.predict(path, tokens=1e12).training.tokens == 1e12
    yaml = tmp_path / "job.yaml"
    yaml.write_text(
        "cluster: {system: dgx-h100, accelerators: 64}\nmodel: llama-3.1-8b\n" + f"job: {{{', '.join(f'{k}: {v}' for k, v in job.items())}}}\n"
    )
    assert ts.predict(yaml).training.tokens == 300e9


@pytest.mark.parametrize(
    ("a", "b", "kind", "domains", "groups"),
    [
        (0, 3, "scale-up", (0, 0), ("tp",)),
        (0, 4, "scale-up", (0, 0), ("dp",)),
        (1, 5, "scale-up", (0, 0), ("dp",)),
        (0, 5, "scale-up", (0, 0), ()),
        (0, 8, "scale-out", (0, 1), ("dp",)),
        (63, 31, "scale-out", (7, 3), ("pp",)),
    ],
)
def test_the_tier_of_two_ranks(a, b, kind, domains, groups):
    pair = ts.tier_between(None, a, b, **JOB)
    assert (pair.kind, tuple(pair.domains.values()), pair.groups) == (kind, (domains,), groups)
    tier = next(t for t in ts.predict(**JOB).tiers if t.kind == kind)
    assert (pair.tier, pair.bandwidth_Bps, pair.achievable_Bps, pair.latency_s) == (
        tier.name,
        tier.bandwidth_Bps,
        tier.achievable_Bps,
        tier.latency_s,
    )


def test_groups_agree_with_their_placement():
    """Ranks that share a group are as many as the group has, and in as many domains as it spans."""
    given = {**JOB, "model": "mixtral-8x7b", "tp": 2, "cp": 2, "ep": 4}
    question = ts.question(**given)
    found = ts.predict(question, pairs=[(0, rank) for rank in range(1, 64)])
    for group in found.placement:
        mine = [p for p in found.pairs if group.kind in p.groups]
        assert len(mine) + 1 == group.size
        assert sum(p.domains["NVLink 4 (NVSwitch)"][1] == 0 for p in mine) + 1 == group.members_per_domain
        assert {p.tier for p in mine} <= {t.name for t in found.tiers}
        assert any(p.tier == group.tier for p in mine)


def test_three_tiers_and_a_mesh():
    found = ts.predict("docs/examples/example-two-sites.yaml", pairs=[(0, 1), (0, 600), (0, 2047)])
    assert [p.kind for p in found.pairs] == ["scale-up", "scale-out", "dci"] or len({p.tier for p in found.pairs}) > 1
    assert ts.tier_between(None, 0, 3, **{**JOB, "system": "dgx-v100", "precision": "fp16"}).pair_bandwidth_Bps > 0


@pytest.mark.parametrize(("a", "b", "rule"), [(0, 64, "pair.no_rank"), (-1, 3, "pair.no_rank"), (5, 5, "pair.same")])
def test_ranks_that_are_none(a, b, rule):
    with pytest.raises(InputError) as error:
        ts.tier_between(None, a, b, **JOB)
    assert error.value.message_id == rule


def test_the_command_tells_both(capsys):
    from tierspan.faces.cli.main import main

    line = ["predict", "--system", "dgx-h100", "-n", "64", "--model", "llama-3.1-8b", "--seq-len", "8192", "--global-batch", "128", "--tp", "2"]
    assert main([*line, "--tokens", "1T", "--pair", "0,9", "--pair", "0, 1"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for expected in (
        "Training on 1 T tokens: 953,675 steps",
        "goodput of 100 %",
        "Ranks 0 and 9 are joined by InfiniBand NDR, scale-out",
        "Ranks 0 and 1",
    ):
        assert expected in told
    assert main([*line, "--pair", "0-9"]) == 2
    assert "names no two ranks" in capsys.readouterr().err
    assert main(["predict", *line[1:], "--beside", "hgx-b200", "--tokens", "1T", "--lang", "zh"]) == 0
    told = capsys.readouterr().out
    assert told.count("953,675") == 2
    assert "hgx-b200" in told
