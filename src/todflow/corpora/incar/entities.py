"""The map from an entity's cleaned name to its slot, from kvret_entities.json."""

from todflow.corpora.incar.text import lemmatise, tokenise

# For these slots the first word alone names the entity, too ("gas" for "gas station").
_FIRST_WORD = ("event", "poi_type")


def entity_map(entities: dict) -> dict[str, str]:
    """Cleaned value -> slot; later entries of the file overwrite earlier ones, in their place.

    The order counts: evaluators replace entities one after the other.

    `entities` is the parsed kvret_entities.json: slot -> list of values, where "poi" is a list of
    objects with poi, address and type. Values that are no text (the public file's distances and
    temperatures) contribute nothing.
    """
    result = {}
    for slot, values in entities.items():
        for value in values:
            for name, text in _named(slot, value):
                key = lemmatise(tokenise(text.lower()))
                result[key] = name
                if name in _FIRST_WORD:
                    result[key.split()[0]] = name
    return result


def _named(slot: str, value: object) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [(("poi_type" if part == "type" else part), text) for part, text in value.items()]
    return [(slot, value)] if isinstance(value, str) else []
