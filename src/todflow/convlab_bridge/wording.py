"""Template sentences for dialogue acts, lexical and delexicalised at once, in one tokenisation."""

import re

from todflow.convlab_bridge.annotation import slot_name
from todflow.convlab_bridge.session import Acts

# What a database or the bot says when it has no value.
UNKNOWN = ("", "?", "none", "unknown")

# The templates have no word for a service that a hotel lacks.
_LACKS = {
    "internet": "Sorry , they do not offer internet .",
    "parking": "Sorry , they do not offer parking .",
}

_HOLE = re.compile(r"#[\w-]+#")
_SPACED = re.compile(r"(?<!\d)[.,:](?!\d)|(?<=\d)[.,:](?!\d)|(?<!\d)[.,:](?=\d)|[?!;()]")
_CLITIC = re.compile(r"(?<=\w)(n't|'(?:s|m|re|ve|ll|d))(?!\w)")
_DOUBLED = re.compile(r"([!?.,]) \.(?= |$)")
_LOOSE_CLITIC = re.compile(r" ' (s|m|re|ve|ll|d)(?!\w)")


def tokenise(text: str) -> str:
    """Lower-cased text with spaces around punctuation and before 's, n't and the like.

    Full stops, commas and colons between digits stay (`23.60`, `17:15`).
    """
    text = _SPACED.sub(lambda mark: f" {mark.group()} ", text.lower())
    text = _CLITIC.sub(r" \1", " ".join(text.split()))
    text = " ".join(_LOOSE_CLITIC.sub(r" '\1", f" {text}").split())
    # The generator ends a sentence with a full stop even after an exclamation mark or a comma.
    return _DOUBLED.sub(lambda marks: marks[1].replace(",", "."), text)


class Wording:
    """convlab's manual templates for both sides. Draws from the global generator, as they do."""

    def __init__(self) -> None:
        from convlab.nlg.template.multiwoz import TemplateNLG

        self._user = TemplateNLG(is_user=True, mode="manual")
        self._system = TemplateNLG(is_user=False, mode="manual")

    def user(self, acts: Acts) -> str:
        """The user's sentences for unified acts; "" when no template knows any of them."""
        return tokenise(self._user.generate(acts))

    def system(self, acts: Acts) -> tuple[str, str]:
        """The system's (lexical, delexicalised) sentences for acts as `sayable` returns them.

        Both come from the same drawn template, whose holes are filled with the value or with
        `[value_<slot>]`.
        """
        lexical, delexicalised = [], []
        for act in acts:
            sentence = self._sentence(act)
            lexical.append(sentence.replace("@", tokenise(act[3])))
            delexicalised.append(sentence.replace("@", f"[value_{slot_name(act[1], act[2])}]"))
        return " ".join(filter(None, lexical)), " ".join(filter(None, delexicalised))

    def _sentence(self, act: list[str]) -> str:
        """One act's sentence with "@" where its value goes."""
        intent, domain, slot, value = act
        if slot in _LACKS and intent in ("inform", "recommend") and value == "no":
            return tokenise(_LACKS[slot])
        if intent != "request" and slot:
            value = "not available" if value in UNKNOWN else "@"
        sentence = self._system.generate([[intent, domain, slot, value]])
        # A few templates misspell their hole, which the generator then leaves open.
        return tokenise(_HOLE.sub("@", sentence))


def sayable(acts: Acts) -> Acts:
    """The acts that are worth a sentence. Never empty, unless `acts` is.

    Left out are a recommendation's unknown attributes and its reference number (nothing is booked
    yet), and "dontcare" among the constraints of an offer or a failure to find one.
    """
    kept = []
    for act in acts:
        intent, _, slot, value = act
        pointless = intent == "recommend" and slot and (slot == "ref" or value in UNKNOWN)
        if not pointless and not (intent in ("nooffer", "offerbook") and value == "dontcare"):
            kept.append(act)
    return kept or [[intent, domain, "", ""] for intent, domain, _, _ in acts[:1]]
