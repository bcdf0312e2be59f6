// SPDX-License-Identifier: Apache-2.0
// page.mjs - draws a report's page without a browser, and prints what it drew.
//
// usage: node page.mjs REPORT.html REPORT.json >DRAWN.html
//
// Fails if the page's script does, if what it draws has a tag that it should not have, or if a figure is not that of
// the JSON report.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const file = readFileSync(process.argv[2], "utf8"), json = JSON.parse(readFileSync(process.argv[3], "utf8"));
const scripts = [...file.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
const report = JSON.parse(gunzipSync(Buffer.from(scripts.find(script => script[1].includes('id="report"'))[2], "base64")));
const given = JSON.parse(gunzipSync(Buffer.from(scripts.find(script => script[1].includes('id="pictures"'))[2], "base64")));
const page = new Function("given", scripts.find(script => !script[1])[2] + `
	globalThis.echarts = {};
	pictures = given;
	return { rows_of, tables, about_html, headings_of, place_text, pipeline_name, sections_of, section_html, table_body, timeline_parts, legend_html, lasting_rows, label_lines, counter_charts, table_html, columns_of, flame_nodes, flame_next, flame_colour, share_text, human, words, set_left_out: rows => { left_out = rows; } };`)(given);

page.set_left_out(report.left_out);
const first = /<div id="first">[\s\S]*<div id="plain">[\s\S]*?<\/div>\n<noscript>/.exec(file)[0].replace("<noscript>", "");
const drawn = page.sections_of(report).map(key => page.section_html(key, report[key] ?? {}, report.trace?.start_ns ?? given.timeline?.start_ns ?? 0, report)).join("\n");

// A search, and a click on a heading: the drawn rows are those asked for.
let all = "";
for (const [id, table] of page.tables.entries()) {
	table.all = true;
	table.sort = table.columns[0];
	const body = page.table_body(table);
	if (body.split("<tr>").length - 1 !== table.rows.length)
		throw new Error(`table ${id}: rows are missing after sorting`);
	all += body + "\n";
	table.search = "no such text anywhere";
	if (page.table_body(table) !== "")
		throw new Error(`table ${id}: a search for what is not there finds something`);
}

// What is drawn and how it is worded, where a figure alone does not tell.
const must = (what, holds) => { if (!holds) throw new Error(what); };
const parts = page.timeline_parts(report, report.trace?.start_ns ?? given.timeline?.start_ns ?? 0), legend = page.legend_html(parts);
for (const [kind, word] of [["call", "Call"], ["task", "Task"]])
	for (const [, , name, colour] of parts.tracks.filter(track => track.kind === kind).flatMap(track => track.items))
		must(`the legend does not tell the colour of ${kind} ${name}`, [name.replace(/, and others$/, ""), "any other"].some(told =>
			legend.includes(`background:${colour}"></i>${word}: ${told.replace(/[&<>"']/g, c => `&#${c.charCodeAt(0)};`)}<`)));
must("a slice that lasts for a century: clocks of devices are added up as text", parts.tracks.every(track => track.items.every(([from, to]) => from <= to && to < 3.2e9)));
must("the timeline has no room for its rows", /style="height:(\d+)px"/.exec(page.section_html("timeline", {}, report.trace?.start_ns ?? given.timeline?.start_ns ?? 0, report))?.[1] >= 22 * page.rows_of(parts.tracks).length || !parts.tracks.length);
must("two charts of one name", new Set([...drawn.matchAll(/<figcaption>([^<]*)</g)].map(caption => caption[1])).size === [...drawn.matchAll(/<figcaption>/g)].length);
const stages = parts.lines.filter(line => /stage/.test(line.title)).flatMap(line => line.series);
must("the legend does not tell each stage", stages.every(stage => legend.includes(`Stage: ${stage.name}`)));
const matrix = (...lasted) => ({ columns: ["start_ns", "duration_ns"], rows: lasted.map((ns, i) => [i * 1000, ns]) });
must("a row that hardly lasted is drawn", page.lasting_rows(matrix(1000, 1000, 3)).length === 2 && page.lasting_rows(matrix(3, 3)).length === 2 && page.lasting_rows(matrix(0)).length === 0);
must("a label is broken where no word ends", page.label_lines("clang of process 7408: ready to run, but without a CPU").join("|") === "clang of process 7408: ready|to run, but without a CPU");
must("a label loses letters", page.label_lines("torch::autograd::profiler::record_function_exit_new").join("") === "torch::autograd::profiler::record_function_exit_new");
must("a name of line breaks has no line", page.label_lines("\n".repeat(40)).join("|") === "" && page.label_lines("a\n".repeat(40)).join(" ") === "a ".repeat(40).trim());
const lines_of = (...counters) => page.counter_charts(counters, 0).map(([, title, , , make]) => make({ axis: {} }).series.map(line => [line.name, ...line.data.flat()].join(" ")).join("|"));
const pressure = { name: "pressure_cpu_some", unit: "ns_total", samples: [[0, 7e9], [1e9, 7.5e9], [2e9, 7.75e9], [2000001000, 7.75e9]] };
must("pressure is the share of the time between two readings", lines_of(pressure).join() === "CPU some 0.5 50 1.5 25");
must("a counter that stayed 0 is drawn", lines_of({ ...pressure, samples: [[0, 5], [1e9, 5], [2e9, 5]] }).length === 0 && lines_of({ ...pressure, samples: [[0, 5]] }).length === 0);
const clock = (cpu, ...hz) => ({ name: "frequency", cpu, unit: "hz", samples: hz.map((value, i) => [i * 1e9, value]) });
must("CPUs' frequencies as mean, lowest and highest", lines_of(clock(0, 1e9, 2e9), clock(1, 3e9, 2e9)).join() ===
	"Frequency, mean of the CPUs 0 2000000000 1 2000000000|Frequency, lowest of the CPUs 0 1000000000 1 2000000000|Frequency, highest of the CPUs 0 3000000000 1 2000000000");
must("parts of a step have the same words in the table as in the chart", ["Waiting for data", "Rest of the step"].every(text =>
	page.table_html([{ index: 0, data_wait_ns: 1, host_ns: 2 }], "steps.rows", 0).includes(`>${text}<`)) && page.table_html([{ host_ns: 2 }], "operators", 0).includes(">Host<"));
page.tables.length = 0;
must("two lines of an axis of shares say the same", [0, 0.05, 0.1, 0.15, 0.2, 0.25].map(page.share_text).join() === "0 %,0.050 %,0.10 %,0.15 %,0.20 %,0.25 %" && [2.5, 5, 9.96, 12.5, 100].map(page.share_text).join() === "2.5 %,5 %,10.0 %,13 %,100 %");
must("columns of functions have different headings", new Set(page.table_html([{ self_percent: 1, self: 2, total: 3, total_percent: 4 }], "stacks.functions", 0).match(/>[^<]*<.button><.th>/g)).size === 4);
page.tables.length = 0;
must("a column that the first row lacks is not where later rows have it", page.columns_of([{ file: 0, cause: 1, ns: 2 }, { file: 0, cause: 1, who: 3, where: 4, ns: 2, gaps: 5 }]).join() === "cause,who,where,ns,gaps,file");
const flame = page.flame_nodes({ nodes: [-1, 0, 9, 0, 0, 5, 0, 1, 4, 1, 2, 3], names: ["python", "worker", "step (train.py:19)"] });
must("keys lead to other frames of a flame graph", ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowRight", "ArrowLeft", "ArrowUp", "ArrowUp", "Home"].reduce(([at, names], key) => {
	const next = page.flame_next(flame, at, key);
	return [next, [...names, next.name]];
}, [flame[0], []])[1].join() === "python,step (train.py:19),step (train.py:19),python,worker,worker,python,all,all,all" && page.flame_next(flame, flame[0], "x") === undefined);
must("kinds of frames have the same colours", new Set(["step (train.py:19)", "<module> (train.py)", "f (<frozen posixpath>:82)"].map(name => page.flame_colour(name)[0] >= 190)).size === 1 &&
	page.flame_colour("std::function<void (int)>::operator()")[0] < 60 && page.flame_colour("[libc.so.6]")[1] < 10);
must("names of figures", page.words("bad_rows") === "Bad rows" && page.words("rows") === "Each of them" && page.human("parent_pid", 6141, 0) === "6141" && page.human("gil_holder_tid", 11981, 0) === "11981" &&
	page.human("start_realtime_ns", "1795731022004993968", 0).startsWith("2026-11-26 22:10:22") && page.human("why", "not_called", 0) === "not called");

must("the head of the page", !/NaN|undefined/.test(page.about_html(report)));
for (const table of page.tables)
	must(`two columns of ${table.name} have the same heading: ${page.headings_of(table).join("; ")}`, new Set(page.headings_of(table)).size === table.columns.length);
const drawn_table = (rows, path) => { const html = page.table_html(rows, path, 0); page.tables.pop(); return html; };
const findings = drawn_table([{ rule: "work", value: 45e6, mean: 23625e3 }, { rule: "receive", value: 50, threshold: 10 }, { rule: "flops", value: 1e10 }], "cluster.findings");
must("findings about ranks have units", ["45.00 ms", "23.63 ms", "50.0 %", "10.0 %", "10.00 G/s"].every(text => findings.includes(`>${text}<`)));
must("a long text is folded, and whole", /<details><summary>a{160} …<.summary>a{240}<.details>/.test(drawn_table([{ cmdline: "a".repeat(400) }], "processes")));
must("a place in the code", page.place_text([{ name: "futex_wait", kind: "kernel" }, { name: "[unknown]", file: "/usr/lib/libc.so.6" }, { name: "[unknown]", file: "/usr/lib/libc.so.6" }, { name: "take" }, { name: "main" }]) === "[libc.so.6] < take < main" &&
	page.place_text([{ name: "futex_wait", kind: "kernel" }, { name: "do_futex", kind: "kernel" }]) === "futex_wait < do_futex" && page.place_text([..."abcdefgh"].map(name => ({ name }))) === "a < b < c < d < e < f < …");
const slept = page.section_html("stacks", { blocking: [{ total_ns: 5, count: 1, pid: 7, frames: [{ name: "take" }, { name: "main" }] }] }, 0);
must("a sleep says where", /<td>take &#60; main<.td>/.test(slept) && />Time asleep</.test(slept));
const chains = (...lengths) => page.section_html("waits", { run: lengths.map(length => ({ who: "python 1", ns: 5, chain: Array(length).fill({ who: "python 1", ns: 5 }) })) }, 0);
must("a chain of one thread is not told again", !/>Chain/.test(chains(1, 1)) && />Chain \(3\)/.test(chains(1, 2)));
const pair = [{ framework: "torch", id: 0 }, { framework: "torch", id: 1 }];
must("each of several pipelines has a name of its own", page.pipeline_name(pair[1], pair) === "torch 1" && page.pipeline_name(pair[0], [pair[0]]) === "torch");
const titles = parts.lines.map(line => line.title);
must(`lines with the same title: ${titles.join("; ")}`, new Set(titles).size === titles.length);
page.tables.length = 0;

const known = new Set("a i output section h2 h3 h4 h5 h6 div table caption thead tbody tr th td input button details summary figure figcaption span small ul ol li br p dl dt dd".split(" "));
for (const tag of (first + drawn + all).matchAll(/<\/?([a-zA-Z0-9]+)/g))
	if (!known.has(tag[1]))
		throw new Error(`a tag that the page does not draw: ${tag[0]}`);
const wrong = />[^<]*(NaN|undefined|Infinity)[^<]*</.exec(drawn.replace(/<td[^>]* data-key[^>]*>(<details><summary>[^<]*<.summary>)?[^<]*/g, ""));
if (wrong)
	throw new Error(`a figure that is none: ${wrong[0]}`);

const text = value => value.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
const at = path => path.split(".").reduce((value, key) => value?.[key], json);
let figures = 0;
for (const [, path, value] of (first + drawn + all).matchAll(/data-key="([^"]*)" data-value="([^"]*)"/g)) {
	const told = at(text(path)), here = text(value);
	const same = typeof told === "number" ? Number(here) === told : Array.isArray(told) ? here === JSON.stringify(told) : here === String(told);
	if (told === undefined || !same)
		throw new Error(`${text(path)} is ${here} on the page, ${told} in the report`);
	figures++;
}
if (!figures)
	throw new Error("the page has no figures");
console.error(`${figures} figures, each that of the report`);
console.log(first, drawn);
