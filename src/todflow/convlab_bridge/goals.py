"""convlab's goal model, completed so that its goal generator accepts it.

The package ships the marginals (`human_eval/goal/goal_model.pkl`, four items: probabilities of
slots, of their values, of domain orderings, of bookings). The generator wants six: a fifth that it
never reads, and how often the training goals of MultiWOZ put which constraints together. The file
with those is not shipped; `slot_combinations.json` has them counted again (tools/count_goal_slots.py).
"""

import io
import json
import pickle
from importlib import resources
from pathlib import Path


def slot_combinations() -> dict:
    """The generator's sixth item: {domain: {"info": {tuple of slots: number of goals}}}."""
    counts = json.loads((resources.files(__package__) / "slot_combinations.json").read_text())
    return {
        domain: {
            "info": {
                tuple(slots.split(",")) if slots else (): number for slots, number in table.items()
            }
        }
        for domain, table in counts.items()
    }


def complete_goal_model(shipped: Path) -> bytes:
    """The six-item goal model as a pickle; same input, same bytes."""
    marginals, values, orderings, bookings = pickle.loads(shipped.read_bytes())
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, protocol=4)
    # Without the memo the bytes depend on values only, not on which equal strings share an object.
    pickler.fast = True
    pickler.dump((marginals, values, orderings, bookings, {}, slot_combinations()))
    return buffer.getvalue()
