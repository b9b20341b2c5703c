"""The result tables as one HTML page that needs nothing else: no script, font or style sheet."""

from html import escape
from importlib import resources
from itertools import groupby
from string import Template

import pandas as pd

from todflow.tables.published import NO_FIGURE, Printed, Published
from todflow.tables.wide import Group, Line, groups, lines

LABELS = {
    "reproduced": "reproduced",
    "rescored": "re-scored",
    "published": "published",
    "published_only": "published only",
    "stand_in": "stand-in",
    "not_run": "not run",
}
HUMAN = ["System", "", "Figure", "Published", "Reproduced", "Note"]
NONE = '<span class="none">–</span>'


def page(table: pd.DataFrame, published: Published) -> str:
    """The page as text; the same table gives the same bytes."""
    template = (resources.files(__package__) / "table1.html").read_text(encoding="utf-8")
    scales = list(dict.fromkeys(scale for scale in table["scale"] if scale))
    used = [name for name in published.evaluators if name in set(table["evaluator"])]
    return Template(template).substitute(
        scale=f" Scale of this run: <b>{escape(', '.join(scales))}</b>." if scales else "",
        papers="\n".join(_paper(table, published, paper) for paper in published.papers),
        evaluators="\n".join(
            f"<dt>{escape(name)}</dt><dd>{escape(published.evaluators[name])}</dd>" for name in used
        ),
    )


def _paper(table: pd.DataFrame, published: Published, paper: str) -> str:
    """One paper: its tables of measured figures, our own rows, the human studies, if there are any."""
    table = table[table["paper"] == paper]
    mine = [each for each in published.tables if each.paper == paper]
    parts = [f"<h2>{escape(published.papers[paper])}</h2>"]
    for each in mine:
        if "human" not in each.columns:
            parts += [] if each.source == "Table 1" else [f"<h3>{escape(each.source)}</h3>"]
            parts += _printed(table, published, each)
    named = {system.name for each in mine for system in each.systems}
    own = table[~table["system"].isin(named)]
    if len(own):
        parts += ["<h3>Rows that the paper doesn't have</h3>"]
        parts += _own(own, published)
    human = table[table["dataset"] == "human"]
    if len(human):
        parts += ["<h3>Human studies</h3>", *_human(human, published)]
    return "\n".join(parts)


def _printed(table: pd.DataFrame, published: Published, own: Printed) -> list[str]:
    """A table as the paper prints it, what was measured below each system's line, and notes."""
    shown = [group for group in groups(table, published, own) if not group.own]
    wanted = [(dataset, metric) for dataset, metrics in own.columns.items() for metric in metrics]
    notes: list[str] = []
    body = []
    for section, members in groupby(shown, key=lambda group: group.section):
        rows = [line for group in members for line in _system(group, wanted, notes)]
        head = f'<tr class="section"><th colspan="{len(wanted) + 2}">{escape(section)}</th></tr>'
        body.append("<tbody>" + "\n".join([head, *rows]) + "</tbody>")
    first = "".join(
        f'<th class="edge" colspan="{len(metrics)}">{escape(published.datasets[dataset])}</th>'
        for dataset, metrics in own.columns.items()
    )
    second = "".join(
        f"<th{_edge(wanted, place)}>{escape(published.metrics[metric])}</th>"
        for place, (_, metric) in enumerate(wanted)
    )
    head = (
        f'<thead><tr><th class="left">System</th><th></th>{first}</tr>'
        f"<tr><th></th><th></th>{second}</tr></thead>"
    )
    listed = [f"<li>{escape(note)}</li>" for note in notes]
    return [
        '<div class="scroll"><table>',
        head,
        *body,
        "</table></div>",
        *(["<ol>", *listed, "</ol>"] if notes else []),
    ]


def _system(group: Group, wanted: list[tuple[str, str]], notes: list[str]) -> list[str]:
    """The lines of one system; what there is to say about them goes to `notes`, numbered.

    Outputs that weren't re-scored get no line, since a baseline has figures without them: only the
    reason, in a note.
    """
    shown = [line for line in group.lines if not (line.figures == "re-scored" and line.idle)]
    said = [note for note in group.footnotes if note != NO_FIGURE["-"]]
    for line in group.lines:
        if line.figures != "published" and not (line.figures == "reproduced" and line.idle):
            said += [note for note in line.notes(group.footnotes) if note not in said]
    notes += [note for note in said if note not in notes]
    marks = ", ".join(str(place) for place in sorted(notes.index(note) + 1 for note in said))
    name = (
        f'<td class="left system" rowspan="{len(shown)}">{escape(group.system)}'
        + (f" <sup>{marks}</sup>" if marks else "")
        + "</td>"
    )
    rows = []
    for line in shown:
        if line.idle:
            why = escape(" ".join(line.notes(group.footnotes)))
            cells = f'<td class="why edge" colspan="{len(wanted)}">{why}</td>'
        else:
            cells = "".join(
                f"<td{_edge(wanted, place, 'figure')}>{_figure(line, cell)}</td>"
                for place, cell in enumerate(wanted)
            )
        first = line is shown[0]
        kind = f"{line.figures}{' first' if first else ''}"
        rows.append(
            f'<tr class="{kind}">{name if first else ""}{_about(group.status(line), line)}'
            f"{cells}</tr>"
        )
    return rows


def _own(table: pd.DataFrame, published: Published) -> list[str]:
    """Our own rows, a table for each kind of evaluation: a line an evaluator, a column a metric."""
    kinds: dict[str, list[pd.DataFrame]] = {}
    for _, part in table.groupby(["system", "dataset"], sort=False):
        # What is measured first tells the kinds apart: Match, Inform, turns.
        kinds.setdefault(part["metric"].iloc[0], []).append(part)
    parts = []
    for members in kinds.values():
        metrics = list(dict.fromkeys(metric for part in members for metric in part["metric"]))
        heads = ["System", "Dataset", "", *(published.metrics[metric] for metric in metrics)]
        parts += _plain(heads, [row for part in members for row in _mine(part, metrics, published)])
    return parts


def _mine(part: pd.DataFrame, metrics: list[str], published: Published) -> list[str]:
    """The lines of one system of ours on one dataset, and what there is to say about them."""
    records = part.to_dict("records")
    system, dataset = records[0]["system"], records[0]["dataset"]
    shown = lines(records)
    said = list(dict.fromkeys(note for line in shown for note in line.notes([])))
    idle = len(shown) == 1 and shown[0].idle
    deep = len(shown) + (0 if idle else 1)
    head = (
        f'<td class="left system" rowspan="{deep}">{escape(system)}</td>'
        f'<td class="left" rowspan="{deep}">{escape(published.datasets[dataset])}</td>'
    )
    rows = []
    for line in shown:
        if line.idle:
            why = escape(" ".join(line.notes([])))
            figures = f'<td class="why" colspan="{len(metrics)}">{why}</td>'
        else:
            figures = "".join(
                f'<td class="figure">{_figure(line, (dataset, metric))}</td>' for metric in metrics
            )
        first = line is shown[0]
        rows.append(
            f'<tr class="{line.statuses()[0]}{" first" if first else ""}">{head if first else ""}'
            f"{_about(line.statuses(), line)}{figures}</tr>"
        )
    if not idle:
        note = escape(" ".join(said))
        rows.append(f'<tr><td class="note" colspan="{len(metrics) + 1}">{note}</td></tr>')
    return rows


def _human(table: pd.DataFrame, published: Published) -> list[str]:
    rows = [
        f'<tr class="first"><td class="left system">{escape(row["system"])}</td>'
        f'<td class="left">{_badge(row["status"])}</td>'
        f'<td class="left">{escape(published.metrics[row["metric"]])}</td>'
        f'<td class="published-mark">{row["published"] or NONE}</td><td>{_measured(row)}</td>'
        f'<td class="note">{escape(row["note"])}</td></tr>'
        for row in table.to_dict("records")
    ]
    return _plain(HUMAN, rows)


def _plain(heads: list[str], rows: list[str]) -> list[str]:
    """A table with one line of headings."""
    left = {"System", "", "Dataset", *HUMAN} - {"Published", "Reproduced"}
    head = "".join(
        f"<th{' class=left' if name in left else ''}>{escape(name)}</th>" for name in heads
    )
    return [
        '<div class="scroll"><table class="plain">',
        f"<thead><tr>{head}</tr></thead>",
        "<tbody>",
        *rows,
        "</tbody></table></div>",
    ]


def _about(statuses: list[str], line: Line) -> str:
    """The cell before a line's figures: what they are and, in small type, which evaluator's."""
    names = escape(line.evaluators())
    small = f'<span class="evaluator">{names}</span>' if names else ""
    return f'<td class="left">{" ".join(map(_badge, statuses))}{small}</td>'


def _figure(line: Line, cell: tuple[str, str]) -> str:
    row = line.cells.get(cell)
    if row is None:
        return ""
    if line.figures == "published":
        return row["published"] or NONE
    return _measured(row)


def _measured(row: dict[str, str]) -> str:
    if not row["ci_low"]:
        return row["reproduced"]
    interval = f'{row["ci_low"]} – {row["ci_high"]}'
    return f'{row["reproduced"]}<span class="interval">{interval}</span>'


def _badge(status: str) -> str:
    return f'<span class="badge {status}">{LABELS[status]}</span>'


def _edge(wanted: list[tuple[str, str]], place: int, kind: str = "") -> str:
    """The class attribute of a cell: a rule to its left where another dataset begins."""
    first = place == 0 or wanted[place][0] != wanted[place - 1][0]
    names = " ".join(name for name in (kind, "edge" if first else "") if name)
    return f' class="{names}"' if names else ""
