// SPDX-License-Identifier: Apache-2.0
// diff_browser.mjs - looks at the page of a comparison in a real browser, as its readers do.
//
// usage: node diff_browser.mjs DIFF.html DIFF.json [SCREENSHOTS]
//
// Fails where the page breaks a promise: the first screen, each figure that of the JSON, nothing wider than 500 pixels,
// search, sort and CSV, an empty console, no request, what a reader without scripts gets.
import { readFileSync } from "node:fs";
import { open_browser } from "./browser.mjs";

const [file, json_file, pictures] = process.argv.slice(2);
const diff = JSON.parse(readFileSync(json_file, "utf8"));
const problems = [];
const browser = await open_browser();
const need = (what, holds) => { if (!holds) problems.push(what); };
let figures = 0;

async function check_figures(page) {
	const at = path => path.split(".").reduce((value, key) => value?.[key], diff);
	for (const [path, value] of await page.evaluate(`[...document.querySelectorAll("[data-key]")].map(e => [e.dataset.key, e.dataset.value])`)) {
		const told = at(path);
		need(`${path} is ${value} on the page, ${told} in the JSON`, typeof told === "number" ? Number(value) === told : value === String(told));
		figures++;
	}
	need("each change is in a table of its kind", await page.evaluate(`document.querySelectorAll("section.kind tbody tr").length`) === diff.changes.length);
}

const shown = page => page.evaluate(`[...document.querySelectorAll("section.kind tbody tr")].filter(row => row.getClientRects().length).length`);

async function check_tables(page) {
	await page.evaluate(`document.getElementById("only").click()`);
	need("only what is beyond its noise", await shown(page) === diff.significant);
	await page.evaluate(`document.getElementById("only").click(); (() => { const find = document.getElementById("find"); find.value = ${JSON.stringify(diff.changes[0].name)};
		find.dispatchEvent(new Event("input", { bubbles: true })); })()`);
	const found = await shown(page);
	need("a search finds its words alone", found > 0 && found <= diff.changes.filter(row => row.name.includes(diff.changes[0].name)).length);
	await page.evaluate(`(() => { const find = document.getElementById("find"); find.value = ""; find.dispatchEvent(new Event("input", { bubbles: true })); })()`);
	await page.evaluate(`document.querySelectorAll("section.kind th button")[1].focus()`);
	await page.key("Enter");
	need("Enter on a heading sorts", await page.evaluate(`document.querySelectorAll("section.kind th")[1].getAttribute("aria-sort")`) === "descending");
	const values = await page.evaluate(`[...document.querySelector("section.kind tbody").rows].map(row => Number(row.cells[1].querySelector("[data-value]").dataset.value))`);
	need("the largest comes first", values.every((value, i) => !i || value <= values[i - 1]));
	const csv = await page.evaluate(`csv_of(document.querySelector("section.kind table"))`);
	need("a table as CSV has all its rows", csv.trim().split("\n").length === values.length + 1);
}

async function look(name, size, more = async () => {}) {
	const page = await browser.open_page(file, size);
	if (size.scripts !== false)
		await page.wait_for("document.documentElement.dataset.ready");
	if (pictures)
		await page.screenshot(`${pictures}/${name}.png`);
	const { left, top, right, bottom } = await page.evaluate(`(({ left, top, right, bottom }) => ({ left, top, right, bottom }))(document.getElementById("verdict").getBoundingClientRect())`);
	need(`${name}: the verdict is not wholly in the first screen`, left >= 0 && top >= 0 && right <= size.width && bottom <= size.height);
	need(`${name}: the verdict's state`, await page.evaluate(`document.getElementById("verdict").dataset.state`) === diff.verdict.state);
	need(`${name}: wider than the window`, await page.evaluate("document.documentElement.scrollWidth") <= size.width);
	await more(page);
	for (const message of page.messages)
		need(`${name}: the console: ${message}`, false);
	await page.close();
}

await look("wide", { width: 1400, height: 900 }, async page => {
	await check_figures(page);
	await check_tables(page);
});
await look("narrow", { width: 500, height: 900 });
await look("dark", { width: 1400, height: 900, dark: true });
await look("plain", { width: 1400, height: 900, scripts: false }, check_figures);
await browser.close();
need("no figures", figures > 0);
problems.slice(0, 20).forEach(problem => console.log(`FAIL: ${problem}`));
console.log(`${figures} figures, ${problems.length} problems`);
process.exit(problems.length ? 1 : 0);
