"""Make src/todflow/corpora/incar/noun_lemmas.txt.gz from the files of WordNet 3.0.

Usage: python tools/make_noun_lemmas.py FOLDER OUT
FOLDER holds WordNet 3.0's index.noun and noun.exc (Debian's package `wordnet-base` puts them in
/usr/share/wordnet). OUT has one noun a line, lower-case, sorted, without compounds in underscores
(a token is no compound) other than the base forms of exceptions. A line with more words is an
exception: the inflected form, then its base forms in WordNet's order. The same input gives the
same bytes.
"""

import gzip
import sys
from pathlib import Path


def lines(folder: Path) -> list[str]:
    """The lines of the output: nouns, then exceptions, each sorted."""
    nouns = set()
    for line in (folder / "index.noun").read_text(encoding="utf-8").splitlines():
        if not line.startswith(" "):  # the licence at the head of the file is indented
            nouns.add(line.split(" ", 1)[0])
    exceptions = {}
    for line in (folder / "noun.exc").read_text(encoding="utf-8").splitlines():
        form, *bases = line.split()
        exceptions[form] = bases
    inflected = sorted(form for form in exceptions if "_" not in form)
    bases = {base for form in inflected for base in exceptions[form]}
    kept = sorted(noun for noun in nouns if "_" not in noun or noun in bases)
    return kept + [" ".join([form, *exceptions[form]]) for form in inflected]


if __name__ == "__main__":
    text = "\n".join(lines(Path(sys.argv[1]))) + "\n"
    Path(sys.argv[2]).write_bytes(gzip.compress(text.encode("utf-8"), 9, mtime=0))
