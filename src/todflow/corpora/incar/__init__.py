"""In-Car (KVRET): the Stanford multi-domain corpus of an assistant in a car.

The preprocessing follows what LABES and GALAXY do with the public release, so that figures compare;
docs/incar.md says how closely it agrees with LABES' own output.
"""

# Slots that a belief state may hold, per intent; also their order in a state span.
INFORMABLE = {
    "weather": ("date", "location", "weather_attribute"),
    "navigate": ("poi_type", "distance"),
    "schedule": ("event", "date", "time", "agenda", "party", "room"),
}

# Slots that the system may be asked for, per intent: only these are delexicalised.
REQUESTABLE = {
    "weather": ("weather_attribute",),
    "navigate": ("poi", "traffic_info", "address", "distance"),
    "schedule": ("event", "date", "time", "party", "agenda", "room"),
}
