// SPDX-License-Identifier: Apache-2.0
// host.js - charts of the host, of steps, memory and what else the report has along time or as parts.

/* Each: [name, title, height, summary, make]; what has no data is not there. */

function host_charts(host, start) {
	const series = host.series, list = [];
	if (!series?.rows?.length)
		return list;
	const times = ["user_ns", "system_ns", "irq_ns", "softirq_ns", "iowait_ns", "steal_ns", "idle_ns"].filter(name => column(series, name) >= 0);
	const sum = row => times.reduce((all, name) => all + row[column(series, name)], 0);
	const used = lasting_rows(series).filter(row => sum(row) > 0), part = { ...series, rows: used };
	const shown = times.filter(name => name !== "idle_ns" && used.some(row => row[column(series, name)] > 0));
	if (used.length > 1 && shown.length)
		list.push(["host-cpu", "What the CPUs did, share of all CPUs", 230, `${shown.length} kinds of time, from user code to interrupts.`, style => time_option(style,
			shown.map(name => ({ name: words(name), stack: "cpu", points: points_of(part, start, row => 100 * row[column(series, name)] / sum(row)) })),
			v => `${Number(v).toFixed(0)} %`, { y: { max: 100 } })]);
	const lines = names => names.filter(name => column(series, name) >= 0 && used.some(row => row[column(series, name)] > 0))
		.map(name => ({ name: words(name), points: points_of(part, start, row => row[column(series, name)]) }));
	const threads = lines(["runnable", "blocked", "active_processes"]);
	if (used.length > 1 && threads.length)
		list.push(["host-threads", "Threads that were ready, and processes that used a CPU", 200, "", style => time_option(style, threads, v => thousands(Number(v).toFixed(0)))]);
	const switches = column(series, "context_switches"), lasted = column(series, "duration_ns");
	if (used.length > 1 && switches >= 0 && used.some(row => row[switches] > 0))
		list.push(["host-switches", "Context switches", 200, "", style => time_option(style, [{ name: "Context switches",
			points: points_of(part, start, row => row[switches] / ((lasted < 0 ? series.interval_ns : row[lasted]) / 1e9)) }], v => `${si(v, "", ["", "k", "M", "G"])}/s`)]);
	return list;
}

/*
 * Readings of the kernel's counters as points. What is summed up since boot is drawn as its share of the time between two readings;
 * the last two may lie too close together to say something.
 */
function counter_points({ unit, samples }, start) {
	const at = i => since(samples[i][0], start) / 1e9;
	if (unit !== "ns_total")
		return samples.map((sample, i) => [at(i), Number(sample[1])]);
	const parts = samples.slice(1).map((sample, i) => ({ from: at(i), to: at(i + 1), ns: since(sample[1], samples[i][1]) }));
	const longest = parts.reduce((most, p) => Math.max(most, p.to - p.from), 0);
	return parts.filter(p => p.to > p.from && p.to - p.from >= longest / 4).map(p => [(p.from + p.to) / 2, 100 * p.ns / (p.to - p.from) / 1e9]);
}

/* Of a counter that each CPU has: the mean of all, and how far they are apart. */
function cpu_lines(name, points) {
	if (points.length <= 1)
		return points.map(p => ({ name, points: p }));
	const rows = points[0].map(([at], i) => [at, points.map(p => p[i]?.[1]).filter(v => v !== undefined)]);
	return [["mean", of => of.reduce((all, v) => all + v, 0) / of.length], ["lowest", of => Math.min(...of)], ["highest", of => Math.max(...of)]]
		.map(([what, value]) => ({ name: `${name}, ${what} of the CPUs`, points: rows.map(([at, of]) => [at, value(of)]) }));
}

/* An axis of shares ends at 100 %; one of small shares where it would by itself. */
const SHARE_MOST = v => v.max > 60 ? 100 : null;

const COUNTER_CHARTS = [[/^pressure_/, "Pressure: share of the time in which tasks waited (some), or all did (full)"], [/^idle_/, "Idle states of the CPUs, share of their time"],
	[/^frequency$/, "Frequency of the CPUs"], [/./, "Other counters of the kernel"]];

function counter_charts(counters, start) {
	const left = new Set((counters ?? []).filter(c => c.samples?.length > 1));
	return COUNTER_CHARTS.flatMap(([pattern, title], i) => {
		const mine = [...left].filter(c => pattern.test(c.name)), names = [...new Set(mine.map(c => c.name))];
		mine.forEach(c => left.delete(c));
		const lines = names.flatMap(name => cpu_lines(words(name.replace(/^(pressure|idle)_/, "")), mine.filter(c => c.name === name).map(c => counter_points(c, start))))
			.filter(line => line.points.length > 1 && line.points.some(p => p[1] > 0));
		const unit = mine[0]?.unit === "ns_total" ? share_text : mine[0]?.unit === "hz" ? v => si(v, "Hz", ["", "k", "M", "G"]) : v => thousands(String(v));
		return lines.length ? [[`counters-${i}`, title, 200, lines.map(line => line.name).join(", "), style => time_option(style, lines, unit, unit === share_text ? { y: { max: SHARE_MOST } } : {})]] : [];
	});
}

/* What a step is made of: the chart and the table say the same words. */
const STEP_WORDS = { data_wait_ns: "Waiting for data", iteration_interval_ns: "Gap before the step", fp_bp_ns: "Forward and backward", tail_ns: "Tail", host_ns: "Rest of the step" };
const STEP_PARTS = Object.entries(STEP_WORDS);

function steps_option(style, rows) {
	const parts = STEP_PARTS.filter(([key]) => rows.some(row => row[key] !== undefined));
	const point = key => rows.map(row => [row.index, row[key] === undefined ? null : row[key]]);
	const lines = [["duration_ns", "Whole step"], ["device_busy_ns", "Device busy"]].filter(([key]) => rows.some(row => row[key] !== undefined));
	return {
		legend: legend_of(parts.length + lines.length, style),
		grid: { left: 8, right: 16, top: 34, bottom: 44, containLabel: true },
		tooltip: { trigger: "axis", confine: true, valueFormatter: v => v === null || v === undefined ? "unknown" : time_text(v), axisPointer: { label: { formatter: p => `step ${p.value}` } } },
		xAxis: { type: "value", min: rows[0].index, max: rows.at(-1).index, minInterval: 1, ...style.axis, splitLine: { show: false } },
		yAxis: { type: "value", ...style.axis, axisLabel: { ...style.axis.axisLabel, formatter: tick(time_text) } },
		dataZoom: [{ type: "inside", zoomOnMouseWheel: "ctrl" }, { type: "slider", height: 18, bottom: 6, labelFormatter: v => String(Math.round(v)) }],
		aria: { enabled: true, decal: { show: true } },
		series: [...parts.map(([key, name]) => ({ name, type: "line", stack: "step", areaStyle: { opacity: 0.7 }, showSymbol: false, lineStyle: { width: 0.5 }, data: point(key) })),
			...lines.map(([key, name], i) => ({ name, type: "line", showSymbol: rows.length < 60, symbol: ["circle", "triangle"][i], lineStyle: { type: ["solid", "dashed"][i], width: 1.5 }, data: point(key) }))],
	};
}

function step_charts(steps) {
	const list = [];
	/* Where no trainer is known they are those of a device. */
	if (steps.rows?.length > 1 && !(steps.devices ?? []).some(device => device.rows?.[0]?.start_ns === steps.rows[0].start_ns))
		list.push(["steps-job", "Steps of the job", 280, `${steps.rows.length} steps.`, style => steps_option(style, steps.rows)]);
	for (const [i, device] of (steps.devices ?? []).entries())
		if (device.rows?.length > 1)
			list.push([`steps-device-${i}`, `Steps of ${steps_group(steps.devices, i).replace(/^D/, "d")}`, 280, `${device.rows.length} steps.`, style => steps_option(style, device.rows)]);
	return list;
}

function memory_charts(memory, start) {
	const curves = [...(memory.ledgers ?? []).map(l => [`${words(String(l.memory))} memory of ${l.runtime}, process ${l.pid}`, l.curve]),
		...(memory.records ?? []).map(r => [`${r.component ?? "Memory"} of device ${r.device ?? ""}`, r.curve])].filter(c => c[1]?.length > 1);
	return curves.map(([title, curve], i) => [`memory-${i}`, title, 200, "", style => time_option(style,
		[{ name: "In use", step: "end", points: curve.map(p => [since(p[0], Number(p[0]) >= Number(start) ? start : 0) / 1e9, Number(p[1])]) }], bytes_text)]);
}

const parts_chart = (name, title, parts, unit) => parts.some(p => p[1] > 0) ? [[name, title, parts_height(parts), parts.filter(p => p[1] > 0).sort((a, b) => b[1] - a[1]).slice(0, 3)
	.map(p => `${p[0]} ${unit(p[1])}`).join(", "), style => parts_option(style, parts, unit), undefined, parts_note(parts)]] : [];

function rank_charts(cluster) {
	const list = is_rows(cluster?.ranks) ? cluster.ranks : is_rows(cluster) ? cluster : [];
	const keys = [...new Set(list.flatMap(row => Object.keys(row)))].filter(key => key.endsWith("_ns") && !INSTANTS.test(key) && list.some(row => row[key] > 0)).slice(0, 6);
	if (list.length < 2 || !keys.length)
		return [];
	return [["ranks", "Mean step by rank", 60 + 28 * list.length, `${list.length} ranks.`, style => ({
		legend: legend_of(keys.length, style), grid: { left: 8, right: 20, top: 34, bottom: 8, containLabel: true },
		tooltip: { trigger: "axis", confine: true, valueFormatter: time_text, axisPointer: { type: "shadow" } }, aria: { enabled: true, decal: { show: true } },
		xAxis: { type: "value", ...style.axis, axisLabel: { ...style.axis.axisLabel, formatter: tick(time_text), alignMaxLabel: "right" } },
		yAxis: { type: "category", inverse: true, data: list.map(row => `rank ${row.rank ?? row.rank_id ?? row.device}`), ...style.axis },
		series: keys.map(key => ({ name: words(key), type: "bar", data: list.map(row => row[key] ?? null) })),
	})]];
}

/* Device time of rows of the report, each with the name of its part. */
const by_device = (rows, name) => names_by_device(rows, name).map((part, i) => [part, rows[i].total_ns]);

const SECTION_CHARTS = {
	host: (host, start) => [...host_charts(host, start), ...counter_charts(host.counters, start)],
	steps: step_charts,
	memory: memory_charts,
	cluster: rank_charts,
	operators: rows => parts_chart("operators", "Device time by operator", by_device(rows, row => row.name), time_text),
	operator_types: rows => parts_chart("operator-types", "Device time by type of operator", by_device(rows, row => row.op_type ?? row.type), time_text),
	operator_cores: rows => parts_chart("operator-cores", "Device time by what ran it", by_device(rows, row => row.core), time_text),
	overlap: rows => rows.flatMap((row, i) => parts_chart(`overlap-${i}`, distinct(rows.map(other => `Device ${device_text(other)}`))[i], [["Computation", row.computation_ns ?? 0],
		["Communication alone", row.pure_communication_ns ?? 0], ["Free", row.free_ns ?? 0]], time_text)),
	idle: idle => [...parts_chart("idle-roots", "Idle time by root", (idle.roots ?? []).map(r => [root_text(r), r.ns]), time_text),
		...parts_chart("idle-causes", "Idle time by what the launching thread did", (idle.causes ?? []).map(c => [root_text(c), c.ns]), time_text)],
	waits: waits => parts_chart("wait-roots", "Waiting by root", (waits.roots ?? []).map(r => [root_text(r), r.ns]), time_text),
	processes: rows => parts_chart("processes", "CPU time by process", rows.map(row => [`${row.name} ${row.pid}`, row.run_ns ?? 0]), time_text),
	api: rows => parts_chart("api", "Time in runtime calls", rows.map(row => [rows.some(other => other !== row && other.function === row.function) ? `${row.function}, process ${row.pid}` : row.function, row.total_ns ?? 0]), time_text),
};
