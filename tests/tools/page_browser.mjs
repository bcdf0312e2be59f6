// SPDX-License-Identifier: Apache-2.0
// page_browser.mjs - looks at a report's page in a real browser, as its readers do.
//
// usage: node page_browser.mjs REPORT.html REPORT.json [SCREENSHOTS]
//
// Fails where the page breaks a promise: the first screen, each figure that of the JSON report, nothing cut at 500
// pixels, an empty console, no request, what a reader without scripts gets. Pictures go to the folder SCREENSHOTS.
import { readFileSync } from "node:fs";
import { open_browser } from "./browser.mjs";

const [file, json_file, pictures] = process.argv.slice(2);
const report = JSON.parse(readFileSync(json_file, "utf8"));
const has_library = /id="library">[^<]/.test(readFileSync(file, "utf8"));
const problems = [];
const browser = await open_browser();
const need = (what, holds) => { if (!holds) problems.push(what); };

/* In the page: figures that differ from the report's, by their paths. */
const FIGURES = `[...document.querySelectorAll("[data-key]")].map(e => [e.dataset.key, e.dataset.value])`;
/* In the page: text that is cut, or that the window does not show. */
const CUT = `[...document.querySelectorAll("main *, header *")].filter(e => { const s = getComputedStyle(e); return e.childElementCount === 0 && e.textContent.trim() &&
	e.getClientRects().length && s.overflowX !== "auto" && !e.closest(".hidden, .skip, [data-chart], nav") && e.scrollWidth > e.clientWidth + 1 && e.clientWidth; }).map(e => e.outerHTML.slice(0, 120))`;
const box = selector => `(({ left, top, right, bottom }) => ({ left, top, right, bottom }))(document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect())`;

function check_figures(figures) {
	const at = path => path.split(".").reduce((value, key) => value?.[key], report);
	for (const [path, value] of figures) {
		const told = at(path);
		const same = typeof told === "number" ? Number(value) === told : Array.isArray(told) ? value === JSON.stringify(told) : value === String(told);
		need(`${path} is ${value} on the page, ${JSON.stringify(told)} in the report`, told !== undefined && same);
	}
	return figures.length;
}

async function look(name, size, more = async () => {}) {
	const page = await browser.open_page(file, size);
	if (size.scripts !== false) {
		await page.wait_for("document.documentElement.dataset.ready");
		need(`${name}: the page says: ${await page.evaluate("document.getElementById('foot').textContent")}`, await page.evaluate("document.documentElement.dataset.ready") === "yes");
		await page.evaluate("new Promise(done => setTimeout(done, 300))");
	}
	if (pictures)
		await page.screenshot(`${pictures}/${name}.png`);
	if (report.verdict) {
		const { left, top, right, bottom } = await page.evaluate(box("#verdict"));
		need(`${name}: the verdict is not wholly in the first screen`, left >= 0 && top >= 0 && right <= size.width && bottom <= size.height);
		need(`${name}: the verdict's state`, await page.evaluate("document.getElementById('verdict').dataset.state") === report.verdict.state);
		const tiles = await page.evaluate(box(".tiles"));
		need(`${name}: the headline figures are not in the first screen`, tiles.bottom <= size.height);
	}
	need(`${name}: wider than the window`, await page.evaluate("document.documentElement.scrollWidth") <= size.width);
	for (const cut of await page.evaluate(CUT))
		need(`${name}: text is cut: ${cut}`, false);
	await more(page);
	for (const message of page.messages)
		need(`${name}: the console: ${message}`, false);
	await page.close();
}

/* Each chart is drawn where it comes into view, and not empty. */
async function check_charts(page) {
	const charts = await page.evaluate(`(async () => {
		const places = [...document.querySelectorAll("[data-chart]")];
		for (const place of places) {
			place.scrollIntoView({ block: "center" });
			for (let i = 0; i < 100 && !place.querySelector("canvas"); i++)
				await new Promise(done => setTimeout(done, 20));
		}
		return places.map(place => [place.dataset.chart, Boolean(place.querySelector("canvas")), Boolean(place.getAttribute("aria-label"))]);
	})()`);
	for (const [name, is_drawn, is_labelled] of charts)
		need(`the chart ${name}`, is_drawn && is_labelled);
	return charts.length;
}

/* A build without the library has tables, and says why that is all. */
async function check_bare(page) {
	need("without the library the page says so", /tables only/.test(await page.evaluate("document.getElementById('foot').textContent")));
	need("without the library there are no charts", await page.evaluate("document.querySelectorAll('[data-chart]').length") === 0);
}

/* Texts of charts that the edge of their chart cuts. */
const CUT_TEXTS = `[...drawn].flatMap(([place, chart]) => chart.getZr().storage.getDisplayList(true).filter(e => e.type === "tspan" && !e.ignore && !e.invisible && e.style.text && !e.parent?.__hostTarget && !(e.getClipPaths?.() ?? e.__clipPaths)?.length).flatMap(e => {
	const rect = e.getBoundingRect().clone();
	if (e.getComputedTransform())
		rect.applyTransform(e.getComputedTransform());
	return rect.x < -1.5 || rect.x + rect.width > chart.getWidth() + 1.5 || rect.y < -2 || rect.y + rect.height > chart.getHeight() + 2 ? [place.dataset.chart + ": " + e.style.text] : [];
}))`;

/* Stages of a data pipeline that lie on each other. */
const PILED_STAGES = `[...drawn].filter(([place]) => place.dataset.chart.startsWith("pipeline-")).flatMap(([place, chart]) => {
	const data = chart.getModel().getSeriesByIndex(0).getData(), boxes = [];
	data.each(i => { const [x, y] = data.getItemLayout(i); boxes.push([x, y]); });
	return boxes.flatMap(([x, y], i) => boxes.slice(i + 1).filter(([a, b]) => Math.abs(x - a) < STAGE[0] && Math.abs(y - b) < STAGE[1]).map(() => place.dataset.chart));
})`;

async function check_pictures(page) {
	await check_charts(page);
	const cut = await page.evaluate(CUT_TEXTS), piled = await page.evaluate(PILED_STAGES);
	need(`texts of charts are cut: ${cut.slice(0, 5).join(", ")}`, !cut.length);
	need(`stages lie on each other: ${piled.join(", ")}`, !piled.length);
}

/* On paper there is nothing to press, and no table or chart is cut or lies on another. */
async function check_print(page) {
	if (has_library)
		await check_pictures(page);
	await page.ask("Emulation.setEmulatedMedia", { media: "" });
	await page.evaluate("dispatchEvent(new Event('beforeprint'))");
	await page.ask("Emulation.setEmulatedMedia", { media: "print" });
	await page.ask("Emulation.setDeviceMetricsOverride", { width: 980, height: 700, deviceScaleFactor: 1, mobile: false });
	need("a table does not fit on paper", await page.evaluate("[...document.querySelectorAll('.table')].every(e => e.scrollWidth <= e.clientWidth + 1)"));
	need("a chart does not fit on paper", await page.evaluate(`(() => { const boxes = [...document.querySelectorAll("[data-chart] canvas:first-child")].map(e => [e.getBoundingClientRect(), e.closest("figure").getBoundingClientRect(), Boolean(e.closest(".flame"))]);
		return boxes.every(([e, figure, flame]) => e.right <= figure.right + 1 && (flame || e.bottom <= figure.bottom + 1) && e.height > 20); })()`));
	need("what is pressed is not printed", await page.evaluate("getComputedStyle(document.querySelector('header')).display === 'none' && getComputedStyle(document.querySelector('.tools')).display === 'none'"));
	need("tables are printed whole", await page.evaluate("[...document.querySelectorAll('.table')].every(e => getComputedStyle(e).maxHeight === 'none')"));
	await page.ask("Emulation.setEmulatedMedia", { media: "" });
}

/* By keys alone: from the first table's heading a sort, the rest of its rows, all of it as CSV. */
async function check_keys(page) {
	await page.evaluate("document.querySelector('th button').focus()");
	await page.key("Enter");
	need("Enter on a heading sorts", await page.evaluate("document.querySelector('th').getAttribute('aria-sort')") !== "none");
	const csv = await page.evaluate("csv_of(tables[0])"), rows = await page.evaluate("tables[0].rows.length");
	need("a table as CSV has all its rows", csv.trim().split("\n").length >= rows + 1);
}

/* Texts in rectangles that are too narrow for one: left from when they were wider. */
const left_over = (page, chart) => page.evaluate(`(() => { const texts = [], look = e => {
	const text = e.getTextContent?.()?.style.text;
	if (text && e.shape?.width < 20)
		texts.push(text);
	(e.children?.() ?? []).forEach(look);
}; drawn.get(document.querySelector('[data-chart="${chart}"]')).getZr().storage.getRoots().forEach(look); return texts.join(", "); })()`);

/* The timeline by keys and buttons: zoom, pan, the chain of the longest gap, and of one that is clicked. */
async function check_timeline(page) {
	const shown = () => page.evaluate("(() => { const z = drawn.get(document.querySelector('[data-chart=timeline]')).getOption().dataZoom[0]; return [z.startValue, z.endValue]; })()");
	if (!await page.evaluate("Boolean(document.querySelector('[data-chart=timeline]'))"))
		return;
	await page.evaluate("document.querySelector('[data-chart=timeline]').scrollIntoView({ block: 'center' }); document.querySelector('[data-chart=timeline]').focus()");
	const all = await shown();
	await page.key("+");
	const near = await shown();
	need("+ zooms in", near[1] - near[0] < 0.6 * (all[1] - all[0]));
	await page.key("ArrowRight");
	need("an arrow moves", (await shown())[0] > near[0]);
	for (let i = 0; i < 60; i++)
		await page.key("+");
	const least = await shown();
	need(`the timeline shows a microsecond, not ${least[1] - least[0]} s`, least[1] - least[0] < 2e-6);
	await page.key("0");
	need("0 shows everything", Math.abs((await shown())[1] - all[1]) < 1e-6);
	const texts = await left_over(page, "timeline");
	need(`texts are left from when the timeline showed less: ${texts}`, texts === "");
	if (!report.idle?.gaps?.length)
		return;
	await page.evaluate("document.querySelector('[data-zoom=gap]').click()");
	need("the next longest gap shows its chain", await page.evaluate("document.querySelectorAll('#chain li').length") > 0);
	check_figures(await page.evaluate(`[...document.querySelectorAll("#chain [data-key]")].map(e => [e.dataset.key, e.dataset.value])`));
	await page.evaluate("document.getElementById('chain').innerHTML = ''");
	const spot = await page.evaluate(`(() => { const place = document.querySelector('[data-chart=timeline]'); place.scrollIntoView({ block: 'start' }); scrollBy(0, -80);
		const chart = drawn.get(place), { yAxis, dataZoom, series } = chart.getOption(), { startValue, endValue } = dataZoom[0];
		const shown = series[0].data.map(([row, from, to]) => [row, Math.max(from, startValue), Math.min(to, endValue)]).filter(([row]) => yAxis[0].data[row] === "Idle, by root");
		const [row, from, to] = shown.sort((a, b) => b[2] - b[1] - a[2] + a[1])[0];
		const [x, y] = chart.convertToPixel({ xAxisIndex: 0, yAxisIndex: 0 }, [(from + to) / 2, row]), box = place.getBoundingClientRect(); return [box.left + x, box.top + y]; })()`);
	await page.click(...spot);
	need("a click on a gap shows its chain", await page.evaluate("document.querySelectorAll('#chain li').length") > 0);
}

/* A search says how much it marks; keys go into a frame and back to all. */
async function check_flames(page) {
	const kind = await page.evaluate("document.querySelector('[data-flame-search]')?.dataset.flameSearch");
	if (!kind)
		return;
	await page.evaluate(`(() => { const input = document.querySelector('[data-flame-search]'); input.value = flame_nodes(pictures.flames.${kind}).at(-1).name; input.dispatchEvent(new Event("input", { bubbles: true })); })()`);
	need("a search in a flame graph says how much it marks", /^marked: .* %$/.test(await page.evaluate(`document.getElementById("flame-${kind}").textContent`)));
	const told = () => page.evaluate(`document.getElementById("flame-${kind}").textContent`);
	await page.evaluate(`document.querySelector('[data-chart="flame-${kind}"]').focus()`);
	await page.key("ArrowDown");
	need("an arrow goes into the widest frame", (await told()).startsWith(await page.evaluate(`flame_nodes(pictures.flames.${kind})[0].children[0].name + ": "`)));
	for (let i = 0; i < 30; i++)
		await page.key(i % 6 === 5 ? "ArrowRight" : "ArrowDown");
	await page.key("Home");
	const texts = await left_over(page, `flame-${kind}`);
	need(`texts are left from when the flame graph showed less: ${texts}`, texts === "");
	need("Home shows all frames", (await told()).startsWith("all: "));
	const spot = await page.evaluate(`(() => { const place = document.querySelector('[data-chart="flame-${kind}"]'); place.scrollIntoView({ block: "start" }); scrollBy(0, -80);
		const box = place.getBoundingClientRect(), { y } = drawn.get(place).getModel().getComponent("grid").coordinateSystem.getRect(); return [box.left + 30, box.top + y + 1.5 * FLAME_ROW]; })()`);
	await page.click(...spot);
	need("a click goes into a frame", !/^(all: |marked: |$)/.test(await told()));
}

let figures = 0, charts = 0;
await look("wide", { width: 1400, height: 900 }, async page => {
	await page.evaluate("tables.forEach((table, id) => { table.all = true; redraw(id); })");
	figures = check_figures(await page.evaluate(FIGURES));
	charts = await check_charts(page);
	if (has_library)
		await check_pictures(page);
	await check_keys(page);
	if (!has_library)
		await check_bare(page);
	await check_timeline(page);
	await check_flames(page);
	if (pictures)
		await page.screenshot(`${pictures}/gap.png`);
});
await look("narrow", { width: 500, height: 900 }, check_print);
await look("dark", { width: 1400, height: 900, dark: true });
await look("plain", { width: 1400, height: 900, scripts: false });
await browser.close();
need("no figures", figures > 0);
problems.slice(0, 20).forEach(problem => console.log(`FAIL: ${problem}`));
console.log(`${figures} figures, ${charts} charts, ${problems.length} problems`);
process.exit(problems.length ? 1 : 0);
