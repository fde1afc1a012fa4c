"""``tierspan scale``: why twice the accelerators are not twice the speed."""

from __future__ import annotations

import re
from typing import Any, Final

import click

from tierspan.faces.cli.options import json_option
from tierspan.faces.cli.pages import check_page, write_report
from tierspan.faces.cli.question_options import brief_option, profile_of, profile_option, question_options, report_option, written_at
from tierspan.faces.cli.session import Session
from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.messages import render_error

MOST_SIZES: Final = 64
_RANGE: Final = re.compile(r"^(\d+)\.\.(\d+)$", re.ASCII)


def sizes_of(text: str, option: str) -> tuple[int, ...]:
    """The sizes that a text names: ``512,1024,2048``, or ``8..4096`` for doublings from the first to at most the last; upward or downward.

    Raises:
        InputError: no sizes, one that is no number above 0, a size twice, or too many.
    """
    place = Place(key=option)
    found: list[int] = []
    for part in (piece.strip() for piece in text.split(",")):
        ends = _RANGE.match(part)
        if ends:
            found += _doublings(int(ends[1]), int(ends[2]), part, place)
        elif part.isascii() and part.isdigit() and int(part) > 0:
            found.append(int(part))
        else:
            raise InputError("scale.sizes", place=place, value=part or text)
    if len(set(found)) != len(found):
        raise InputError("scale.sizes_twice", place=place, value=next(size for size in found if found.count(size) > 1))
    if len(found) > MOST_SIZES:
        raise InputError("scale.sizes_many", place=place, count=len(found), most=MOST_SIZES)
    return tuple(found)


def _doublings(first: int, last: int, part: str, place: Place) -> list[int]:
    if first < 1 or last < 1 or max(first, last) > 10**12:
        raise InputError("scale.sizes", place=place, value=part)
    sizes = [first]
    while (sizes[-1] * 2 <= last) if last >= first else (sizes[-1] % 2 == 0 and sizes[-1] // 2 >= last):
        sizes.append(sizes[-1] * 2 if last >= first else sizes[-1] // 2)
    return sizes


@click.command()
@question_options(without=("accelerators", "node_size", "tokens"))
@click.option("-n", "--accelerators", "sizes", metavar="SIZES", help="scale.option.sizes")
@click.option("--node-size", "node_size", type=int, metavar="N", help="predict.option.node_size")
@click.option("--node-sizes", "node_sizes", metavar="SIZES", help="scale.option.node_sizes")
@click.option("--weak/--strong", "weak", default=False, help="scale.option.weak")
@report_option
@profile_option
@brief_option
@json_option
@click.pass_obj
def command(
    session: Session,
    /,
    scenario: str | None,
    sizes: str | None,
    node_sizes: str | None,
    weak: bool,
    page: str | None,
    profile: str | None,
    brief: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Predict the job at several sizes and split what is lost by cause."""
    from tierspan.answers.question import build_question
    from tierspan.answers.scale import scale
    from tierspan.specs.hardware import check_reach

    named = sizes_of(sizes, "--accelerators") if sizes is not None else ()
    nodes = sizes_of(node_sizes, "--node-sizes") if node_sizes is not None else None
    question = build_question(scenario, place_of=written_at, accelerators=named[0] if named else None, **given)
    if not named:
        first = question.cluster.accelerators
        named = (first,) if nodes else (first, 2 * first, 4 * first, 8 * first)
    check_reach(question.cluster.tiers, max(named), Place(key="--accelerators"))
    check_page(page, scenario, profile)
    try:
        answer = scale(question, named, weak=weak, node_sizes=nodes, profile=profile_of(profile))
    except InputError as error:
        if error.message_id != "scale.reference":
            raise
        # The plan breaks a rule: that is an answer, and predict tells which rule.
        session.note(render_error(error, session.lang))
        if not as_json:
            from tierspan.answers.predict import predict
            from tierspan.faces.cli.render.notes import findings

            session.show(findings(predict(question).findings, session.lang))
        if page is not None:
            session.note(session.text("page.not_written", path=page))
        return 1
    if as_json:
        session.json(answer)
    else:
        from tierspan.faces.cli.render.scaling import scaling_parts

        session.show(*scaling_parts(answer, session.lang, brief=brief))
    write_report(session, answer, page)
    return 0 if any(point.status == "predicted" for point in answer.points) else 1
