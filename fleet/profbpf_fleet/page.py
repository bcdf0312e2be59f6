# SPDX-License-Identifier: Apache-2.0
"""page.py - the answer as a page with a map of ranks and steps, in one file that loads nothing."""

import html
import json
import pathlib

from profbpf_fleet.sentences import who_of, why_of
from profbpf_fleet.text import holder_row

MS = 1e6
MOST_CLOCKS = 2000


def library():
    """The text of ECharts, from the package or the checkout; empty if neither has it."""
    here = pathlib.Path(__file__).parent
    for path in (here / "page" / "echarts.min.js", here.parent.parent / "third_party" / "echarts" / "echarts.min.js"):
        if path.exists():
            return path.read_text(encoding="utf-8").replace("</script", "<\\/script")
    return ""


def table(title, heads, rows, numbers):
    """HTML of rows of texts; columns in numbers are aligned to the right."""
    def cells(row, tag):
        return "".join(f"<{tag}{' class=n' if i in numbers else ''}>{html.escape(cell)}</{tag}>" for i, cell in enumerate(row))
    lines = "\n".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return (f"<section><h2>{html.escape(title)}</h2>\n<div class=table tabindex=0><table><thead><tr>{cells(heads, 'th')}</tr></thead>\n"
            f"<tbody>{lines}</tbody></table></div></section>")


def holders_of(result):
    if not result["holders"]:
        return ""
    heads = ["ms of a step", "steps", "first", "last", "", "who", "why", ""]
    return table("Who holds the job back", heads, [holder_row(holder) for holder in result["holders"]], {0, 1, 2, 3})


def findings_of(result):
    if not result["findings"]:
        return ""
    items = "\n".join(f"<li>{html.escape(finding['text'])}</li>" for finding in result["findings"])
    return f"<section><h2>Besides</h2>\n<ul>{items}</ul></section>"


def clocks_of(result):
    if len(result["clocks"]) < 2:
        return ""
    rows = [[str(clock["rank"]), f"{clock['offset_ns'] / MS:.3f}", f"{clock['drift_ppb'] / 1e3:.3f}", f"{clock['error_ns'] / 1e3:.1f}"]
            for clock in result["clocks"][:MOST_CLOCKS]]
    title = "Clocks, against the lowest rank's" + (f" (the first {MOST_CLOCKS})" if len(result["clocks"]) > MOST_CLOCKS else "")
    return table(title, ["rank", "offset, ms", "drift, ppm", "known to, us"], rows, {0, 1, 2, 3})


def map_of(result):
    """The fields of the map, with the holders in each."""
    fields = result.get("map", [])
    steps = {row["field"]: row["first_step"] for row in sorted(fields, key=lambda row: -row["first_step"])}
    ranks = {row["line"]: row["first_rank"] for row in sorted(fields, key=lambda row: -row["first_rank"])}
    values = [[None] * len(steps) for _ in ranks]
    columns, lines = {field: x for x, field in enumerate(sorted(steps))}, {line: y for y, line in enumerate(sorted(ranks))}
    for row in fields:
        values[lines[row["line"]]][columns[row["field"]]] = round(row["ns"] / MS, 1)
    firsts = [steps[field] for field in sorted(steps)]
    held = []
    for holder in result["holders"][:8]:
        held.append([x for x, first in enumerate(firsts)
                     if any(a < (firsts[x + 1] if x + 1 < len(firsts) else first + 1e18) and b >= first for a, b in holder["in_steps"])])
    most = max([holder["held_ms_per_step"] for holder in result["holders"]] + [2 * result.get("named_from_ms", {}).get("rank", 1)])
    return {"steps": firsts, "ranks": [ranks[line] for line in sorted(ranks)], "values": values, "most": round(most * 1.2, 1),
            "last_step": result.get("last_step", 0), "last_rank": result.get("last_rank", 0),
            "holders": [f"{who_of(holder)}: {why_of(holder)}" for holder in result["holders"][:8]], "held": held}


def page_of(result):
    folder = pathlib.Path(__file__).parent / "page"
    state = "held" if result["holders"] else "healthy" if result["steps"] >= 3 and result["ranks"] > 1 else "unknown"
    about = f"{result['ranks']} ranks · {result['steps']} steps" + (f" of {result['usual_step_ms']:.1f} ms" if "usual_step_ms" in result else "") + f" · {result['engine']}"
    marks = {
        "STYLE": (folder / "fleet.css").read_text(encoding="utf-8"), "SCRIPT": (folder / "fleet.js").read_text(encoding="utf-8"),
        "ABOUT": html.escape(about), "STATE": state, "SENTENCE": html.escape(result["verdict"]["sentence"]), "HOLDERS": holders_of(result),
        "FINDINGS": findings_of(result), "CLOCKS": clocks_of(result), "DATA": json.dumps(map_of(result)).replace("<", "\\u003c"), "LIBRARY": library(),
    }
    pieces = (folder / "fleet.html").read_text(encoding="utf-8").split("@")
    return "".join(marks.get(piece, piece) if i % 2 else piece for i, piece in enumerate(pieces))
