"""The assignor of docs/consumer-groups.md works as documented, installed as a package of its own."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]


def fenced(language):
    text = (ROOT / "docs" / "consumer-groups.md").read_text()
    (block,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return block


def test_the_documented_assignor_is_found_by_name_and_simulated(tmp_path):
    (tmp_path / "my_assignors.py").write_text(fenced("python"))
    section, line = fenced("toml").strip().split("\n")
    group = re.search(r'"(.*)"', section).group(1)
    name, target = (part.strip(' "') for part in line.split("="))
    # What pip writes when a package is installed.
    metadata = tmp_path / "my_assignors-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-assignors\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")
    script = (
        "from kafka_capacity.kafka.groups import assignor_names\n"
        "from kafka_capacity.kafka.rebalance.model import Event\n"
        "from tests.plain_groups import plain_group, plain_scenario\n"
        "from kafka_capacity.questions.consumers.simulate import evaluate_group\n"
        "facts = plain_group({'orders': 5}, members=2, assignor='by-number')\n"
        "result = evaluate_group(facts, plain_scenario(facts, member_count=3, events=(Event.SCALE,)))\n"
        "print('by-number' in assignor_names())\n"
        "print([list(member.partitions_after) for member in result.members][:2], result.events[0].rebalances)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": ""},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    known, members = done.stdout.strip().split("\n")
    assert known == "True"
    # The made-up id of the third member sorts before m0 and m1.
    assert members == "[['orders-1', 'orders-4'], ['orders-2']] 1"
