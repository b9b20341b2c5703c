"""Cleaning of In-Car text: Treebank tokens, noun lemmas, joined clock times."""

import gzip
import re
from functools import cache
from importlib import resources

from nltk.tokenize.destructive import NLTKWordTokenizer

# Suffixes of a noun's inflected forms, as in WordNet's morphological analysis.
_SUFFIXES = (
    ("s", ""),
    ("ses", "s"),
    ("ves", "f"),
    ("xes", "x"),
    ("zes", "z"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("men", "man"),
    ("ies", "y"),
)
_CLOCK = re.compile(r"(\d) ([ap]m)")
_TOKENIZER = NLTKWordTokenizer()


@cache
def _nouns() -> tuple[frozenset[str], dict[str, list[str]]]:
    """WordNet 3.0's single-word nouns, and its exceptions: inflected form -> base forms."""
    content = (resources.files(__package__) / "noun_lemmas.txt.gz").read_bytes()
    nouns, exceptions = set(), {}
    for line in gzip.decompress(content).decode("utf-8").splitlines():
        form, *bases = line.split(" ")
        if bases:
            exceptions[form] = bases
        else:
            nouns.add(form)
    return frozenset(nouns), exceptions


@cache
def lemma(word: str) -> str:
    """The shortest WordNet noun that `word` can be a form of, or `word` itself.

    What nltk's WordNetLemmatizer does for nouns, which also shortens words that are no nouns ("was"
    -> "wa", "has" -> "ha"). Suffixes are cut again while no noun is found, as nltk did when LABES
    and GALAXY were written ("less" -> "le"); present releases cut once.
    """
    nouns, exceptions = _nouns()
    if word in exceptions:
        return _shortest([word, *exceptions[word]], nouns) or word
    forms = _cut([word])
    found = _shortest([word, *forms], nouns)
    while forms and not found:
        forms = _cut(forms)
        found = _shortest(forms, nouns)
    return found or word


def _cut(forms: list[str]) -> list[str]:
    return [
        form[: -len(old)] + new for form in forms for old, new in _SUFFIXES if form.endswith(old)
    ]


def _shortest(forms: list[str], nouns: frozenset[str]) -> str:
    return min((form for form in forms if form in nouns), key=len, default="")


def tokenise(text: str) -> str:
    """Treebank tokens joined by spaces, without sentence splitting: only a final stop is apart."""
    return " ".join(_TOKENIZER.tokenize(text))


def lemmatise(text: str) -> str:
    """Every word of `text` replaced by its noun lemma."""
    return " ".join(lemma(word) for word in text.split())


def join_clock(text: str) -> str:
    """The text with clock times in one word: "7 pm" -> "7pm"."""
    return _CLOCK.sub(r"\1\2", text)


def clean(text: str) -> str:
    """Lower-case, tokenised, lemmatised text with joined clock times."""
    return join_clock(lemmatise(tokenise(text.lower())))
