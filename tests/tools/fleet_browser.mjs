// SPDX-License-Identifier: Apache-2.0
// fleet_browser.mjs - looks at the page of profbpf-fleet in a real browser.
//
// usage: node fleet_browser.mjs PAGE.html REPORT.json
//
// Fails where it is wider than the window, its sentence is not the report's, the map is not drawn or has other fields than
// ranks and steps, or the console says anything.
import { readFileSync } from "node:fs";
import { open_browser } from "./browser.mjs";

const [file, json_file] = process.argv.slice(2);
const report = JSON.parse(readFileSync(json_file, "utf8"));
const problems = [];
const browser = await open_browser();
const need = (what, holds) => { if (!holds) problems.push(what); };

for (const size of [{ width: 1280, height: 900 }, { width: 500, height: 900 }]) {
	const page = await browser.open_page(file, size);
	await page.wait_for("document.documentElement.dataset.ready");
	need("the sentence", await page.evaluate("document.querySelector('#verdict h2').textContent") === report.verdict.sentence);
	need(`${size.width}: wider than the window`, await page.evaluate("document.documentElement.scrollWidth") <= size.width);
	need("rows of holders", await page.evaluate("document.querySelector('tbody').rows.length") === report.holders.length);
	const series = await page.evaluate("echarts.getInstanceByDom(document.getElementById('map')).getOption().series.map(s => s.data.length)");
	need(`fields: ${series[0]}`, series[0] === report.ranks * report.steps);
	need(`steps of holders: ${series.slice(1)}`, JSON.stringify(series.slice(1)) === JSON.stringify(report.holders.map(holder => holder.steps)));
	need("the map is empty", await page.evaluate("document.querySelector('#map canvas').width > 0"));
	for (const message of page.messages)
		need(`the console: ${message}`, false);
	await page.close();
}
await browser.close();
if (problems.length) {
	console.log(problems.join("\n"));
	process.exit(1);
}
console.log(`${report.ranks} ranks, ${report.steps} steps, ${report.holders.length} holders drawn`);
