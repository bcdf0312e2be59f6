// SPDX-License-Identifier: Apache-2.0
// page.mjs - draws a report's page as a browser would, without one, and prints what it drew.
//
// usage: node page.mjs REPORT.html >DRAWN.html
//
// Fails if the page's script does, or if what it draws has a tag that it should not have.
import { readFileSync } from "node:fs";

const file = readFileSync(process.argv[2], "utf8");
const scripts = [...file.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
const data = scripts.find(script => script[1].includes("report"))[2];
const elements = {
	nav: { innerHTML: "" },
	main: { innerHTML: "" },
};
const listeners = {};
globalThis.document = {
	getElementById: () => ({ textContent: data }),
	querySelector: name => (elements[name] ??= { innerHTML: "" }),
	addEventListener: (kind, listener) => { listeners[kind] = listener; },
};
const run = new Function(scripts.find(script => !script[1])[2] + "\nreturn { tables };");
const { tables } = run();

// A search, and a click on a heading: the drawn rows are those asked for.
for (const [id, table] of tables.entries()) {
	const key = table.columns[0], before = table.rows.length;
	if (key === undefined)
		continue;
	listeners.click({ target: { dataset: { table: String(id), key } } });
	if (elements[`[data-body="${id}"]`].innerHTML.split("<tr>").length - 1 < Math.min(before, 500))
		throw new Error(`table ${id}: rows are missing after sorting`);
	listeners.input({ target: { dataset: { table: String(id) }, value: "no such text anywhere" } });
	if (elements[`[data-body="${id}"]`].innerHTML !== "")
		throw new Error(`table ${id}: a search for what is not there finds something`);
}
const drawn = elements.nav.innerHTML + "\n" + elements.main.innerHTML;
const known = new Set("a section h2 h3 h4 h5 h6 div table thead tbody tr th td input details summary figure figcaption svg g path circle line polyline text title span ul li br".split(" "));
for (const tag of drawn.matchAll(/<\/?([a-zA-Z0-9]+)/g))
	if (!known.has(tag[1]))
		throw new Error(`a tag that the page does not draw: ${tag[0]}`);
if (/NaN|undefined|Infinity/.test(drawn.replace(/title="[^"]*"/g, "")))
	throw new Error(`a figure that is none: ${/.{60}(NaN|undefined|Infinity).{20}/.exec(drawn)?.[0]}`);
console.log(drawn);
