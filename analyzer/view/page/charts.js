// SPDX-License-Identifier: Apache-2.0
// charts.js - charts by ECharts: drawn when they come into view, again when the colours change, with words for who does not see them.

const COLOURS = ["#4269d0", "#e0781f", "#3ca951", "#a463f2", "#d1495b", "#2a9d9d", "#9c6b4e", "#7f8fa6", "#c9a227", "#ff8ab7"];
const pending = new Map(); // place -> what is drawn there
const drawn = new Map(); // place -> chart

const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
const have_charts = () => typeof echarts !== "undefined";

/* A place for a chart of @height pixels, and @note below it, which is HTML. chart() draws there. */
function chart_html(name, title, height, summary, note) {
	return have_charts() ? `<figure class="chart"><figcaption>${esc(title)}</figcaption><div data-chart="${esc(name)}" role="img" tabindex="0" aria-label="${
		esc(`${title}. ${summary ?? ""}`)}" style="height:${height}px"></div>${note ? `<p class="note">${note}</p>` : ""}</figure>` : "";
}

function common_option() {
	const faint = dark() ? "#a3abb8" : "#545b66", line = dark() ? "#fff2" : "#0002";
	const axis = { axisLabel: { color: faint, hideOverlap: true }, nameTextStyle: { color: faint }, splitLine: { lineStyle: { color: line } }, axisLine: { lineStyle: { color: line } } };
	return { faint, line, axis, text: dark() ? "#e8eaee" : "#16181d", soft: dark() ? "#2a2d33" : "#f3f4f7" };
}

function draw(place) {
	const { make, ready } = pending.get(place);
	drawn.get(place)?.dispose();
	const chart = echarts.init(place, dark() ? "dark" : null, { renderer: "canvas" });
	chart.setOption({ backgroundColor: "transparent", animation: false, color: COLOURS, textStyle: { fontFamily: "system-ui, sans-serif" }, ...make(common_option()) });
	drawn.set(place, chart);
	ready?.(chart, place);
}

const seen = typeof IntersectionObserver === "undefined" ? null : new IntersectionObserver(entries => {
	for (const { isIntersecting, target } of entries)
		if (isIntersecting && pending.has(target) && !drawn.has(target))
			draw(target);
}, { rootMargin: "200px" });

const resized = typeof ResizeObserver === "undefined" ? null : new ResizeObserver(entries => {
	for (const { target } of entries)
		drawn.get(target)?.resize();
});

/* Fill the place of chart_html() of this name, once it is in the page. */
function chart(name, make, ready) {
	const place = document.querySelector(`[data-chart="${CSS.escape(name)}"]`);
	if (!place)
		return;
	pending.set(place, { make, ready });
	seen.observe(place);
	resized.observe(place);
}

function listen_to_charts() {
	const again = () => [...drawn.keys()].forEach(draw);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
	addEventListener("beforeprint", () => {
		for (const place of pending.keys()) {
			if (!drawn.has(place))
				draw(place);
			drawn.get(place).getZr().flush();
		}
		fit_tables();
	});
}

/* ---- Options that several charts share */

/*
 * A rectangle of a custom series, with a text if there is room for one. ECharts keeps the text of an element that has none any
 * more, but replaces an element of another type: one with a text is a group.
 */
function labelled(rect, style) {
	if (!style)
		return rect;
	Object.assign(rect, { textConfig: { position: "insideLeft" }, textContent: { style: { fontSize: 11, overflow: "truncate", ...style } } });
	return { type: "group", children: [rect] };
}

/* Numbers on an axis are round: zeros behind the point say nothing. */
const tick = unit => value => String(unit(value)).replace(/(\.\d*?)0+(?=\D|$)/, (_, kept) => kept === "." ? "" : kept);

/* Two digits that count of shares below 10 %: no two lines of an axis say the same. */
const share_text = v => `${Number(v).toFixed(v % 1 === 0 || Math.abs(v) >= 10 ? 0 : Math.min(4, Math.max(1, 1 - Math.floor(Math.log10(Math.abs(v))))))} %`;

const seconds_text = s => Math.abs(s) < 1e-12 ? "0" : time_text(s * 1e9);

/* An instant of an axis, as exact as the part that is shown asks for. */
function axis_text(span) {
	const decimals = Math.min(9, Math.max(0, Math.ceil(-Math.log10(span || 1)) + 1));
	return v => `${v.toFixed(decimals)} s`;
}

function legend_of(count, style) {
	return { show: count > 1, top: 0, left: 0, textStyle: { color: style.text }, itemGap: 12 };
}

/* How many lines of @width pixels a legend of these names takes, about: none of them is cut. */
function legend_lines(names, width) {
	let lines = 1, at = 0;
	for (const name of names) {
		const needs = 46 + 6.6 * name.length;
		if (at > 0 && at + needs > width) {
			lines++;
			at = 0;
		}
		at += needs;
	}
	return names.length > 1 ? lines : 0;
}

/*
 * Lines or areas along time. @series: [{ name, points: [[seconds, value], ...], stack, step }]; @unit: how values
 * are written; the axis ends where the data end.
 */
function time_option(style, series, unit, more = {}) {
	const points = series.flatMap(s => s.points);
	const ends = points.reduce(([a, b], p) => [Math.min(a, p[0]), Math.max(b, p[0])], [Infinity, -Infinity]);
	return {
		legend: legend_of(series.length, style),
		grid: { left: 8, right: 16, top: 12 + 22 * legend_lines(series.map(s => s.name), more.width ?? 500), bottom: 8, containLabel: true },
		tooltip: { trigger: "axis", confine: true, valueFormatter: v => v === null || v === undefined ? "unknown" : unit(v), axisPointer: { label: { formatter: p => seconds_text(p.value) } } },
		xAxis: { type: "value", min: ends[0], max: ends[1], ...style.axis, axisLabel: { ...style.axis.axisLabel, formatter: axis_text(ends[1] - ends[0]), alignMaxLabel: "right", alignMinLabel: "left" }, splitLine: { show: false } },
		yAxis: { type: "value", ...style.axis, axisLabel: { ...style.axis.axisLabel, formatter: tick(unit) }, ...more.y },
		aria: { enabled: true, decal: { show: series.some(s => s.stack) } },
		series: series.map((s, i) => ({ name: s.name, type: "line", data: s.points, showSymbol: s.points.length < 40 && !s.stack, symbolSize: 5,
			symbol: ["circle", "rect", "triangle", "diamond", "roundRect", "pin"][i % 6], step: s.step, stack: s.stack, areaStyle: s.stack ? { opacity: 0.75 } : undefined,
			lineStyle: { width: s.stack ? 0.5 : 1.6, type: s.stack ? "solid" : ["solid", "dashed", "dotted"][i % 3] } })),
	};
}

const PARTS_MOST = 12; // bars, the last of which has all others then
const LABEL = 200, LETTER = 6.6; // pixels for the name of a part, and for a letter of it

/* A text in lines of at most @most letters, broken at blanks; what has none is broken behind "::" or where it must be. */
function wrapped(text, most) {
	const lines = [""];
	for (const word of String(text).split(/\s+/).flatMap(word => word.length > most ? word.match(new RegExp(`.{1,${most - 2}}::|.{1,${most}}`, "g")).map((part, i) => i ? part : ` ${part}`) : ` ${word}`)) {
		const longer = lines.at(-1) + word;
		if (longer.trim().length <= most)
			lines[lines.length - 1] = longer;
		else
			lines.push(word);
	}
	const whole = lines.map(line => line.trim()).filter(Boolean);
	return whole.length ? whole : [""];
}

const label_lines = text => wrapped(text, Math.floor(LABEL / LETTER));

/* Parts of a whole, the largest first: bars in a row, each with its name. @parts: [[name, value], ...] */
function parts_option(style, parts, unit) {
	const known = parts.filter(p => p[1] > 0).sort((a, b) => b[1] - a[1]), sum = known.reduce((all, p) => all + p[1], 0);
	const rows = known.length > PARTS_MOST ? [...known.slice(0, PARTS_MOST - 1), ["all others", known.slice(PARTS_MOST - 1).reduce((all, p) => all + p[1], 0)]] : known;
	rows.reverse();
	return {
		grid: { left: 20 + LETTER * Math.max(...rows.flatMap(p => label_lines(p[0]).map(line => line.length))), right: 90, top: 4, bottom: 26, outerBoundsMode: "none" },
		tooltip: { trigger: "axis", confine: true, valueFormatter: unit, axisPointer: { type: "shadow" } },
		xAxis: { type: "value", ...style.axis, axisLabel: { ...style.axis.axisLabel, formatter: tick(unit) }, splitNumber: 3 },
		yAxis: { type: "category", data: rows.map(p => p[0]), ...style.axis, axisLabel: { color: style.text, interval: 0, lineHeight: 13, fontSize: 11, formatter: text => label_lines(text).join("\n") } },
		aria: { enabled: true },
		series: [{ type: "bar", data: rows.map(p => p[1]), barMaxWidth: 22, label: { show: true, position: "right", color: style.text, formatter: p => `${(100 * p.value / sum).toFixed(1)} %` } }],
	};
}

/* Names take as many lines as they need. */
function parts_height(parts) {
	const shown = parts.filter(p => p[1] > 0).sort((a, b) => b[1] - a[1]).slice(0, PARTS_MOST);
	return 40 + shown.length * Math.max(26, 8 + 13 * Math.max(...shown.map(p => label_lines(p[0]).length)));
}

/* Says what "all others" are, in a chart above the table that has all of them. */
function parts_note(parts) {
	const more = parts.filter(p => p[1] > 0).length - PARTS_MOST + 1;
	return more > 1 ? `All others: ${thousands(String(more))}, each in a row of a table below.` : "";
}

/* ---- Matrices of the report */

const column = (series, name) => series.columns.indexOf(name);

/*
 * Rows that lasted for long enough to say something: at the end of a recording there may be one of a millisecond, in which
 * somebody had all of the CPUs, or nobody. If all are short there is nothing better.
 */
function lasting_rows(series) {
	const lasted = column(series, "duration_ns"), some = series.rows.filter(row => lasted < 0 || row[lasted] > 0);
	const longest = some.reduce((most, row) => Math.max(most, row[lasted] ?? 0), 0);
	return some.filter(row => lasted < 0 || row[lasted] >= longest / 4);
}

/* Rows of a matrix as points: [seconds, value]. */
function points_of(series, start, value) {
	const at = column(series, "start_ns"), lasted = column(series, "duration_ns");
	return lasting_rows(series)
		.map((row, i) => [at < 0 ? i * series.interval_ns / 1e9 : (since(row[at], start) + (lasted < 0 ? 0 : row[lasted] / 2)) / 1e9, value(row)]);
}
