"""The result tables as one HTML page that needs nothing else: no script, no font, no style sheet."""

from html import escape
from importlib import resources
from itertools import groupby
from string import Template

import pandas as pd

from todflow.tables.published import NO_FIGURE, Published
from todflow.tables.wide import LINES, Group, columns, groups

LABELS = {
    "reproduced": "reproduced",
    "published": "published",
    "published_only": "published only",
    "stand_in": "stand-in",
    "not_run": "not run",
}
FURTHER = ["system", "figure", "published", "reproduced", "status", "note"]


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
    """One paper: its Table 1 in wide form, the notes, and every figure that has no column there."""
    wanted = columns(table, published, paper)
    notes: list[str] = []
    body = []
    for section, members in groupby(groups(table, published, paper), key=lambda group: group.section):
        rows = [line for group in members for line in _system(group, wanted, notes)]
        head = f'<tr class="section"><th colspan="{len(wanted) + 3}">{escape(section)}</th></tr>'
        body.append("<tbody>" + "\n".join([head, *rows]) + "</tbody>")
    parts = [
        f"<h2>{escape(published.papers[paper])}</h2>",
        '<div class="scroll"><table>',
        _head(wanted, published),
        *body,
        "</table></div>",
    ]
    if notes:
        parts += ["<h3>Notes</h3>", "<ol>", *(f"<li>{escape(note)}</li>" for note in notes), "</ol>"]
    parts.append(_further(table[table["paper"] == paper], wanted, published))
    return "\n".join(parts)


def _head(wanted: list[tuple[str, str]], published: Published) -> str:
    datasets = [(name, len(list(cells))) for name, cells in groupby(wanted, key=lambda cell: cell[0])]
    first = "".join(
        f'<th class="edge" colspan="{width}">{escape(published.datasets[name])}</th>'
        for name, width in datasets
    )
    second = "".join(
        f"<th{_edge(wanted, place)}>{escape(published.metrics[metric])}</th>"
        for place, (_, metric) in enumerate(wanted)
    )
    return (
        f'<thead><tr><th class="left">System</th><th></th>{first}<th class="edge">Status</th></tr>'
        f'<tr><th></th><th></th>{second}<th class="edge"></th></tr></thead>'
    )


def _system(group: Group, wanted: list[tuple[str, str]], notes: list[str]) -> list[str]:
    """The lines of one system; what there is to say about them goes to `notes`, numbered."""
    lines = [line for line in LINES if group.has(line)]
    statuses = group.statuses()
    idle = statuses == ["not_run"]
    said = [note for note in group.footnotes if note != NO_FIGURE["-"]]
    if not idle and "reproduced" in lines:
        said += group.notes()
    notes += [note for note in said if note not in notes]
    marks = ", ".join(str(notes.index(note) + 1) for note in said)
    evaluators = dict.fromkeys(cell["evaluator"] for cell in group.cells.values() if cell["evaluator"])
    name = (
        f'<td class="left system" rowspan="{len(lines)}">{escape(group.system)}'
        + (f" <sup>{marks}</sup>" if marks else "")
        + (f'<span class="evaluator">{escape(" · ".join(evaluators))}</span>' if evaluators else "")
        + "</td>"
    )
    rows = []
    for line in lines:
        if line == "published":
            shown = ["published" if "reproduced" in lines else "published_only"]
        else:
            shown = statuses
        kind = "stand_in" if line == "reproduced" and "stand_in" in shown else line
        if line == "reproduced" and idle:
            why = escape(" ".join(group.notes()))
            cells = f'<td class="why edge" colspan="{len(wanted)}">{why}</td>'
        else:
            cells = "".join(
                f"<td{_edge(wanted, place, 'figure')}>{_figure(group.cells.get(cell), line)}</td>"
                for place, cell in enumerate(wanted)
            )
        badges = " ".join(_badge(status) for status in shown)
        first = " first" if line == lines[0] else ""
        rows.append(
            f'<tr class="{kind}{first}">{name if first else ""}<td class="left">{line}</td>{cells}'
            f'<td class="left edge">{badges}</td></tr>'
        )
    return rows


def _figure(cell: dict[str, str] | None, line: str) -> str:
    if cell is None:
        return ""
    if line == "published":
        return cell["published"] or '<span class="none">–</span>'
    return _measured(cell)


def _measured(cell: dict[str, str]) -> str:
    if not cell["ci_low"]:
        return cell["reproduced"]
    interval = f'{cell["ci_low"]} – {cell["ci_high"]}'
    return f'{cell["reproduced"]}<span class="interval">{interval}</span>'


def _further(table: pd.DataFrame, wanted: list[tuple[str, str]], published: Published) -> str:
    """The rows of the tidy table that have no column in the wide one: human studies, further metrics."""
    rows = []
    for row in table.to_dict("records"):
        if (row["dataset"], row["metric"]) not in wanted:
            figure = f'{published.datasets[row["dataset"]]}: {published.metrics[row["metric"]]}'
            kind = "stand_in" if row["status"] == "stand_in" else "reproduced"
            rows.append(
                f'<tr class="{kind} first"><td class="left system">{escape(row["system"])}</td>'
                f'<td class="left">{escape(figure)}</td>'
                f'<td><span class="published-mark">{row["published"]}</span></td>'
                f'<td class="figure">{_measured(row)}</td>'
                f'<td class="left">{_badge(row["status"])}</td>'
                f'<td class="note">{escape(row["note"])}</td></tr>'
            )
    head = "".join(f'<th class="left">{name.capitalize()}</th>' for name in FURTHER)
    return (
        '<h3>Further figures</h3>\n<div class="scroll"><table>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>" + "\n".join(rows) + "</tbody></table></div>"
    )


def _badge(status: str) -> str:
    return f'<span class="badge {status}">{LABELS[status]}</span>'


def _edge(wanted: list[tuple[str, str]], place: int, kind: str = "") -> str:
    """The class attribute of a cell: a rule to its left where another dataset begins."""
    first = place == 0 or wanted[place][0] != wanted[place - 1][0]
    names = " ".join(name for name in (kind, "edge" if first else "") if name)
    return f' class="{names}"' if names else ""
