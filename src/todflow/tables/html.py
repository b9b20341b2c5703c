"""The result tables as one HTML page that needs nothing else: no script, font or style sheet."""

from collections.abc import Iterable
from html import escape
from importlib import resources
from itertools import groupby
from string import Template

import pandas as pd

from todflow.tables.published import NO_FIGURE, Published
from todflow.tables.wide import LINES, Group, groups, printed

LABELS = {
    "reproduced": "reproduced",
    "published": "published",
    "published_only": "published only",
    "stand_in": "stand-in",
    "not_run": "not run",
}
HUMAN = ["System", "", "Figure", "Published", "Reproduced", "Note"]


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
    """One paper: its Table 1, our own rows, and the human studies, each as far as there is any."""
    table = table[table["paper"] == paper]
    shown = groups(table, published, paper)
    parts = [f"<h2>{escape(published.papers[paper])}</h2>"]
    parts += _printed([group for group in shown if not group.own], published, paper)
    named = {
        system.name for each in published.tables if each.paper == paper for system in each.systems
    }
    own = table[~table["system"].isin(named)]
    if len(own):
        parts += [
            "<h3>Rows of this project, without a published figure</h3>",
            *_own(own, published),
        ]
    human = table[table["dataset"] == "human"]
    if len(human):
        parts += ["<h3>Human studies</h3>", *_human(human, published)]
    return "\n".join(parts)


def _printed(shown: list[Group], published: Published, paper: str) -> list[str]:
    """The paper's Table 1, every system of ours with a second line, and notes below."""
    own = printed(published, paper).columns
    wanted = [(dataset, metric) for dataset, metrics in own.items() for metric in metrics]
    notes: list[str] = []
    body = []
    for section, members in groupby(shown, key=lambda group: group.section):
        rows = [line for group in members for line in _system(group, wanted, notes)]
        head = f'<tr class="section"><th colspan="{len(wanted) + 2}">{escape(section)}</th></tr>'
        body.append("<tbody>" + "\n".join([head, *rows]) + "</tbody>")
    first = "".join(
        f'<th class="edge" colspan="{len(metrics)}">{escape(published.datasets[dataset])}</th>'
        for dataset, metrics in own.items()
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
    """The lines of one system; what there is to say about them goes to `notes`, numbered."""
    lines = [line for line in LINES if group.has(line)]
    statuses = group.statuses()
    idle = statuses == ["not_run"]
    said = [note for note in group.footnotes if note != NO_FIGURE["-"]]
    if not idle and "reproduced" in lines:
        said += group.notes()
    notes += [note for note in said if note not in notes]
    marks = ", ".join(str(notes.index(note) + 1) for note in said)
    name = (
        f'<td class="left system" rowspan="{len(lines)}">{escape(group.system)}'
        + (f" <sup>{marks}</sup>" if marks else "")
        + _evaluators(group.cells.values())
        + "</td>"
    )
    rows = []
    for line in lines:
        shown = statuses
        if line == "published":
            shown = ["published" if "reproduced" in lines else "published_only"]
        if line == "reproduced" and idle:
            why = escape(" ".join(group.notes()))
            cells = f'<td class="why edge" colspan="{len(wanted)}">{why}</td>'
        else:
            cells = "".join(
                f"<td{_edge(wanted, place, 'figure')}>{_figure(group.cells[cell], line)}</td>"
                for place, cell in enumerate(wanted)
            )
        first = line == lines[0]
        rows.append(
            f'<tr class="{line}{" first" if first else ""}">{name if first else ""}'
            f'<td class="left">{" ".join(map(_badge, shown))}</td>{cells}</tr>'
        )
    return rows


def _own(table: pd.DataFrame, published: Published) -> list[str]:
    """Our own rows: one line a system and dataset, one column a metric."""
    metrics = list(dict.fromkeys(table["metric"]))
    heads = ["System", "", "Dataset", *(published.metrics[metric] for metric in metrics)]
    rows = []
    for (system, dataset), part in table.groupby(["system", "dataset"], sort=False):
        cells = {row["metric"]: row for row in part.to_dict("records")}
        group = Group(
            system, "", True, [], {(dataset, metric): row for metric, row in cells.items()}
        )
        statuses, said = group.statuses(), escape(" ".join(group.notes()))
        idle = statuses == ["not_run"]
        figures = "".join(
            f'<td class="figure">{_measured(cells[metric]) if metric in cells else ""}</td>'
            for metric in metrics
        )
        whole = f'<td class="why" colspan="{len(metrics)}">{said}</td>'
        rows.append(
            f'<tr class="{statuses[0]} first">'
            f'<td class="left system" rowspan="{1 if idle else 2}">{escape(system)}'
            f"{_evaluators(cells.values())}</td>"
            f'<td class="left">{" ".join(map(_badge, statuses))}</td>'
            f'<td class="left">{escape(published.datasets[dataset])}</td>'
            f"{whole if idle else figures}</tr>"
        )
        if not idle:
            rows.append(
                f'<tr><td></td><td class="note" colspan="{len(metrics) + 1}">{said}</td></tr>'
            )
    return _plain(heads, rows)


def _human(table: pd.DataFrame, published: Published) -> list[str]:
    rows = [
        f'<tr class="first"><td class="left system">{escape(row["system"])}</td>'
        f'<td class="left">{_badge(row["status"])}</td>'
        f'<td class="left">{escape(published.metrics[row["metric"]])}</td>'
        f'<td class="published-mark">{_figure(row, "published")}</td><td>{_measured(row)}</td>'
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


def _evaluators(cells: Iterable[dict[str, str]]) -> str:
    """The evaluators behind a system's figures, in small type."""
    names = dict.fromkeys(cell["evaluator"] for cell in cells if cell["evaluator"])
    return f'<span class="evaluator">{escape(" · ".join(names))}</span>' if names else ""


def _figure(cell: dict[str, str], line: str) -> str:
    if line == "published":
        return cell["published"] or '<span class="none">–</span>'
    return _measured(cell)


def _measured(cell: dict[str, str]) -> str:
    if not cell["ci_low"]:
        return cell["reproduced"]
    interval = f'{cell["ci_low"]} – {cell["ci_high"]}'
    return f'{cell["reproduced"]}<span class="interval">{interval}</span>'


def _badge(status: str) -> str:
    return f'<span class="badge {status}">{LABELS[status]}</span>'


def _edge(wanted: list[tuple[str, str]], place: int, kind: str = "") -> str:
    """The class attribute of a cell: a rule to its left where another dataset begins."""
    first = place == 0 or wanted[place][0] != wanted[place - 1][0]
    names = " ".join(name for name in (kind, "edge" if first else "") if name)
    return f' class="{names}"' if names else ""
