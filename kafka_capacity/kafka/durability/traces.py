"""The shortest way to an outcome, in plain words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kafka_capacity.kafka.durability.explore import Explored, following
from kafka_capacity.kafka.durability.rules import (
    ELIGIBLE,
    HIGH_WATERMARK,
    IN_SYNC,
    LEADS,
    LED_LAST,
    LENGTH,
    LIVE,
    NAME,
    SENT_UNTOLD,
    TOLD_ERROR,
    UNSENT,
    Rules,
    States,
    Words,
    attempts_of,
    slot,
    status_of,
)
from kafka_capacity.kafka.durability.settings import Outcome
from kafka_capacity.kafka.durability.steps import Step

_NAMES = "ABCD"


def trace(explored: Explored, outcome: Outcome) -> list[str]:
    """Describe a shortest way to a possible outcome, among those with the fewest failures, a line a step.

    Raises:
        KeyError: the outcome is not possible within the bounds.
    """
    reached, rules = explored.reached, explored.reached.rules
    way = reached.way_to(explored.shortest[outcome])
    here = reached.states.one(way[0])
    here = replace(here, replicas=NAME.put(here.replicas, np.arange(here.replicas.shape[1])))
    lines = []
    for number in way[1:]:
        wanted = reached.states.one(number)
        after = _step(rules, here, wanted, int(reached.step[number]))
        lines.append(_Words(rules, here, after).of(int(reached.step[number])))
        here = after
    return [*lines, _end(here)]


def _step(rules: Rules, here: States, wanted: States, code: int) -> States:
    """Take a step again, with names; which of two like replicas takes it does not matter."""
    for step, found in following(rules, here):
        if step >> 4 != code >> 4:
            continue
        same = (NAME.put(found.replicas, 0) == wanted.replicas).all(axis=1) & (found.rest == wanted.rest)
        if same.any():
            return found.one(int(np.argmax(same)))
    raise AssertionError("a step of a trace cannot be taken again")


class _Words:
    """A step in words, from the states before and after it."""

    def __init__(self, rules: Rules, before: States, after: States) -> None:
        self._rules = rules
        self._before, self._after = before, after
        self._was, self._is = _by_name(before), _by_name(after)

    def of(self, code: int) -> str:
        """Return the step with a code."""
        step = Step(code >> 4)
        record = code & 15
        if step is Step.SEND:
            return self._sent(record)
        if step is Step.SEND_ELSEWHERE:
            return f"the producer sends record {record + 1} again, now to another partition, where it is written"
        if step is Step.ANSWER:
            return f"{self._leader(self._was)} acknowledges record {record + 1}"
        if step is Step.ANSWER_ERROR:
            return f"record {record + 1} is answered with an error, or not in time, {self._then(record)}"
        if step in (Step.FETCH, Step.ASK):
            return self._fetched(is_answered=step is Step.FETCH)
        if step is Step.RETURN:
            name = next(name for name, word in self._is.items() if LIVE.get(word) > LIVE.get(self._was[name]))
            return f"replica {name} is back{self._cut(name)}{self._now_leads()}"
        if step is Step.DISCONNECT:
            return f"the connection of the producer breaks{self._unanswered()}"
        if step is Step.PRODUCER_RESTART:
            return "the producer restarts with a new producer id, and sends again everything unacknowledged"
        return self._died(step)

    def _sent(self, record: int) -> str:
        again = " again" if attempts_of(record).get(self._before.rest)[0] else ""
        leader = self._leader(self._was)
        name = next(name for name, word in self._was.items() if LEADS.get(word))
        sent = f"the producer sends record {record + 1}{again}; {leader}"
        if LENGTH.get(self._is[name]) > LENGTH.get(self._was[name]):
            return f"{sent} appends it at offset {int(LENGTH.get(self._was[name]))}{self._mark()}"
        if bool(self._rules.is_short_of_isr(self._before)[0]):
            return f"{sent} rejects it because too few replicas are in sync"
        if status_of(record).get(self._after.rest)[0] in (UNSENT, TOLD_ERROR):
            return f"{sent} rejects it as out of sequence"
        return f"{sent} has it already and appends nothing"

    def _fetched(self, *, is_answered: bool) -> str:
        changed = [name for name, word in self._is.items() if word != self._was[name] and not LEADS.get(word)]
        name = changed[0] if changed else next(iter(self._is))
        was, now = self._was[name], self._is[name]
        verb = "fetches" if is_answered else f"fetches from offset {int(LENGTH.get(now))}"
        parts = [f"replica {name} {verb}"]
        if IN_SYNC.get(now) > IN_SYNC.get(was):
            parts.append("joins the ISR")
        if is_answered:
            parts.append(f"holds {_content(now)}")
        if HIGH_WATERMARK.get(now) > HIGH_WATERMARK.get(was):
            parts.append(f"learns of the high watermark {int(HIGH_WATERMARK.get(now))}")
        return ", ".join(parts) + self._mark()

    def _died(self, step: Step) -> str:
        gone = [name for name, word in self._is.items() if LIVE.get(word) < LIVE.get(self._was[name])]
        if step is Step.QUICK_RESTART:
            name = next((name for name, word in self._is.items() if word != self._was[name]), "B")
            return f"replica {name} restarts so quickly that it stays in the ISR{self._cut(name)}"
        if step is Step.ALL_POWER_LOSS:
            lost = "".join(self._cut(name) for name in gone)
            return f"all replicas lose power at once{lost}{self._unanswered()}"
        name = gone[0]
        role = ", the leader," if LEADS.get(self._was[name]) else ""
        how = {Step.POWER_LOSS: "loses power", Step.CLEAN_STOP: "stops cleanly"}.get(step, "crashes")
        cut = self._cut(name) if step is Step.POWER_LOSS else ""
        return f"replica {name}{role} {how}{cut}{self._unanswered()}{self._now_leads()}"

    def _leader(self, replicas: dict[str, Words]) -> str:
        return next((f"replica {name}" for name, word in replicas.items() if LEADS.get(word)), "nobody")

    def _mark(self) -> str:
        was, now = (int(HIGH_WATERMARK.get(states.replicas[0, 0])) for states in (self._before, self._after))
        return f"; the high watermark is {now}" if was != now else ""

    def _cut(self, name: str) -> str:
        was, now = self._was[name], self._is[name]
        lost = int(LENGTH.get(was) - LENGTH.get(now))
        if not lost:
            return ""
        records = "record" if lost == 1 else f"{lost} records"
        return f", {name} loses the last {records} of its log and is left with {_content(now)}"

    def _now_leads(self) -> str:
        was, now = self._leader(self._was), self._leader(self._is)
        if was == now:
            return ""
        if now == "nobody":
            return "; no replica can lead"
        name = now.removeprefix("replica ")
        may_lead = any(flag.get(self._was[name]) for flag in (IN_SYNC, ELIGIBLE, LED_LAST))
        unclean = "" if may_lead else ", which was not in sync,"
        cuts = "".join(self._cut(other) for other in self._is if other != name and LIVE.get(self._is[other]))
        return f"; {now}{unclean} leads{cuts}"

    def _unanswered(self) -> str:
        parts = []
        for record in range(self._rules.bounds.records):
            was, now = (int(status_of(record).get(states.rest)[0]) for states in (self._before, self._after))
            tried = [int(attempts_of(record).get(states.rest)[0]) for states in (self._before, self._after)]
            if tried[1] > tried[0]:
                ending = "" if now == SENT_UNTOLD else f", {self._then(record)}"
                parts.append(f"; record {record + 1} was sent and is lost in transit{ending}")
            elif was != now:
                parts.append(f"; record {record + 1} is not acknowledged, {self._then(record)}")
        return "".join(parts)

    def _then(self, record: int) -> str:
        gives_up = status_of(record).get(self._after.rest)[0] == TOLD_ERROR
        return "and the producer gives up" if gives_up else "and the producer will send it again"


def _by_name(states: States) -> dict[str, Words]:
    words = states.replicas[0]
    order = np.argsort(NAME.get(words))
    return {_NAMES[int(NAME.get(words[place]))]: words[place] for place in order}


def _content(word: Words) -> str:
    records = [str(int(slot(word, number) & 0b11)) for number in range(int(LENGTH.get(word)))]
    return f"records {', '.join(records)}" if len(records) > 1 else f"record {records[0]}" if records else "nothing"


def _end(states: States) -> str:
    replicas = _by_name(states)
    if not states.is_led[0]:
        return "in the end there is no leader"
    leader = next(name for name, word in replicas.items() if LEADS.get(word))
    others = [
        f"{name} {_content(word)}"
        for name, word in replicas.items()
        if name != leader and LIVE.get(word) and _content(word) != _content(replicas[leader])
    ]
    ending = f", though {' and '.join(others)}" if others else ""
    return f"in the end the leader, replica {leader}, holds {_content(replicas[leader])}{ending}"
