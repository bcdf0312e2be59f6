// SPDX-License-Identifier: Apache-2.0
// flames.js - flame graphs, the root on top: on CPUs, asleep, and of the device under what launched it. A click or the arrow keys go into a frame.

const FLAMES = { on_cpu: ["On CPUs", "samples", v => `${thousands(String(v))} samples`], gil: ["On CPUs with the Python interpreter’s lock (GIL)", "samples", v => `${thousands(String(v))} samples`], off_cpu: ["Asleep", "time asleep", time_text], device: ["On the devices, under what launched it", "device time", time_text] };
const FLAME_ROW = 18;

/* Nodes with their place: [{ name, depth, from, total, children }], the widest first; from and total in the tree's unit. */
function flame_nodes({ nodes, names }) {
	const list = [];
	for (let i = 0; i < nodes.length; i += 3)
		list.push({ parent: nodes[i], name: nodes[i] < 0 ? "all" : names[nodes[i + 1]], total: nodes[i + 2], depth: nodes[i] < 0 ? 0 : list[nodes[i]].depth + 1, children: [], number: i / 3 });
	for (const node of list)
		if (node.parent >= 0)
			list[node.parent].children.push(node);
	const place = (node, from) => {
		node.from = from;
		for (const child of node.children.sort((a, b) => b.total - a.total)) {
			place(child, from);
			from += child.total;
		}
	};
	if (list.length)
		place(list[0], 0);
	return list;
}

/* What kind of function a frame is, by its text: stack_tree_text() of the analyzer. */
const is_python = name => / \([^()]+\)$/.test(name), is_nameless = name => /^\[.*\]$/.test(name);

/* [hue, saturation] of a frame; frames of one kind differ a little, so that neighbours can be told apart. */
function flame_colour(name) {
	const some = [...name].reduce((h, c) => (h * 31 + c.charCodeAt(0)) >>> 0, 7) % 40;
	return is_nameless(name) ? [some, 6] : [is_python(name) ? 190 + some : 18 + some, 75];
}

const flame_depth = list => list.reduce((most, node) => Math.max(most, node.depth), 0);

function flames_html() {
	if (!have_charts())
		return "";
	return Object.entries(FLAMES).filter(([kind]) => pictures.flames?.[kind]?.nodes.length > 3).map(([kind, [title, weight]]) => {
		const list = flame_nodes(pictures.flames[kind]), height = FLAME_ROW * (flame_depth(list) + 1) + 6;
		const kinds = [[is_python, "blue: Python’s functions, with their file"], [name => !is_python(name) && !is_nameless(name), "orange: native code and the kernel"],
			[is_nameless, "grey: without a name, by their file; [unknown] where the callers are not known"]].filter(([is]) => list.slice(1).some(node => is(node.name))).map(([, word]) => word);
		return `<h3>${esc(title)}</h3><p class="note">A click goes into a frame, the arrow keys to its caller, its widest callee and its neighbours, Home to all. ${kinds.length > 1 ? esc(`Colours: ${kinds.join("; ")}.`) : ""}</p><div class="tools"><input type="search" data-flame-search="${kind}" aria-label="Mark frames" placeholder="Mark frames">
<button type="button" data-flame-all="${kind}">All</button> <output class="note" id="flame-${kind}"></output></div>
<div class="flame">${chart_html(`flame-${kind}`, `${title}: a frame’s width is its ${weight}`, height, `The widest: ${list.filter(node => !node.children.length || node.total > list[0].total / 2).slice(0, 6).map(node => node.name).join("; ")}.`)}</div>`;
	}).join("");
}

/*
 * A frame as a rectangle. Its colour has commas: ECharts does not read hsl() without them, so a frame under the mouse would have no
 * colour, and what has none cannot be clicked.
 */
function flame_shape(params, api, state) {
	const node = state.shown[params.dataIndex], area = params.coordSys, root = state.root;
	const scale = area.width / root.total, x = area.x + Math.max(0, (node.from - root.from) * scale), width = node.depth <= root.depth ? area.width : Math.min(node.total, root.total) * scale;
	if (width < 0.4)
		return null;
	const marked = state.search && node.name.toLowerCase().includes(state.search), [hue, saturation] = flame_colour(node.name);
	const rect = { type: "rect", shape: { x, y: area.y + node.depth * FLAME_ROW, width: Math.max(width - 0.5, 0.4), height: FLAME_ROW - 1 },
		style: { fill: marked ? "#d81b60" : `hsl(${hue},${saturation}%,${node.depth < root.depth ? 78 : 66}%)`, stroke: marked ? "#000" : "none" } };
	return labelled(rect, width > 34 ? { text: marked ? `▸ ${node.name}` : node.name, fill: marked ? "#fff" : "#1b1206", width: width - 7 } : null);
}

/* What is below @root, and the way to it. */
function flame_shown(list, root) {
	const shown = list.filter(node => node.from >= root.from && node.from + node.total <= root.from + root.total && node.depth >= root.depth);
	for (let node = root; node.parent >= 0; node = list[node.parent])
		shown.push(list[node.parent]);
	return [...new Set(shown)];
}

/* The frame that a key leads to from @node: its caller, its widest callee, the frame beside it, or all. */
function flame_next(list, node, key) {
	const beside = node.parent < 0 ? [node] : list[node.parent].children, i = beside.indexOf(node);
	return { ArrowUp: list[node.parent] ?? node, ArrowDown: node.children[0] ?? node, Home: list[0],
		ArrowLeft: beside[Math.max(i - 1, 0)], ArrowRight: beside[Math.min(i + 1, beside.length - 1)] }[key];
}

function draw_flame(kind) {
	const list = flame_nodes(pictures.flames[kind]), unit = FLAMES[kind][2], said = document.getElementById(`flame-${kind}`), state = { root: list[0], shown: list, search: "" };
	let now;
	const share = node => `${unit(node.total)}, ${(100 * node.total / list[0].total).toFixed(1)} %`;
	const series = () => ({ series: [{ type: "custom", progressive: 0, data: state.shown.map((_, i) => [i]), renderItem: (params, api) => flame_shape(params, api, state) }] });
	const show = root => {
		state.root = root;
		state.shown = flame_shown(list, root);
		now.setOption(series());
		said.textContent = `${root.name}: ${share(root)}`;
	};
	chart(`flame-${kind}`, () => ({ grid: { left: 0, right: 0, top: 2, bottom: 2 }, xAxis: { show: false, min: 0, max: 1 }, yAxis: { show: false, min: 0, max: 1 },
		tooltip: { confine: true, formatter: p => `${esc(state.shown[p.dataIndex].name)}<br>${esc(share(state.shown[p.dataIndex]))}` }, ...series() }), chart_now => {
		now = chart_now;
		now.on("click", p => show(state.shown[p.dataIndex]));
	});
	document.querySelector(`[data-chart="flame-${kind}"]`)?.addEventListener("keydown", event => {
		const next = flame_next(list, state.root, event.key);
		if (!now || !next || event.ctrlKey || event.metaKey)
			return;
		event.preventDefault();
		show(next);
	});
	document.querySelector(`[data-flame-all="${kind}"]`)?.addEventListener("click", () => show(list[0]));
	document.querySelector(`[data-flame-search="${kind}"]`)?.addEventListener("input", event => {
		state.search = event.target.value.toLowerCase();
		now?.setOption(series());
		const marked = list.filter(node => state.search && node.name.toLowerCase().includes(state.search));
		/* Frames inside marked ones are in them already. */
		const outer = marked.filter(node => { for (let up = list[node.parent]; up; up = list[up.parent]) if (marked.includes(up)) return false; return true; });
		said.textContent = state.search ? `marked: ${share({ total: outer.reduce((sum, node) => sum + node.total, 0) })}` : "";
	});
}

function draw_flames() {
	for (const kind of Object.keys(FLAMES))
		if (have_charts() && pictures.flames?.[kind]?.nodes.length > 3)
			draw_flame(kind);
}
