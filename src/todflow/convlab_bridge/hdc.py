"""The handcrafted system (HDC), at the level of acts: convlab's rule-based bot in an adapter.

The bot is ConvLab-2's and still speaks ConvLab-2's acts and state; around it convlab 3 speaks
unified ones. `docs/simulation.md` explains each rule below.
"""

from todflow.convlab_bridge.session import Acts
from todflow.convlab_bridge.slots import normalize_domain_slot_value, reverse_da

# Unified slot -> the bot's key in a domain's "semi" part of the state.
_SEMI = {"price range": "pricerange", "leave at": "leaveAt", "arrive by": "arriveBy"}


def older_state(belief_state: dict[str, dict[str, str]], user_acts: Acts) -> dict:
    """The bot's state ({domain: {semi, book}}, and the user's acts) from the unified one."""
    from convlab.util.multiwoz.state import default_state_old

    state = default_state_old()
    for domain, slots in belief_state.items():
        for slot, value in slots.items():
            if slot.startswith("book "):
                state["belief_state"][domain]["book"][slot.removeprefix("book ")] = value
            else:
                state["belief_state"][domain]["semi"][_SEMI.get(slot, slot)] = value
    state["user_action"] = older_acts(user_acts)
    return state


def older_acts(acts: Acts) -> Acts:
    """Unified acts as the bot's, [Intent, Domain, Slot, value]."""
    named = ("intent", "domain", "slot", "value")
    grouped = reverse_da({"acts": [dict(zip(named, act, strict=True)) for act in acts]})
    return [
        [name.split("-")[1], name.split("-")[0], slot, value]
        for name, pairs in grouped.items()
        for slot, value in pairs
    ]


def unified_act(act: list) -> list[str]:
    """An act of the bot under unified names; a slot unknown to its domain keeps its own."""
    intent, domain, slot, value = (str(part) for part in act)
    intent, domain = intent.lower(), domain.lower()
    try:
        domain, slot, value = normalize_domain_slot_value(domain, slot, value)
    except KeyError:
        slot = slot.lower()
    slot, value = ("" if part == "none" else part for part in (slot, value))
    return [intent, domain, slot, value]


def booked_domain(user_acts: Acts, matches: dict[str, list], booking_slots: dict[str, list]) -> str:
    """The domain that the bot has just booked, which its act does not name.

    It is that of the first user act with a booking slot for which the bot found something.
    """
    for _, domain, slot, _ in user_acts:
        if slot in booking_slots.get(domain, ()) and matches.get(domain):
            return domain.lower()
    raise ValueError("the bot booked, but no user act asked for it")


class Hdc:
    """The rule-based system: tracks the user's acts and answers with acts. A `session.System`."""

    def __init__(self) -> None:
        from convlab.dst.rule.multiwoz import RuleDST
        from convlab.policy.rule.multiwoz.rule_based_multiwoz_bot import (
            RuleBasedMultiwozBot,
            booking_info,
        )

        self.tracker = RuleDST()
        self.bot = RuleBasedMultiwozBot()
        self.booking_slots = booking_info
        self.bot_acts: Acts = []

    @property
    def belief_state(self) -> dict[str, dict[str, str]]:
        return self.tracker.state["belief_state"]

    def reset(self) -> None:
        self.tracker.init_session()
        self.bot.init_session()
        # The bot forgets to forget these, so that one dialogue could leak into the next.
        self.bot.recommend_flag = -1
        self.bot.choice = ""
        self.bot.kb_result = {}

    def respond(self, user_acts: Acts) -> Acts:
        self.tracker.update(user_acts)
        state = older_state(self.belief_state, user_acts)
        # Kept in the bot's own terms: template sentences are made from what it meant.
        self.bot_acts = self.bot.predict(state)
        return [
            act
            for bot_act in self.bot_acts
            for act in self._translate(bot_act, state["user_action"])
        ]

    def _translate(self, bot_act: list, user_acts: Acts) -> Acts:
        """One act of the bot as acts that the user and the evaluator understand."""
        intent, domain, slot, value = unified_act(bot_act)
        if domain == "booking":
            # The user learns from `book` that it has been booked, the evaluator from `inform
            # ref` what.
            domain = booked_domain(user_acts, self.bot.kb_result, self.booking_slots)
            return [["book", domain, "", ""], ["inform", domain, slot, value]]
        if intent == "offerbook":
            # The user takes any act with "book" in it for a booking and never checks what is
            # offered.
            intent = "inform"
        return [[intent, domain, slot, value]]
