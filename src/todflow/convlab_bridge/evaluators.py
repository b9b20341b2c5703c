"""The evaluator of a simulated dialogue: convlab 3's own, or one that counts as ConvLab-2 did."""

COUNTINGS = ("convlab2", "convlab3")


def make_evaluator(counting: str):
    """An evaluator; `counting` is "convlab3" (its own) or "convlab2"."""
    from convlab.evaluator.multiwoz_eval import MultiWozEvaluator

    if counting == "convlab3":
        return MultiWozEvaluator()

    class Convlab2Evaluator(MultiWozEvaluator):
        """Booking references are no information, and requested values may match loosely."""

        def add_sys_da(self, da_turn, belief_state=None):
            super().add_sys_da(da_turn, belief_state)
            # "domain_intent_slot_value"; convlab 3 counts every reference given as a false
            # positive.
            self.sys_da_array = [da for da in self.sys_da_array if da.split("_", 3)[2] != "ref"]

        def _final_goal_analyze(self):
            match = mismatch = 0
            for domain, goal in self.goal.items():
                found = self.database.query(
                    domain,
                    list(goal.get("info", {}).items()),
                    soft_contraints=list(goal.get("reqt", {}).items()),
                )
                booked = self.booked[domain] if goal.get("book") else None
                if isinstance(booked, dict):
                    fits = any(row["Ref"] == booked["Ref"] for row in found)
                else:
                    fits = bool(found)
                match, mismatch = match + fits, mismatch + (not fits)
            return match, mismatch

    return Convlab2Evaluator()
