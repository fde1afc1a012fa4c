"""The tables beside measurement files: read in full, refused with file, line, rule and remedy."""

import pytest

from tierspan.formats.companions import licence_of, read_licences, read_peers
from tierspan.quantities.errors import InputError
from tierspan.specs.companions import PeerLine, SourceLicence

LICENCES = "file,source,published_at,licence,basis,reproduced,remark\nt.csv,A,x,MIT,read,yes,\nt.csv,A b,y,none,-,no,closed\ns.csv,,z,MIT,read,yes,\n"
PEERS = """id,peer,version,predicted_step_s,status,reason
1,P,c0,2.5,predicted,
2,P,c0,3,"predicted, refused",no memory
3,P,c0,,not expressible,experts
"""


def test_licences_are_read_and_the_longest_beginning_counts(tmp_path):
    path = tmp_path / "licences.csv"
    path.write_text(LICENCES, encoding="utf-8")
    found = read_licences(path)
    assert found[1] == SourceLicence("t.csv", "A b", "y", "none", "-", False, "closed")
    assert licence_of(found, "t.csv", "A bc") == found[1]
    assert licence_of(found, "t.csv", "A c") == found[0]
    assert licence_of(found, "t.csv", "B") is None
    assert licence_of(found, "s.csv", "") == found[2]


def test_peers_are_read(tmp_path):
    path = tmp_path / "peers.csv"
    path.write_text(PEERS, encoding="utf-8")
    assert read_peers(path) == (
        PeerLine("1", "P", "c0", 2.5, "predicted", ""),
        PeerLine("2", "P", "c0", 3.0, "predicted, refused", "no memory"),
        PeerLine("3", "P", "c0", None, "not expressible", "experts"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            PEERS.replace("2.5", "fast"),
            "{path}:2 [predicted_step_s]: the column predicted_step_s needs a number and holds 'fast'\n  remedy: Write a plain decimal number",
        ),
        (PEERS.replace("2.5", "-1"), "{path}:2 [predicted_step_s]: the column predicted_step_s needs a number and holds '-1'\n"),
        (
            PEERS.replace(",predicted,", ",guessed,"),
            "{path}:2 [status]: the column status holds 'guessed'; allowed: predicted | predicted, refused | not expressible\n",
        ),
        (
            PEERS.replace(",version", ",commit"),
            "{path}:1: this looks like a file of the kind 'peers', but its columns lack: version (found: id, peer",
        ),
        ("", "{path}: the measurement file {path} holds nothing\n"),
    ],
)
def test_peers_that_cannot_be_read(text, message, tmp_path):
    path = tmp_path / "peers.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_peers(path)
    assert str(raised.value).startswith("error: " + message.replace("{path}", str(path)))


def test_a_licence_is_reproduced_or_not(tmp_path):
    path = tmp_path / "licences.csv"
    path.write_text(LICENCES.replace(",yes,", ",maybe,"), encoding="utf-8")
    with pytest.raises(InputError, match=r":2 \[reproduced\]: the column reproduced holds 'maybe'; allowed: yes \| no"):
        read_licences(path)
