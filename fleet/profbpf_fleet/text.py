# SPDX-License-Identifier: Apache-2.0
"""text.py - the answer as text for a terminal."""

from profbpf_fleet.findings import counted
from profbpf_fleet.sentences import who_of, why_of


def table(rows):
    """Lines of rows of texts, in columns of the least width; numbers are aligned to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    number = [all(row[i].replace(".", "").replace("-", "").isdigit() for row in rows[1:]) for i in range(len(rows[0]))]
    return ["  ".join(cell.rjust(w) if n else cell.ljust(w) for cell, w, n in zip(row, widths, number)).rstrip() for row in rows]


def holder_row(holder):
    who = who_of(holder).replace("the links of ", "")
    return [f"{holder['held_ms_per_step']:.1f}", str(holder["steps"]), str(holder["first_step"]), str(holder["last_step"]),
            "chronic" if holder["chronic"] else "passing", who, holder["why"], why_of(holder)]


def clock_lines(clocks):
    offsets = [abs(clock["offset_ns"]) for clock in clocks[1:]]
    drifts = [abs(clock["drift_ppb"]) for clock in clocks[1:]]
    errors = sorted(clock["error_ns"] for clock in clocks[1:])
    if not offsets or not any(errors):
        return []  # no collective compares them: they are the clocks of one host
    return [f"clocks   of {len(clocks)} ranks, compared by the ends of collectives: up to {max(offsets) / 1e6:.3f} ms apart, "
            f"up to {max(drifts) / 1e3:.1f} ppm of drift; each is known within {errors[-1] / 1e3:.1f} us"]


def text_of(result):
    lines = [f"verdict  {result['verdict']['sentence']}", ""]
    if result["steps"]:
        usual = f"; the usual step takes {result['usual_step_ms']:.1f} ms" if "usual_step_ms" in result else ""
        lines.append(f"lake     {counted(result['ranks'], 'rank')}, {counted(result['steps'], 'step')}{usual}")
        lines += clock_lines(result["clocks"])
    if result["holders"]:
        rows = [["ms/step", "steps", "first", "last", "", "who", "why", ""]] + [holder_row(holder) for holder in result["holders"]]
        lines += ["", "Who holds the job back, the highest total cost first; in each step the holder is the one that costs most:"] + table(rows)
    if result["findings"]:
        lines += ["", "Notes:"] + [f"  {finding['text']}" for finding in result["findings"]]
    return "\n".join(lines) + "\n"
