// SPDX-License-Identifier: Apache-2.0
// sections.js - the report's sections: each one's charts, its own figures, its lists as tables. An empty section is not there.

const NOT_FIGURES = ["series", "counters", "curve", "gaps"];

/* Rows that are told apart by the frames in them say so in their first column. */
const placed_rows = rows => rows.some(row => row.frames?.length && row.name === undefined) ? [rows.map(row => ({ Where: place_text(row.frames ?? []), ...row })), "Where"] : [rows];

/* Lists in the rows of a list, as one table each: streams of devices, threads of processes. */
function nested_html(rows, path, start, depth, name) {
	const lists = {}, named = rows.map(row_name).map(of => of === "" ? "" : String(of));
	/* Devices of one name differ in their rank or number. */
	const names = distinct(named.map((of, i) => of && named.indexOf(of) !== named.lastIndexOf(of) && Number.isInteger(rows[i].rank ?? rows[i].id) && rows[i].name ?
		`${of}, ${Number.isInteger(rows[i].rank) ? "rank" : "number"} ${rows[i].rank ?? rows[i].id}` : of));
	for (const [i, row] of rows.entries())
		for (const [key, value] of Object.entries(row))
			if (is_rows(value) && !NOT_FIGURES.includes(key) && !(key === "chain" && rows.every(other => (other.chain?.length ?? 0) < 2))) {
				lists[key] ??= { rows: [], paths: [] };
				lists[key].rows.push(...value.map(inner => ({ Of: names[i], ...inner })));
				lists[key].paths.push(...value.map((_, j) => `${path}.${i}.${key}.${j}`));
			}
	return Object.entries(lists).map(([key, list]) => `<details${list.rows.length <= ROWS_SHOWN ? " open" : ""}><summary>${esc(words(key))} (${thousands(String(list.rows.length))})</summary>${
		table_html(list.rows, list.paths, start, { label: "Of", caption: `${name}: ${words(key)}` })}</details>`).join("") +
		rows.map((row, i) => Object.entries(row).filter(([key, value]) => is_map(value) && !NOT_FIGURES.includes(key) && depth < 6 && rows.length < 9).map(([key, value]) => {
			const inner = content_html(value, `${path}.${i}.${key}`, start, depth + 1, `${name}: ${words(key)}`);
			return inner && `<h${depth}>${esc(`${path === "steps.devices" ? steps_group(rows, i) : row.framework ? row_name(row, i) : row.name ?? (row.device === undefined ? row.id ?? row.pid ?? i : `Device ${device_text(row)}`)}: ${words(key)}`)}</h${depth}>${inner}`;
		}).join("")).join("");
}

/* Whatever it is: numbers as a list, lists of maps as tables, maps inside as parts. */
function content_html(value, path, start, depth, name) {
	if (is_rows(value)) {
		const [rows, label] = placed_rows(value);
		return table_html(rows, path, start, { caption: name, label, left_out: left_out[path] }) + nested_html(value, path, start, depth, name);
	}
	if (!is_map(value))
		return "";
	let html = figures_html(value, path, start);
	for (const [key, inner] of Object.entries(value)) {
		if (!is_nested(inner) || NOT_FIGURES.includes(key) || depth > 6)
			continue;
		const content = is_rows(inner) || is_map(inner) ? content_html(inner, `${path}.${key}`, start, depth + 1, `${name}: ${words(key)}`) : "";
		if (content)
			html += `<h${depth}>${esc(words_of(path, key))}</h${depth}>${content}`;
	}
	return html;
}

function advice_html(list) {
	const part = (advice, i, key) => advice[key] ? `<span data-key="advice.${i}.${key}" data-value="${esc(advice[key])}">${esc(advice[key])}</span>` : "";
	return `<ul>${list.map((advice, i) => `<li><span class="${esc(advice.severity)}">${part(advice, i, "title")}</span><br>${part(advice, i, "evidence")}<br>${part(advice, i, "do")}</li>`).join("")}</ul>`;
}

/* The longest gaps, and the chain of the one that is asked for. */
function gaps_html(idle, start) {
	if (!idle.gaps?.length)
		return "";
	const rows = idle.gaps.map(gap => ({ device: gap.device, start_ns: gap.start_ns, duration_ns: gap.duration_ns, before: gap.before, after: gap.after }));
	return `<h3>The longest gaps</h3>${table_html(rows, "idle.gaps", start, { caption: "The longest gaps", left_out: left_out["idle.gaps"] })}`;
}

const ORDER = ["timeline", "steps", "pipeline", "idle", "waits", "advice", "host", "processes", "flames", "stacks", "python", "operators", "operator_types",
	"operator_cores", "devices", "overlap", "communication", "cluster", "memory", "api"];
let left_out = {};

/* What a section draws besides: [name, title, height, summary, make, ready, note]. */
const charts_of = (key, value, start) => SECTION_CHARTS[key]?.(value, start) ?? [];

function section_html(key, value, start, report = {}) {
	const charts = charts_of(key, value, start);
	const drawn_charts = charts.map(([name, title, height, summary, , , note]) => chart_html(name, title, height, summary, note)).join("");
	const content = key === "advice" ? advice_html(value) : content_html(value, key, start, 3, TITLES[key] ?? words(key)) + (key === "idle" ? gaps_html(value, start) : "");
	const more = EXTRA[key]?.(value, start, report) ?? "";
	if (!content && !drawn_charts && !more)
		return "";
	return `<section id="${esc(key)}"><h2>${esc(TITLES[key] ?? words(key))}</h2>${more}${drawn_charts ? `<div class="charts">${drawn_charts}</div>` : ""}${content}</section>`;
}

function is_empty(value) {
	return !is_nested(value) || !Object.keys(value).length || (is_map(value) && Object.values(value).every(v => is_nested(v) && is_empty(v)));
}

function sections_of(report) {
	const others = Object.keys(report).filter(key => !ORDER.includes(key) && !["schema", "verdict", "trace", "capture", "left_out", "page"].includes(key));
	/* Without a device that tells its tasks there is no idle time: its sums are none. */
	const has_idle = report.idle?.total_ns || (report.devices ?? []).some(device => device.window_ns);
	const has_joins = report.join?.launches || report.join?.tasks;
	return [...ORDER, ...others, "capture", "trace"].filter(key => (key !== "idle" || has_idle) && (key !== "join" || has_joins)).filter(key => EXTRA[key] && !(key in report) ? true : key in report && !is_empty(report[key]));
}

/* What a section shows above its charts. */
const EXTRA = { timeline: (value, start, report) => timeline_html(report, start), flames: () => flames_html(), pipeline: list => pipeline_html(list) };
