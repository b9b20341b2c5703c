"""Count which constraints the goals of MultiWOZ's training dialogues put together.

ConvLab draws a goal's constraints from such counts, but the package does not ship its file. Goals are the same in
all releases of MultiWOZ. From the official layout of release 2.1:

    .venv/bin/python tools/count_goal_slots.py MULTIWOZ2.1.zip > src/todflow/convlab_bridge/slot_combinations.json
"""

import json
import sys
import zipfile
from collections import Counter
from pathlib import Path

DOMAINS = ("attraction", "hospital", "hotel", "restaurant", "taxi", "train")


def count(archive: Path) -> dict[str, dict[str, int]]:
    """{domain: {"slot,slot,…": goals with exactly these constraints}}, most frequent first."""
    with zipfile.ZipFile(archive) as release:
        dialogues = json.loads(release.read("MULTIWOZ2.1/data.json"))
        lists = [release.read(f"MULTIWOZ2.1/{name}ListFile.txt").decode() for name in ("val", "test")]
    held_out = set(" ".join(lists).split())
    counts: dict[str, Counter] = {domain: Counter() for domain in DOMAINS}
    for name, dialogue in dialogues.items():
        for domain in DOMAINS:
            goal = dialogue["goal"].get(domain)
            if name not in held_out and goal and "info" in goal:
                counts[domain][",".join(sorted(goal["info"]))] += 1
    return {
        domain: dict(sorted(table.items(), key=lambda item: (-item[1], item[0])))
        for domain, table in counts.items()
    }


if __name__ == "__main__":
    print(json.dumps(count(Path(sys.argv[1])), indent=1))
