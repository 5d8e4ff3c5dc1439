"""A replica set told as plainly as possible: lists and dicts, every replica by its name, one state at a time.

It shares nothing with the explorer but the names of settings and outcomes, and is far slower.
"""

import copy
from collections import deque

from kafka_capacity.kafka.durability import Acks, FailureKind, Outcome, Truncation


def start(config, bounds):
    brokers = [
        {"log": [], "mark": 0, "live": True, "clean": False, "last": False} for _ in range(config.replication_factor)
    ]
    return {
        "brokers": brokers,
        "isr": set(range(config.replication_factor)),
        "elr": set(),
        "leader": 0,
        "epoch": 0,
        "epoch_start": 0,
        "known": {},
        "life": 0,
        "failures": 0,
        "power": 0,
        "read": set(),
        "records": [{"status": "unsent", "waits": None, "tries": 0} for _ in range(bounds.records)],
    }


def frozen(state):
    return repr(
        (
            [(b["log"], b["mark"], b["live"], b["clean"], b["last"]) for b in state["brokers"]],
            sorted(state["isr"]),
            sorted(state["elr"]),
            state["leader"],
            state["epoch"],
            state["epoch_start"],
            sorted(state["known"].items()),
            state["life"],
            state["failures"],
            state["power"],
            sorted(state["read"]),
            [(r["status"], r["waits"], r["tries"]) for r in state["records"]],
        )
    )


class Naive:
    def __init__(self, config, bounds):
        self.config, self.bounds = config, bounds
        self.minimum = min(config.min_insync_replicas, config.replication_factor)
        self.old_rule = config.truncation is Truncation.HIGH_WATERMARK

    # What follows by itself.

    def move_mark(self, state):
        leader = state["leader"]
        if leader is None:
            return
        lead = state["brokers"][leader]
        if len(state["isr"]) >= self.minimum:
            ends = [len(lead["log"]) if r == leader else state["known"].get(r, 0) for r in state["isr"]]
            lead["mark"] = max(lead["mark"], min(ends))
        state["read"] |= {entry[0] for entry in lead["log"][: lead["mark"]]}

    def error(self, record):
        record["status"] = "failed" if record["tries"] > self.bounds.retries else "unsent"

    def break_connection(self, state):
        for record in state["records"]:
            if record["status"] in ("waiting", "refused"):
                self.error(record)

    def may_send(self, state):
        busy = sum(record["status"] in ("waiting", "refused") for record in state["records"])
        if busy >= self.bounds.in_flight:
            return None
        return next((i for i, record in enumerate(state["records"]) if record["status"] == "unsent"), None)

    def broken(self, state):
        """The connection breaks, and perhaps one more request is lost on it."""
        plain = copy.deepcopy(state)
        self.break_connection(plain)
        found = [plain]
        number = self.may_send(state)
        if number is not None:
            lost = copy.deepcopy(state)
            record = lost["records"][number]
            record["tries"] += 1
            if self.config.acks is Acks.NONE:
                record["status"] = "untold"
            else:
                self.error(record)
            self.break_connection(lost)
            found.append(lost)
        return found

    def lead(self, state, who, isr):
        state["leader"], state["isr"], state["known"] = who, set(isr), {}
        state["elr"].discard(who)
        state["epoch"] += 1
        for number, broker in enumerate(state["brokers"]):
            broker["last"] = False
            if self.old_rule and broker["live"] and number != who:
                del broker["log"][broker["mark"] :]
        state["epoch_start"] = len(state["brokers"][who]["log"])
        if len(state["isr"]) >= self.minimum:
            state["elr"].clear()
        self.move_mark(state)

    def elect(self, state):
        live = {number for number, broker in enumerate(state["brokers"]) if broker["live"]}
        if state["isr"] & live:
            choices = [(who, state["isr"] & live) for who in state["isr"] & live]
        elif state["elr"] & live:
            choices = [(who, {who}) for who in state["elr"] & live]
        elif self.config.is_unclean_allowed:
            choices = [(who, {who}) for who in live]
        else:
            choices = []
        found = []
        for who, isr in choices:
            after = copy.deepcopy(state)
            self.lead(after, who, isr)
            found.append(after)
        return found or [state]

    # Steps.

    def steps(self, state):
        yield from self.send(state)
        yield from self.answers(state)
        yield from self.fetches(state)
        for who, broker in enumerate(state["brokers"]):
            if not broker["live"]:
                yield from self.come_back(state, who)
        if state["failures"] < self.bounds.failures:
            for after in self.fail(state):
                after["failures"] += 1
                yield after

    def send(self, state):
        number = self.may_send(state)
        if number is None:
            return
        after = copy.deepcopy(state)
        record = after["records"][number]
        if self.bounds.moves_on_resend and state["life"] == 1:
            record["status"] = "elsewhere"
            yield after
            return
        if state["leader"] is None:
            return
        record["tries"] += 1
        log, me = after["brokers"][after["leader"]]["log"], (number, after["life"])
        mine = [place for place, entry in enumerate(log) if entry[:2] == me]
        of_life = [entry[0] for entry in log if entry[1] == after["life"]]
        short = self.config.acks is Acks.ALL and len(after["isr"]) < self.minimum
        out_of_order = self.config.is_idempotent and not mine and of_life and max(of_life) != number - 1
        if short or out_of_order:
            record["status"], record["waits"] = "refused", None
            if self.bounds.in_flight == 1:
                self.error(record)
            yield after
            return
        if self.config.is_idempotent and mine:
            record["waits"] = mine[0] + 1
        else:
            log.append((number, after["life"], after["epoch"]))
            record["waits"] = len(log)
        record["status"] = "waiting"
        if self.config.acks is Acks.NONE:
            record["status"], record["waits"] = "untold", None
        self.move_mark(after)
        yield after

    def answers(self, state):
        if state["leader"] is None:
            return
        mark, short = state["brokers"][state["leader"]]["mark"], len(state["isr"]) < self.minimum
        is_all = self.config.acks is Acks.ALL
        for number, record in enumerate(state["records"]):
            waiting = record["status"] == "waiting"
            if waiting and (not is_all or (mark >= record["waits"] and not short)):
                after = copy.deepcopy(state)
                after["records"][number].update(status="acked", waits=None)
                yield after
            if record["status"] == "refused" or (waiting and is_all and short):
                after = copy.deepcopy(state)
                after["records"][number]["waits"] = None
                self.error(after["records"][number])
                yield after

    def fetches(self, state):
        for who, broker in enumerate(state["brokers"]):
            if state["leader"] in (None, who) or not broker["live"]:
                continue
            after = copy.deepcopy(state)
            mine, lead = after["brokers"][who], after["brokers"][after["leader"]]
            if self.old_rule:
                del mine["log"][len(lead["log"]) :]
            else:
                same = 0
                while same < min(len(mine["log"]), len(lead["log"])) and mine["log"][same] == lead["log"][same]:
                    same += 1
                del mine["log"][same:]
            mine["mark"] = min(mine["mark"], len(mine["log"]))
            offset, told = len(mine["log"]), lead["mark"]
            after["known"][who] = offset
            if offset >= told and offset >= after["epoch_start"]:
                after["isr"].add(who)
            if len(after["isr"]) >= self.minimum:
                after["elr"].clear()
            self.move_mark(after)
            yield copy.deepcopy(after)
            mine["log"] += lead["log"][offset:]
            mine["mark"] = max(mine["mark"], told)
            yield after

    def come_back(self, state, who):
        after = copy.deepcopy(state)
        me = after["brokers"][who]
        me["live"] = True
        if self.config.has_eligible_leaders and not me["clean"]:
            after["isr"].discard(who)
            after["elr"].discard(who)
        me["clean"] = False
        if after["leader"] is not None:
            if self.old_rule:
                del me["log"][me["mark"] :]
            yield after
        elif self.config.has_eligible_leaders and me["last"] and not after["isr"] and not after["elr"]:
            self.lead(after, who, {who})
            yield after
        else:
            yield from self.elect(after)

    def die(self, state, who, *, clean=False):
        states = self.broken(state) if state["leader"] == who else [copy.deepcopy(state)]
        for after in states:
            me, was_leader = after["brokers"][who], after["leader"] == who
            me["live"], me["clean"] = False, clean and self.config.has_eligible_leaders
            after["known"].pop(who, None)
            rest = after["isr"] - {who}
            if was_leader:
                after["leader"], after["known"] = None, {}
                for broker in after["brokers"]:
                    broker["last"] = False
                me["last"] = self.config.has_eligible_leaders
            leaves = (was_leader or after["leader"] is not None) and who in after["isr"]
            if leaves and (rest or self.config.has_eligible_leaders):
                after["isr"] = rest
                if self.config.has_eligible_leaders and len(rest) < self.minimum:
                    after["elr"].add(who)
            if was_leader:
                yield from self.elect(after)
            else:
                self.move_mark(after)
                yield after

    def shorter(self, state, who):
        if self.config.is_flushed:
            return
        for kept in range(len(state["brokers"][who]["log"])):
            after = copy.deepcopy(state)
            me = after["brokers"][who]
            del me["log"][kept:]
            me["mark"] = min(me["mark"], kept)
            yield after

    def fail(self, state):
        kinds, leader = self.bounds.kinds, state["leader"]
        for who, broker in enumerate(state["brokers"]):
            if not broker["live"]:
                continue
            if FailureKind.CRASH in kinds:
                yield from self.die(state, who)
            if FailureKind.CLEAN_STOP in kinds:
                yield from self.die(state, who, clean=True)
            if FailureKind.POWER_LOSS in kinds and state["power"] < self.bounds.power_losses:
                for cut in self.shorter(state, who):
                    cut["power"] += 1
                    yield from self.die(cut, who)
            if FailureKind.QUICK_RESTART in kinds and self.old_rule and leader not in (None, who):
                after = copy.deepcopy(state)
                del after["brokers"][who]["log"][broker["mark"] :]
                yield after
        if leader is not None:
            yield from self.fail_with_leader(state)
        outstanding = [r for r in state["records"] if r["status"] in ("unsent", "waiting", "refused")]
        if FailureKind.PRODUCER_RESTART in kinds and state["life"] == 0 and outstanding:
            after = copy.deepcopy(state)
            after["life"] = 1
            for record in after["records"]:
                if record["status"] in ("unsent", "waiting", "refused"):
                    record.update(status="unsent", waits=None, tries=0)
            yield after

    def fail_with_leader(self, state):
        kinds, leader = self.bounds.kinds, state["leader"]
        if FailureKind.ALL_POWER_LOSS in kinds and state["power"] < self.bounds.power_losses:
            parts = self.broken(state)
            for who, broker in enumerate(state["brokers"]):
                if broker["live"]:
                    parts += [cut for part in parts for cut in self.shorter(part, who)]
            for after in parts:
                after["power"] += 1
                for who, broker in enumerate(after["brokers"]):
                    broker.update(live=False, last=self.config.has_eligible_leaders and who == leader)
                after["leader"], after["known"] = None, {}
                yield after
        if FailureKind.DISCONNECT in kinds:
            yield from self.broken(state)

    # Judgement.

    def outcomes(self, state):
        if state["leader"] is None:
            return {Outcome.UNAVAILABLE}
        log = [entry[0] for entry in state["brokers"][state["leader"]]["log"]]
        if any(record["status"] in ("unsent", "waiting", "refused") for record in state["records"]):
            return set()
        others = [r for r, broker in enumerate(state["brokers"]) if broker["live"] and r != state["leader"]]
        for who in others:
            if who not in state["isr"] or state["known"].get(who, 0) != len(log):
                return set()
            if len(state["brokers"][who]["log"]) != len(log):
                return set()
        found = set()
        if any([entry[0] for entry in state["brokers"][who]["log"]] != log for who in others):
            found.add(Outcome.DIVERGED)
        firsts = list(dict.fromkeys(log))
        if firsts != sorted(firsts):
            found.add(Outcome.REORDERED)
        if set(state["read"]) - set(log):
            found.add(Outcome.READ_THEN_GONE)
        told = [self.outcome_of(record, log.count(number)) for number, record in enumerate(state["records"])]
        found |= {outcome for some in told for outcome in some}
        once = firsts == sorted(firsts) and all(some == set() for some in told)
        return found | ({Outcome.EXACTLY_ONCE} if once else set())

    def outcome_of(self, record, count):
        status, found = record["status"], set()
        if count > 1:
            found.add(Outcome.DUPLICATED)
        missing = {"acked": Outcome.LOST_ACKNOWLEDGED, "untold": Outcome.LOST_SILENTLY}
        if not count and status in missing:
            found.add(missing[status])
        if status == "failed":
            found.add(Outcome.WRITTEN_THOUGH_REFUSED if count else Outcome.REFUSED)
        if status == "elsewhere" and count:
            found.add(Outcome.DUPLICATED_ACROSS_PARTITIONS)
        return found


def every_course(config, bounds):
    """Return the fewest failures of each outcome, by trying everything."""
    naive, first = Naive(config, bounds), start(config, bounds)
    seen, queue, fewest = {frozen(first)}, deque([first]), {}
    while queue:
        state = queue.popleft()
        for outcome in naive.outcomes(state):
            fewest[outcome] = min(fewest.get(outcome, 99), state["failures"])
        for after in naive.steps(state):
            for broker in after["brokers"]:
                broker["mark"] = min(broker["mark"], len(broker["log"]))
            key = frozen(after)
            if key not in seen:
                seen.add(key)
                queue.append(after)
    return fewest


def random_course(config, bounds, random, steps):
    """Return the outcomes that a walk meets, with the failures so far."""
    naive, state, met = Naive(config, bounds), start(config, bounds), set()
    for _ in range(steps):
        met |= {(outcome, state["failures"]) for outcome in naive.outcomes(state)}
        choices = list(naive.steps(state))
        if not choices:
            break
        state = choices[random.integers(len(choices))]
    return met
