"""What both stages check about their settings before anything else."""

from todflow.errors import TodflowError


def require(config: dict, names: tuple[str, ...]) -> None:
    """TodflowError unless `config` has exactly the keys `names`; none has a hidden default."""
    for name in names:
        if name not in config:
            raise TodflowError(f"config: '{name}' is missing; give all of {', '.join(names)}")
    for name in config:
        if name not in names:
            raise TodflowError(f"config: '{name}' is no setting here; use {', '.join(names)}")
