// SPDX-License-Identifier: Apache-2.0
// values.js - figures as people read them, and names as words. page_text.c does the same for the first screen.
"use strict";

const esc = text => String(text).replace(/[&<>"']/g, c => "&#" + c.charCodeAt(0) + ";");
const is_map = value => value !== null && typeof value === "object" && !Array.isArray(value);
const is_rows = value => Array.isArray(value) && value.length > 0 && value.every(is_map);
const is_nested = value => is_map(value) || Array.isArray(value);

/* ---- Numbers: units are in the names, as the report promises. */

function thousands(digits) {
	const [, sign, whole, rest] = /^(-?)(\d+)(.*)$/.exec(digits) ?? [null, "", digits, ""];
	return sign + whole.replace(/\B(?=(\d{3})+$)/g, ",") + rest;
}

/* Up to four digits that count. */
function scaled(value, unit) {
	const size = Math.abs(value);
	return thousands(value.toFixed(size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3)) + unit;
}

function time_text(ns) {
	const size = Math.abs(ns);
	if (size < 1e3)
		return `${ns.toFixed(0)} ns`;
	if (size < 1e6)
		return scaled(ns / 1e3, " µs");
	return size < 1e9 ? scaled(ns / 1e6, " ms") : scaled(ns / 1e9, " s");
}

function si(value, unit, factors) {
	let i = 0;
	for (; Math.abs(value) >= 1e3 && i + 1 < factors.length; i++)
		value /= 1e3;
	return i === 0 ? `${Number.isInteger(value) ? value : value.toFixed(1)} ${unit}`.trim() : scaled(value, ` ${factors[i]}${unit}`);
}

const bytes_text = bytes => si(bytes, "B", ["", "k", "M", "G", "T", "P"]);

const INSTANTS = /^(start_ns|first_start_ns|last_end_ns|peak_ns|host_start_ns|fp_start_ns|fp_end_ns|end_ns|first_ns|last_ns)$/;
/* Words of a program: what they stand for is told by the words alone. */
const CODES = /^(share_of|why|unit|method|kind|state|clock|lack)$/;
/* Numbers that name something are not counted. */
const NAMES = /^(pid|parent_pid|tid|id|index|cpu|device|rank|stream|correlation|line|ppid|step)$|_(id|pid|tid)$|handle/;

/* Units of figures whose row says what they measure. */
const RULE_UNITS = { work: "_ns", computation: "_ns", gap: "_ns", flops: "_per_second", bandwidth: "_bytes_per_second", receive: "_percent", collective: "_percent" };
const unit_key = (path, key, row) => /^cluster\.findings\./.test(path) && /^(value|mean|threshold)$/.test(key) ? key + (RULE_UNITS[row.rule] ?? "") : code_key(path, key);

/* What stands for the words of a program where readers would not know them: how steps are known, why a chain of waits ends. */
const CODE_WORDS = {
	steps_source: { marker: "marks, or calls that begin a step", inferred: "what repeats in the work", repetition: "what repeats, maybe layers" },
	root_end: { found: "its cause is known", circle: "it leads back to itself", depth: "it is too long", untraced: "its thread was not traced", no_waker: "who ended the sleep is not known",
		no_record: "nothing was recorded then", interrupt: "an interrupt of unknown purpose", stopped: "stopped by a signal or a debugger",
		unseen_work: "its task waited for long, probably for work that the file does not have, or it waited for the host" },
};
const code_key = (path, key) => path.startsWith("steps") && key === "source" ? "steps_source" : /^(idle|waits)\.roots\./.test(path) && key === "end" ? "root_end" : key;

/* A value of the report under its name; @start: the recording's. */
function human(key, value, start) {
	if (value === undefined)
		return "";
	if (value === null)
		return "unknown";
	if (typeof value === "boolean")
		return value ? "yes" : "no";
	if (Array.isArray(value))
		return value.join(", ");
	if (key === "cause")
		return cause_text(value);
	if (CODE_WORDS[key])
		return CODE_WORDS[key][value] ?? value;
	if (key === "of" && CHOSEN[value])
		return CHOSEN[value];
	if (key === "start_realtime_ns")
		return new Date(Number(value) / 1e6).toISOString().replace("T", " ").replace("Z", " UTC");
	if (CODES.test(key) && typeof value === "string")
		return value.replaceAll("_", " ");
	if (typeof value === "string" && INSTANTS.test(key) && /^\d+$/.test(value))
		return `${thousands((since(value, start) / 1e9).toFixed(6))} s`;
	if (typeof value !== "number")
		return String(value);
	if (INSTANTS.test(key))
		return `${thousands((since(value, start) / 1e9).toFixed(6))} s`;
	if (key.endsWith("_ns") || key === "ns")
		return time_text(value);
	if (key.endsWith("percent"))
		return `${value.toFixed(1)} %`;
	if (key.endsWith("bytes"))
		return bytes_text(value);
	if (key.endsWith("bytes_per_second"))
		return `${bytes_text(value)}/s`;
	if (key.endsWith("_per_second"))
		return `${si(value, "", ["", "k", "M", "G"])}/s`;
	if (NAMES.test(key))
		return String(value);
	return Number.isInteger(value) ? thousands(String(value)) : scaled(value, "");
}

/* ---- Words */

const TITLES = {
	trace: "The recording", capture: "Capture and losses", host: "Host", processes: "Processes", cgroups: "Control groups",
	pipeline: "Data pipeline", steps: "Steps", waits: "What was waited for", api: "Runtime calls", api_totals: "Runtime calls by process",
	launched: "What was launched", api_statistics: "Statistics of runtime calls", ioctl: "Calls of drivers", block_io: "Block devices",
	major_faults: "Page faults that read", devices: "Devices", join: "How calls and tasks were matched", operators: "Operators",
	operator_types: "Types of operators", operator_cores: "Operators by what ran them", operator_shapes: "Operators by shape",
	overlap: "Computation and communication", communication: "Communication", idle: "Idle time of devices", cluster: "Ranks",
	memory: "Memory", stacks: "Stacks", advice: "Advice", python: "Python", flames: "Flame graphs", timeline: "Timeline",
};
const ACRONYMS = { cpu: "CPU", cpus: "CPUs", io: "I/O", irq: "interrupts", softirq: "soft interrupts", iowait: "waiting for I/O", pid: "process",
	tid: "thread", id: "ID", api: "API", gil: "interpreter lock", ns: "time", ppb: "ppb", fp: "forward", bp: "backward", mhz: "MHz", op: "operator",
	steal: "taken by the hypervisor", ppid: "parent process", cmdline: "command line", p50: "median", p90: "90th percentile", p99: "99th percentile", min: "shortest", max: "longest", percent: "share" };

/* Names that say less than they should where they stand alone. */
const WHOLE = { rows: "Each of them", gil_holder_ns: "Held up by that thread", rate_hz: "Rate, Hz", variance_us2: "Variance, µs²", start_realtime_ns: "Began at", min_duration_ns: "Shortest duration kept" };

function words(key) {
	if (WHOLE[key])
		return WHOLE[key];
	const text = key.replace(/_ns$/, "").replace(/(.)_percent$/, "$1").replace(/_per_second$/, " per second").split(/[_ ]+/)
		.map(word => ACRONYMS[word] ?? word).join(" ");
	return text.charAt(0).toUpperCase() + text.slice(1);
}

/* Names that mean something else, or need more words, in one part of the report: [beginning of the path, words]. */
const PLACE_WORDS = [
	["waits", { of: "Threads chosen", share_of: "Shares are of", window_ns: "Time looked at", total_ns: "Waiting", gaps_total: "Waits", gaps: "Waits", run_ns: "On a CPU", run: "What they did on a CPU" }],
	["stacks.functions.", { self: "Self, samples", total: "Total, samples" }],
	["stacks.blocking.", { total_ns: "Time asleep", count: "Sleeps" }],
	["stacks", { blocking: "Where threads slept", blocks: "Sleeps", blocked_ns: "Time asleep", samples_unknown: "Without a stack", samples_whole: "With all callers", samples_with_gil: "With the interpreter’s lock", samples_without_gil: "Without that lock" }],
	["steps.devices.", { source: "Kind of evidence", known_from: "Known from" }],
	["steps", { rows: "Each step", source: "Known from", known_from: "Evidence", confidence_percent: "Confidence", data_wait_percent: "Waiting for data" }],
	["cluster.ranks.", { told: "From a summary file", work_percent: "Work, share of the mean" }],
	["cluster.stages.", { work_percent: "Work, share of the mean" }],
	["trace.probes", { subtracted: "Subtracted from durations", total_ns: "Time of the callers", inside_ns: "In the call’s own duration", whole_ns: "In the time of the caller" }],
	["api.", { open: "Not ended", inner: "Inside another call" }],
	["waits.roots.", { end: "Why the chain ends" }],
	["idle.roots.", { end: "Why the chain ends" }],
	["capture.damage", { torn_tail: "Ends within a batch", bad_rows: "Damaged rows", unknown_values: "Values of a later version", unknown_batches: "Batches of a later version" }],
	["capture", { not_covered: "Calls that were made but not seen, if any", no_launches: "Runtimes without a launching call" }],
];

const words_of = (path, key) => PLACE_WORDS.find(([place, names]) => path.startsWith(place) && names[key])?.[1][key] ?? words(key);

const FRAMES_SHOWN = 6;

/* A place in the code as the text report words it: the innermost frames of the program, or of the kernel; files stand for what has no name. */
function place_text(frames) {
	const name = frame => frame.name === "[unknown]" && frame.file ? `[${frame.file.replace(/.*\//, "")}]` : frame.name;
	const own = frames.findIndex(frame => frame.kind !== "kernel"), names = frames.slice(Math.max(own, 0)).map(name);
	const shown = names.filter((text, i) => !text.startsWith("[") || text !== names[i - 1]);
	return shown.slice(0, FRAMES_SHOWN).join(" < ") + (shown.length > FRAMES_SHOWN ? " < …" : "");
}

/* A device where its number says which one is meant: those of one number differ in their rank. */
const device_text = row => `${row.device}${Number.isInteger(row.rank) ? ` (rank ${row.rank})` : ""}`;

/* Names of which no two are the same: of several, each says which of them it is. */
function distinct(names) {
	const seen = new Map(), count = name => names.filter(other => other === name).length;
	return names.map(name => {
		seen.set(name, (seen.get(name) ?? 0) + 1);
		return count(name) < 2 ? name : `${name}, ${seen.get(name)} of ${count(name)}`;
	});
}

/* Names of rows that may be of several devices: each with its device then. */
function names_by_device(rows, name) {
	const several = new Set(rows.map(device_text)).size > 1;
	return distinct(rows.map(row => several ? `${name(row)}, ${Number.isInteger(row.rank) ? `rank ${row.rank}` : `device ${row.device}`}` : name(row)));
}

/* Whose steps those of a row of steps.devices are. */
const steps_group = (rows, i) => pictures.timeline?.steps?.[i] ?? distinct(rows.map(row => `Device ${device_text(row)}`))[i];

/* What a row of the report is called where others refer to it. */
function row_name(row, i) {
	if (row.framework !== undefined)
		return `${row.framework}${row.id === undefined ? "" : ` ${row.id}`}`;
	return row.name ?? row.who ?? (row.frames?.length ? place_text(row.frames) : row.id ?? row.pid ?? (row.device === undefined ? i : device_text(row)));
}

/* Why these threads were chosen to stand for the devices. */
const CHOSEN = { launches: "they submit work to devices", fetches: "they fetch batches", main: "main threads", busiest: "the busiest ones", asked: "as asked for" };

/* What the page carries besides the report: page_data.h. */
let pictures = {};

/* A cause of idle time in the analyzer's words. */
const cause_text = cause => pictures.causes?.[cause] ?? cause;

/* One root of idle time in a line. */
function root_text(root) {
	return [root.who, root.where, root.object].filter(Boolean).join(", ") + (root.who || root.where ? ": " : "") + cause_text(root.cause);
}

/* ---- What the page carries */

/* Numbers that are too large for a double are text. */
const since = (value, start) => typeof value === "string" || typeof start === "string" ? Number(BigInt(value) - BigInt(start)) : value - start;

async function unpack(id) {
	const text = document.getElementById(id)?.textContent.trim();
	if (!text)
		return "";
	const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
	return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/* Numbers beyond 2^53, such as handles, stay as they are written where the browser can tell. */
function parse(text) {
	return JSON.parse(text, (key, value, context) =>
		typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value) && context?.source ? context.source : value);
}
