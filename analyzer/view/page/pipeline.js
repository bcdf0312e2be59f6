// SPDX-License-Identifier: Apache-2.0
// pipeline.js - the data pipeline as a graph: its stages, how busy they are, how full the queue behind each is, where it starves.

const STAGE = [150, 52], QUEUE_WIDTH = 92; // pixels

const is_unknown = pipeline => !pipeline.framework || pipeline.framework.startsWith("unknown");

const consumer_of = pipeline => ({ id: "consumer", name: is_unknown(pipeline) ? "The job" : "Trainer", parents: [] });

/* How many stages are between each one and who takes the last elements. */
function stage_depths(operators) {
	const by_id = new Map(operators.map(op => [op.id, op])), depths = new Map();
	const depth = (op, seen) => {
		if (depths.has(op.id) || seen.has(op.id))
			return depths.get(op.id) ?? 0;
		seen.add(op.id);
		const above = (op.parents ?? []).map(id => by_id.get(id)).filter(Boolean);
		depths.set(op.id, 1 + Math.max(0, ...above.map(parent => depth(parent, seen))));
		return depths.get(op.id);
	};
	operators.forEach(op => depth(op, new Set()));
	return depths;
}

function stage_text(op, bottleneck) {
	return [op.name, op.utilization_percent === undefined ? null : `CPU ${op.utilization_percent.toFixed(1)} %${op.workers > 1 ? `, ${op.workers} workers` : ""}`,
		bottleneck ? "the bottleneck" : null].filter(Boolean).join("\n");
}

function queue_text(queue) {
	if (!queue)
		return "";
	const size = queue.mean_size === undefined ? null : `${queue.mean_size.toFixed(1)}${queue.capacity ? ` of ${queue.capacity}` : ""} queued`;
	return [size, queue.empty_percent === undefined ? null : `empty ${queue.empty_percent.toFixed(0)} %`, queue.full_percent === undefined ? null : `full ${queue.full_percent.toFixed(0)} %`].filter(Boolean).join("\n");
}

const starves = queue => queue?.empty_percent >= 50;

function pipeline_option(style, pipeline, width) {
	const operators = pipeline.operators, depths = stage_depths(operators), most = Math.max(...depths.values()), consumer = consumer_of(pipeline), upright = is_upright(pipeline);
	/* Where there is no room beside the stages, what is said of a queue stands above them. */
	const is_tight = !upright && width / (most + 1) - STAGE[0] < QUEUE_WIDTH;
	const levels = new Map(), counts = stage_counts(operators), widest = Math.max(...counts.values());
	/* Stages of one level share the room across. */
	const spot = level => {
		const nth = levels.get(level) ?? 0, across = (nth + 0.5) * widest / (counts.get(level) ?? 1);
		levels.set(level, nth + 1);
		return upright ? [across, level + 0.5] : [most - level + 0.5, widest - across];
	};
	const node = (op, level) => {
		const is_bottleneck = pipeline.bottleneck?.id === op.id;
		return { id: String(op.id), name: stage_text(op, is_bottleneck), value: spot(level), symbol: "roundRect", symbolSize: STAGE, itemStyle: { color: style.soft, borderColor: is_bottleneck ? "#d1495b" : style.faint, borderWidth: is_bottleneck ? 3 : 1 } };
	};
	const axis = max => ({ type: "value", show: false, min: 0, max });
	const link = (op, to) => ({ source: String(op.id), target: String(to), lineStyle: { color: starves(op.queue) ? "#d1495b" : style.faint, type: starves(op.queue) ? "dashed" : "solid", width: 2 },
		label: { show: Boolean(queue_text(op.queue)), formatter: queue_text(op.queue) + (starves(op.queue) ? "\nstarves" : ""), color: style.text, fontSize: 11, lineHeight: 14, rotate: 0, offset: upright ? [STAGE[0] / 2 + QUEUE_WIDTH / 2 + 6, 30] : [0, is_tight ? -STAGE[1] / 2 : 0] } });
	return {
		aria: { enabled: true }, tooltip: { confine: true, formatter: p => esc(p.dataType === "node" ? p.name : p.data.label.formatter).replace(/\n/g, "<br>") },
		grid: { left: 0, right: 0, top: 4, bottom: 4, outerBoundsMode: "none" }, xAxis: axis(upright ? widest : most + 1), yAxis: axis(upright ? most + 1 : widest),
		series: [{ type: "graph", layout: "none", coordinateSystem: "cartesian2d", edgeSymbol: ["none", "arrow"], edgeSymbolSize: 9,
			label: { show: true, color: style.text, fontSize: 11, lineHeight: 14, width: 142, overflow: "truncate" }, data: [...operators.map(op => node(op, depths.get(op.id))), node(consumer, 0)],
			links: operators.flatMap(op => (op.parents?.length ? op.parents : ["consumer"]).map(to => link(op, to))) }],
	};
}

/* How many stages each level has. */
function stage_counts(operators) {
	const counts = new Map();
	for (const level of stage_depths(operators).values())
		counts.set(level, (counts.get(level) ?? 0) + 1);
	return counts;
}

/* Where its stages do not fit beside each other they stand below each other. */
const is_upright = pipeline => typeof innerWidth !== "undefined" && (innerWidth < 700 || innerWidth - 50 < (stage_counts(pipeline.operators).size + 1) * (STAGE[0] + 10));

function pipeline_size(pipeline) {
	const counts = stage_counts(pipeline.operators);
	return is_upright(pipeline) ? 120 * (counts.size + 1) : Math.max(174, 124 * Math.max(...counts.values()));
}

const drawable_pipelines = list => (Array.isArray(list) ? list : []).map((pipeline, i) => [pipeline, i]).filter(([pipeline]) => pipeline.operators?.length).slice(0, 8);

/* One of several pipelines is told by the number that tables have, too. */
const pipeline_name = (pipeline, list) => `${is_unknown(pipeline) ? "Stages" : pipeline.framework}${list.length > 1 ? ` ${pipeline.id}` : ""}`;

function pipeline_html(list) {
	return drawable_pipelines(list).map(([pipeline, i]) => chart_html(`pipeline-${i}`, `${pipeline_name(pipeline, list)}${pipeline.pid ? `, process ${pipeline.pid}` : ""}`,
		pipeline_size(pipeline), pipeline.operators.map(op => `${stage_text(op, pipeline.bottleneck?.id === op.id)}. ${queue_text(op.queue)}`).join("; ").replace(/\n/g, ", "))).join("");
}

function draw_pipelines(list) {
	for (const [pipeline, i] of drawable_pipelines(list))
		chart(`pipeline-${i}`, style => pipeline_option(style, pipeline, document.querySelector(`[data-chart="pipeline-${i}"]`).clientWidth));
}
