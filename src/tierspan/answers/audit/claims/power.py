"""Power of many: ``432 CloudMatrix384 draw 241 MW``, ``100,000 H100 need 70 MW``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tierspan.answers.audit.claims.amounts import agrees
from tierspan.answers.audit.claims.base import Found, Kind, found, number, shown, told
from tierspan.answers.audit.claims.sentence import Sentence
from tierspan.formats.figures.known import part
from tierspan.specs.catalog.tables import facts

_DRAWS: Final = r"\bpower|\bdraw|\bneed|\bconsum|\btake|\bload|[=≈]|功率|功耗|电力|用电|需|耗电|总功|\btotal|共|约"


class Power:
    """A number of parts of the catalogue and the power that they are said to draw together."""

    name = "power"
    order = 14

    def find(self, sentence: Sentence) -> Iterator[Found]:
        """A counted part and a power that is no figure of one of them."""
        watts = [a for a in sentence.of("W") if not a.per]
        if not watts or not sentence.counted_parts or not sentence.says(_DRAWS):
            return
        counted, named = sentence.counted_parts[0]
        known, said = part(named.thing, named.id), max(watts, key=lambda a: a.value)
        if (counted.noun == "accelerator" and known.is_system) or counted.value < 2 or counted.value != int(counted.value):
            return
        about = (counted, said)
        accelerators = counted.value * known.accelerators
        least = accelerators * known.power_W if known.power_W is not None else None
        units = (
            sorted({f.value for f in facts("system_facts").get(known.id, ()) if f.key == "unit_power" and not f.is_text}) if known.is_system else []
        )
        lines = [
            told("power.units", number=number(counted.value), part=known.id, each=shown(u, "W"), total=shown(counted.value * u, "W")) for u in units
        ]
        if least is not None and known.power_W is not None:
            lines.append(told("power.devices", number=number(accelerators), each=shown(known.power_W, "W"), total=shown(least, "W")))
        if not lines:
            yield found("unanswerable", told("power.unknown", part=known.id), about=about)
        elif least is not None and said.value < 0.98 * least:
            yield found("refuted", *lines, told("power.below", said=said.text), about=about)
        elif any(agrees(said, counted.value * u, about=True) for u in units) or (not known.is_system and least is not None and agrees(said, least)):
            devices_only = () if units else (told("power.devices_only"),)
            yield found("confirmed", *lines, *devices_only, about=about)
        elif units and not 0.9 * min(units) <= said.value / counted.value <= 1.1 * max(units):
            yield found("refuted", *lines, told("product.said", said=said.text, ratio=number(said.value / counted.value / units[-1], 3)), about=about)
        else:
            yield found("unanswerable", *lines, told("power.rest", said=said.text), about=about)


KINDS: tuple[Kind, ...] = (Power(),)
