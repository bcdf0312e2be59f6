// SPDX-License-Identifier: Apache-2.0
// timeline.js - the timeline: steps, devices, threads and queues along one axis, from the whole recording to a microsecond; what a gap's chain is.

const CAUSE_COLOURS = { user_code: "#4269d0", runtime: "#6c8ebf", driver: "#7f8fa6", runnable: "#e0781f", lock: "#a463f2", io: "#9c6b4e", page_fault: "#c9a227", pipeline: "#d1495b",
	network: "#2a9d9d", sleep: "#8d99ae", irq: "#ff8ab7", throttled: "#b56576", device_wait: "#3ca951", no_work: "#adb5bd", unknown: "#868e96" };
const STATE_COLOURS = { "on a CPU": "#3ca951", "ready, without a CPU": "#e0781f", "asleep": "#8d99ae", "asleep, for storage or the kernel": "#9c6b4e", "stopped": "#d1495b", "not known": "#ced4da" };
const LEAST_SPAN = 1e-6; // seconds
const ROW = 22, LINES = 80; // pixels
const LINES_MOST = 6; // charts of lines

const DASHES = ["solid", "dashed", "dotted"];
const NAMES_COLOURED = 8; // of calls and of tasks: those that take most of the time have a colour of their own
const OTHERS = "#adb5bd";

/* Names of the slices of this kind with their colours: those that take most of the time, longest first. */
function colours_of(tracks, kind) {
	const sums = new Map(), { names } = pictures.timeline ?? {};
	for (const { slices } of tracks.filter(track => track.kind === kind))
		for (let i = 0; i < slices.length; i += 3) {
			const name = names[slices[i + 2] < 0 ? -1 - slices[i + 2] : slices[i + 2]];
			sums.set(name, (sums.get(name) ?? 0) + Number(slices[i + 1]));
		}
	return new Map([...sums].sort((a, b) => b[1] - a[1]).slice(0, NAMES_COLOURED).map(([name], i) => [name, COLOURS[i]]));
}

/* [{ group, name, items: [[seconds, seconds, text, colour, root row]] }] from the analyzer's numbers. */
function tracks_of(report, start) {
	const { timeline } = pictures, roots = (report.idle?.roots?.length ? report.idle : report.waits)?.roots ?? [];
	const origin = timeline ? since(timeline.start_ns, start) : 0;
	const named = Object.fromEntries(["call", "task"].map(kind => [kind, colours_of(timeline?.tracks ?? [], kind)]));
	return (timeline?.tracks ?? []).map(({ group, name, kind, slices }) => {
		const items = [];
		for (let i = 0, at = origin; i < slices.length; i += 3) {
			at += Number(slices[i]); // text if it is beyond 2^53: two devices may have clocks that are decades apart
			const merged = slices[i + 2] < 0, number = merged ? -1 - slices[i + 2] : slices[i + 2], root = kind === "root" ? roots[number] : undefined;
			const text = kind === "root" ? (root ? root_text(root) : "a root that is in the JSON report only") : timeline.names[number];
			const colour = kind === "root" ? CAUSE_COLOURS[root?.cause] ?? CAUSE_COLOURS.unknown : kind === "state" ? STATE_COLOURS[text] : named[kind]?.get(text) ?? OTHERS;
			items.push([at / 1e9, (at + Number(slices[i + 1])) / 1e9, merged ? `${text}, and others` : text, colour, kind === "root" ? number : -1]);
		}
		return { group, name, kind, items };
	});
}

function step_tracks(report, start) {
	const of = (group, rows) => ({ group, name: "Steps", items: rows.map((row, i) => [since(row.start_ns, start) / 1e9, (since(row.start_ns, start) + row.duration_ns) / 1e9,
		`Step ${row.index}`, COLOURS[i % 2 ? 7 : 0], -1]) });
	const list = (report.steps?.devices ?? []).map((device, i, all) => [device, steps_group(all, i)]).filter(([device]) => device.rows?.length).map(([device, group]) => of(group, device.rows));
	if (report.steps?.rows?.length && !list.some(track => track.items[0][0] === since(report.steps.rows[0].start_ns, start) / 1e9))
		list.unshift(of("The job", report.steps.rows));
	return list;
}

/* Lines below the rows: how full queues are, how busy stages. */
function lines_of(report, start) {
	const list = (pictures.timeline?.queues ?? []).filter(queue => queue.points.length > 4).map(({ name, points }) => ({ title: `Tasks queued, ${name}`, unit: v => String(v), series: [{ name: "Tasks queued", step: "end",
		points: Array.from({ length: points.length / 2 }, (_, i) => [(Number(points[2 * i]) + since(pictures.timeline.start_ns, start)) / 1e9, points[2 * i + 1]]) }] }));
	for (const pipeline of report.pipeline ?? []) {
		const of = is_unknown(pipeline) && report.pipeline.length < 2 ? "" : `, ${pipeline_name(pipeline, report.pipeline)}`;
		const stages = (pipeline.operators ?? []).filter(op => op.series?.rows?.length > 1);
		const line = (op, value) => ({ name: op.name, points: points_of(op.series, start, value).filter(p => p[1] !== null && p[1] !== undefined && !Number.isNaN(p[1])) });
		const queues = stages.filter(op => column(op.series, "queue_size") >= 0).map(op => line(op, row => row[column(op.series, "queue_size")])).filter(s => s.points.length);
		const busy = stages.filter(op => column(op.series, "run_ns") >= 0).map(op => line(op, row => 100 * row[column(op.series, "run_ns")] / row[column(op.series, "duration_ns")])).filter(s => s.points.length);
		for (const [i, op] of stages.entries())
			for (const drawn_line of [...queues, ...busy].filter(s => s.name === op.name))
				Object.assign(drawn_line, { colour: COLOURS[i % COLOURS.length], dash: DASHES[i % DASHES.length] });
		if (queues.length)
			list.push({ title: `Elements queued behind each stage${of}`, unit: v => String(v), series: queues });
		if (busy.length)
			list.push({ title: `CPU of each stage${of}`, unit: share_text, series: busy });
	}
	return list;
}

/* Steps come above the other rows of their device. */
function timeline_parts(report, start) {
	const tracks = tracks_of(report, start).filter(track => track.items.length);
	for (const steps of step_tracks(report, start).reverse()) {
		const at = tracks.findIndex(track => track.group === steps.group);
		tracks.splice(Math.max(at, 0), 0, steps);
	}
	const lines = lines_of(report, start);
	return { tracks, lines: lines.slice(0, LINES_MOST), not_drawn: lines.slice(LINES_MOST) };
}

/* What there is no room for. */
function left_out_html({ not_drawn }) {
	const some = (count, what) => count ? [`${count} more ${what}${count > 1 ? "s" : ""}`] : [], { devices, streams, threads } = pictures.timeline?.left_out ?? {};
	const told = [...some(devices, "device"), ...some(streams, "stream"), ...some(threads, "thread"), ...(not_drawn.length ? [`the lines ${not_drawn.map(line => `“${line.title}”`).join(", ")}`] : [])];
	return told.length ? `<p class="note" id="timeline-left-out">Not drawn here: ${esc(told.join("; "))}. analyzer export --to perfetto writes all of it.</p>` : "";
}

/* What the colours of slices of one kind mean: [word, colour], in the order in which they are told. */
function meanings(tracks) {
	const list = new Map(), { timeline } = pictures;
	const add = (word, colour) => list.set(word, colour);
	for (const { kind, items } of tracks)
		for (const [, , text, colour, root] of items) {
			const plain = text.replace(/, and others$/, "");
			if (root >= 0)
				add(`Root: ${cause_text(Object.keys(CAUSE_COLOURS).find(cause => CAUSE_COLOURS[cause] === colour))}`, colour);
			else if (kind === "state" && STATE_COLOURS[plain])
				add(`State: ${plain}`, colour);
		}
	const told = [...list].sort();
	for (const [kind, word] of [["call", "Call"], ["task", "Task"]]) {
		const named = colours_of(timeline?.tracks ?? [], kind);
		told.push(...[...named].map(([name, colour]) => [`${word}: ${name}`, colour]));
		if (tracks.some(track => track.kind === kind && track.items.some(item => item[3] === OTHERS)))
			told.push([`${word}: any other`, OTHERS]);
	}
	return told;
}

/* What colours mean; the words are in tooltips, too. */
function legend_html({ tracks, lines }) {
	const stages = new Map(lines.flatMap(line => line.series.filter(s => s.colour).map(s => [s.name, s])));
	return `<p class="legend">${meanings(tracks).map(([word, colour]) => `<span><i style="background:${colour}"></i>${esc(word)}</span>`).join(" ")}${
		[...stages].map(([name, s]) => ` <span><i class="line" style="border-top:2px ${s.dash} ${s.colour}"></i>${esc(`Stage: ${name}`)}</span>`).join("")}</p>`;
}

const timeline_height = ({ tracks, lines }) => 60 + ROW * rows_of(tracks).length + (LINES + 34) * lines.length;

function timeline_html(report, start) {
	const parts = timeline_parts(report, start);
	if (!have_charts() || (!parts.tracks.length && !parts.lines.length))
		return "";
	const button = (what, text, label) => `<button type="button" data-zoom="${what}" aria-label="${label}">${text}</button>`;
	return `<p class="note">Buttons, the arrow keys, + and − or Ctrl and the wheel zoom and move; 0 shows everything. A click on idle time shows what is behind it. Slices too short to see are drawn as one.</p>
<div class="tools">${button("in", "+", "Zoom in")}${button("out", "−", "Zoom out")}${button("left", "←", "Earlier")}${button("right", "→", "Later")}${button("all", "All", "Show everything")}${
		report.idle?.gaps?.length ? button("gap", "Next longest gap", "Show the next longest gap") : ""} <output class="note" id="timeline-span"></output></div>
${chart_html("timeline", "Steps, devices, threads and queues", timeline_height(parts), `${parts.tracks.length} rows: ${parts.tracks.map(track => `${track.group}, ${track.name}`).slice(0, 12).join("; ")}.`)}
${legend_html(parts)}${left_out_html(parts)}<div class="chain" id="chain" aria-live="polite"></div>`;
}

/* ---- The chain behind a gap */

function chain_html(report, number, from, to, start) {
	const of = report.idle?.roots?.length ? "idle" : "waits", root = report[of]?.roots?.[number];
	if (!root)
		return "";
	const figure = (path, key, value) => `<span data-key="${path}.${key}" data-value="${esc(value)}">${esc(human(key, value, start))}</span>`;
	const path = `${of}.roots.${number}`, chain = root.chain ?? [];
	const gap = (report.idle?.gaps ?? []).findIndex(g => { const at = since(g.start_ns, start) / 1e9; return from >= at - 1e-9 && to <= at + g.duration_ns / 1e9 + 1e-9; });
	const parts = gap < 0 ? "" : `<h4>The gap, part by part</h4><ol>${report.idle.gaps[gap].parts.slice(0, 30).map((part, i) => `<li>${figure(`idle.gaps.${gap}.parts.${i}`, "ns", part.ns)}: ${
		esc(root_text(part))}${part.detail ? `, ${esc(part.detail)}` : ""}</li>`).join("")}</ol>`;
	return `<h3>${esc(root_text(root))}</h3><p>Here from ${esc(human("start_ns", from * 1e9, 0))} for ${esc(time_text((to - from) * 1e9))}. In all ${figure(path, "ns", root.ns)}, ${
		figure(path, "percent", root.percent)} of the time that was ${of === "idle" ? "idle" : "waited"}${root.gaps === undefined ? "" : `, in ${figure(path, "gaps", root.gaps)} gaps`}.</p>
<h4>Who waited for whom, from the thread that submits work to the root</h4><ol>${chain.map((hop, i) => `<li>${esc(hop.who ?? "not known")}: ${esc(cause_text(hop.cause))}, ${
		figure(`${path}.chain.${i}`, "ns", hop.ns)}</li>`).join("")}</ol>${parts}`;
}

/* ---- Drawing */

function rows_of(tracks) {
	const rows = [];
	let group;
	for (const track of tracks) {
		if (track.group !== group)
			rows.push({ label: track.group, is_group: true });
		group = track.group;
		rows.push({ label: track.name, items: track.items });
	}
	return rows;
}

function slice_shape(params, api, style) {
	const row = api.value(0), from = api.coord([api.value(1), row]), to = api.coord([api.value(2), row]), height = api.size([0, 1])[1] * 0.72, area = params.coordSys;
	const shape = echarts.graphic.clipRectByRect({ x: from[0], y: from[1] - height / 2, width: Math.max(to[0] - from[0], 0.6), height }, area);
	if (!shape)
		return null;
	const [text, colour] = [style.texts[params.dataIndex], style.colours[params.dataIndex]];
	const rect = { type: "rect", shape, style: { fill: colour, stroke: shape.width > 6 ? style.line : "none", lineWidth: 0.5 } };
	/* Where there is little room the end of a C++ name says most. */
	const shown = shape.width < 60 ? text.replace(/^Step (\d+)$/, "$1") : shape.width < 6 * text.length ? text.replace(/^[\w:]*::(?=~?\w)/, "") : text;
	return labelled(rect, shape.width > (shown === text ? 40 : 24) ? { text: shown, fill: "#fff", textBorderColor: "#0009", textBorderWidth: 2, width: shape.width - 8 } : null);
}

function timeline_option(style, parts, width) {
	const rows = rows_of(parts.tracks), left = width < 700 ? 96 : 240, top = 8, data = [], texts = [], colours = [], roots = [];
	rows.forEach((row, r) => row.items?.forEach(([from, to, text, colour, root]) => {
		data.push([r, from, to]);
		texts.push(text);
		colours.push(colour);
		roots.push(root);
	}));
	const all = [...data.flatMap(d => [d[1], d[2]]), ...parts.lines.flatMap(l => l.series.flatMap(s => s.points.map(p => p[0])))];
	const ends = all.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
	const grids = [{ left, right: 30, top, height: ROW * rows.length, outerBoundsMode: "none" }], x_axis = (index, shown) => ({ type: "value", gridIndex: index, min: ends[0], max: ends[1], ...style.axis, splitNumber: width < 700 ? 3 : 6,
		axisLabel: { ...style.axis.axisLabel, show: shown, formatter: axis_text(ends[1] - ends[0]), alignMaxLabel: "right" } });
	const y_axes = [{ type: "category", gridIndex: 0, inverse: true, data: rows.map(row => row.is_group ? "" : row.label), axisTick: { show: false }, axisLine: { show: false }, splitLine: { show: true, lineStyle: { color: style.line } },
		axisLabel: { interval: 0, width: left - 10, overflow: "break", lineHeight: 11, fontSize: 11, color: style.text, formatter: text => width < 700 ? text.replace(/ \(.*/, "").replace(/^(\w+) 0x\w*(\w{6})$/, "$1 …$2") : text } }];
	/* Names of groups have the whole width. */
	const names = rows.map((row, r) => [row, r]).filter(([row]) => row.is_group).map(([row, r]) => ({ type: "text", left: 0, top: top + ROW * r + 5, silent: true, style: { text: row.label, fill: style.text, fontSize: 11, fontWeight: "bold" } }));
	const series = [{ type: "custom", name: "Timeline", xAxisIndex: 0, yAxisIndex: 0, clip: true, progressive: 0, dimensions: ["row", "from", "to"], encode: { x: [1, 2], y: 0 }, data,
		renderItem: (params, api) => slice_shape(params, api, { texts, colours, line: style.line }), tooltip: { trigger: "item" } }];
	const titles = [];
	parts.lines.forEach((line, i) => {
		const at = top + ROW * rows.length + 30 + i * (LINES + 34);
		grids.push({ left, right: 30, top: at + 16, height: LINES, outerBoundsMode: "none" });
		titles.push({ text: line.title, left: 0, top: at - 4, padding: 0, textStyle: { fontSize: 11, color: style.text } });
		y_axes.push({ type: "value", gridIndex: i + 1, splitNumber: 2, ...style.axis, axisLabel: { ...style.axis.axisLabel, formatter: tick(line.unit) } });
		line.series.forEach((s, k) => series.push({ type: "line", name: s.name, xAxisIndex: i + 1, yAxisIndex: i + 1, data: s.points, showSymbol: false, step: s.step, color: s.colour, lineStyle: { width: 1.4, color: s.colour, type: s.dash ?? DASHES[k % DASHES.length] },
			tooltip: { valueFormatter: line.unit } }));
	});
	return { ends, roots, data, option: {
		title: titles, graphic: names, grid: grids, xAxis: grids.map((_, i) => x_axis(i, i === 0 || i === grids.length - 1)), yAxis: y_axes, series,
		tooltip: { confine: true, trigger: "item", formatter: p => p.seriesType === "custom" ? `${esc(texts[p.dataIndex])}<br>${time_text((data[p.dataIndex][2] - data[p.dataIndex][1]) * 1e9)} at ${esc(human("start_ns", data[p.dataIndex][1] * 1e9, 0))}` : `${esc(p.seriesName)}: ${p.value?.[1]}` },
		dataZoom: [{ type: "inside", xAxisIndex: grids.map((_, i) => i), filterMode: "none", zoomOnMouseWheel: "ctrl", minValueSpan: LEAST_SPAN },
			{ type: "slider", xAxisIndex: grids.map((_, i) => i), filterMode: "none", bottom: 2, height: 18, minValueSpan: LEAST_SPAN, labelFormatter: v => `${v.toFixed(3)} s`, brushSelect: false }],
	} };
}

/* Buttons, keys and clicks of a drawn timeline. */
function steer_timeline(chart_now, place, report, start, { ends, roots, data }) {
	let [from, to] = ends, gap = -1;
	const said = document.getElementById("timeline-span");
	const tell = () => {
		said.textContent = `${time_text((to - from) * 1e9)} shown, from ${human("start_ns", from * 1e9, 0)}`;
		chart_now.setOption({ xAxis: chart_now.getOption().xAxis.map(() => ({ axisLabel: { formatter: axis_text(to - from) } })) });
	};
	const show = (a, b) => {
		const span = Math.min(Math.max(b - a, LEAST_SPAN), ends[1] - ends[0]);
		const first = Math.min(Math.max(a, ends[0]), ends[1] - span);
		chart_now.dispatchAction({ type: "dataZoom", startValue: first, endValue: first + span });
	};
	const moves = {
		in: () => show(from + (to - from) / 4, to - (to - from) / 4), out: () => show(from - (to - from) / 2, to + (to - from) / 2),
		left: () => show(from - (to - from) / 4, to - (to - from) / 4), right: () => show(from + (to - from) / 4, to + (to - from) / 4), all: () => show(...ends),
		gap: () => {
			gap = (gap + 1) % report.idle.gaps.length;
			const at = since(report.idle.gaps[gap].start_ns, start) / 1e9, lasted = report.idle.gaps[gap].duration_ns / 1e9;
			show(at - lasted, at + 2 * lasted);
			const inside = data.map((d, i) => i).filter(i => roots[i] >= 0 && data[i][1] < at + lasted && data[i][2] > at), longest = inside.sort((a, b) => data[b][2] - data[b][1] - data[a][2] + data[a][1])[0];
			if (longest !== undefined)
				chain(longest);
		},
	};
	const chain = i => { document.getElementById("chain").innerHTML = chain_html(report, roots[i], data[i][1], data[i][2], start); };
	chart_now.on("datazoom", () => {
		const zoom = chart_now.getOption().dataZoom[0];
		[from, to] = [zoom.startValue, zoom.endValue];
		tell();
	});
	chart_now.on("click", p => p.seriesType === "custom" && roots[p.dataIndex] >= 0 && chain(p.dataIndex));
	timeline_moves = moves;
	if (!place.dataset.steered) {
		place.dataset.steered = "yes";
		const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all", Home: "all", g: "gap" };
		place.addEventListener("keydown", event => {
			if (!event.ctrlKey && !event.metaKey && timeline_moves[keys[event.key]] && (keys[event.key] !== "gap" || report.idle?.gaps?.length)) {
				event.preventDefault();
				timeline_moves[keys[event.key]]();
			}
		});
		document.addEventListener("click", event => timeline_moves[event.target.dataset?.zoom]?.());
	}
	tell();
}
let timeline_moves = {};

function draw_timeline(report, start) {
	const parts = timeline_parts(report, start);
	let made;
	chart("timeline", style => {
		const place = document.querySelector('[data-chart="timeline"]');
		made = timeline_option(style, parts, place.clientWidth);
		return made.option;
	}, (chart_now, place) => steer_timeline(chart_now, place, report, start, made));
}

/* ---- Idle by root over time */

function draw_over_time(report, start) {
	/* On a narrow screen there is room for the names of a few. */
	const ROOTS_SHOWN = innerWidth < 700 ? 3 : 6, times = pictures.roots_over_time, roots = report[times?.of]?.roots, place = document.getElementById("over-time");
	if (!times || !roots?.length || !have_charts())
		return;
	const sums = new Map(), last = times.shares.reduce((most, v, i) => i % 3 ? most : Math.max(most, v), 0);
	for (let i = 0; i < times.shares.length; i += 3) {
		const row = times.shares[i + 1] < ROOTS_SHOWN ? times.shares[i + 1] : ROOTS_SHOWN;
		if (!sums.has(row))
			sums.set(row, new Array(last + 1).fill(0));
		sums.get(row)[times.shares[i]] += times.shares[i + 2];
	}
	const whole = times.of === "idle" ? Math.max(1, (report.devices ?? []).filter(d => d.window_ns).length) : Math.max(1, report.waits.threads?.length ?? 1);
	const series = [...sums.keys()].sort((a, b) => a - b).map(row => ({ name: row < ROOTS_SHOWN ? root_text(roots[row]) : "all others", stack: "root", step: "end", cause: row < ROOTS_SHOWN ? roots[row].cause : "unknown",
		points: sums.get(row).map((ns, i) => [(since(times.start_ns, start) + (i + 0.5) * times.interval_ns) / 1e9, 100 * ns / times.interval_ns / whole]) }));
	const title = times.of === "idle" ? "Idle by root over time" : "Waiting by root over time";
	place.innerHTML = chart_html("over-time", `${title}, share of the time`, innerWidth < 700 ? 230 : 430, roots.slice(0, 3).map(r => `${root_text(r)} ${r.percent.toFixed(1)} %`).join("; "),
		roots.length > ROOTS_SHOWN ? `All others: ${roots.length - ROOTS_SHOWN}${left_out[`${times.of}.roots`] ? " and more" : ""}, <a href="#${times.of}">each in a row of a table</a>.` : "");
	chart("over-time", style => time_option(style, series, v => `${Number(v).toFixed(0)} %`, { y: { max: v => Math.max(100, Math.round(v.max)) }, width: document.querySelector('[data-chart="over-time"]').clientWidth }));
}
