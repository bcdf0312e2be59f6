// SPDX-License-Identifier: Apache-2.0
// tables.js - tables of rows of the report: searched, sorted, written as CSV. Each cell says where in the report it is.

const ROWS_SHOWN = 20; // at first; a button shows the others
const LONG = /^(symbol|file)$/; // columns that stand last: figures are not pushed out of the window
const LETTERS_SHOWN = 160; // of a long text, as a command line: a click shows all of it
const tables = [];

/* Columns in the order of the report's rows: one that the first rows lack stands behind the one that it follows in a later row. */
function columns_of(rows) {
	const columns = [];
	for (const row of rows) {
		let at = 0;
		for (const [key, value] of Object.entries(row)) {
			if (is_map(value) || (Array.isArray(value) && (!value.length || value.some(is_nested))))
				continue;
			const known = columns.indexOf(key);
			if (known < 0)
				columns.splice(at, 0, key);
			at = (known < 0 ? at : known) + 1;
		}
	}
	return [...columns.filter(key => !LONG.test(key)), ...columns.filter(key => LONG.test(key))];
}

function compare(a, b) {
	if (a === undefined || b === undefined)
		return (a === undefined) - (b === undefined);
	if (typeof a === "number" && typeof b === "number")
		return b - a;
	return String(a).localeCompare(String(b), undefined, { numeric: true });
}

/* Indices into table.rows, as they are shown. */
function chosen_rows(table) {
	let order = [...table.rows.keys()];
	if (table.search)
		order = order.filter(i => table.columns.some(key => String(table.rows[i][key] ?? "").toLowerCase().includes(table.search)));
	if (table.sort !== undefined)
		order.sort((a, b) => (table.up ? -1 : 1) * compare(table.rows[a][table.sort], table.rows[b][table.sort]));
	return order;
}

function cell_html(table, i, key) {
	const value = table.rows[i][key];
	if (value === undefined || (Array.isArray(value) && !value.length))
		return "<td></td>";
	const number = typeof value === "number" ? ' class="n"' : "";
	if (key === table.label)
		return `<td>${esc(value)}</td>`;
	if (value === null)
		return "<td>unknown</td>";
	const plain = Array.isArray(value) ? JSON.stringify(value) : String(value);
	return `<td${LONG.test(key) ? ' class="long"' : number} data-key="${esc(`${table.paths[i]}.${key}`)}" data-value="${esc(plain)}">${cell_text_html(human(unit_key(table.paths[i], key, table.rows[i]), value, table.start))}</td>`;
}

/* A text that would fill the window, or pages on paper, is folded. */
function cell_text_html(text) {
	return text.length <= LETTERS_SHOWN * 1.5 ? esc(text) : `<details><summary>${esc(text.slice(0, LETTERS_SHOWN))} …</summary>${esc(text.slice(LETTERS_SHOWN))}</details>`;
}

function table_body(table) {
	const order = chosen_rows(table), shown = table.all ? order : order.slice(0, ROWS_SHOWN);
	return shown.map(i => `<tr>${table.columns.map(key => cell_html(table, i, key)).join("")}</tr>`).join("");
}

function table_more(table, id) {
	const count = chosen_rows(table).length, rest = table.all ? 0 : Math.max(0, count - ROWS_SHOWN);
	return (rest ? `<button type="button" data-more="${id}">Show ${thousands(String(rest))} more rows</button> ` : "") +
		(table.left_out ? `<span class="note">${thousands(String(table.left_out))} further rows are in the JSON report only</span>` : "");
}

/* The headings of a table's columns. Of two columns that would have the same, each says what it is: a share, a time, a size, a number. */
function headings_of(table) {
	const place = table.paths[0] ?? "", plain = table.columns.map(key => key === table.label ? key : (place.startsWith("steps.") && STEP_WORDS[key]) || words_of(place, key));
	const kind = key => /percent$/.test(key) ? "share" : /(^|_)ns$/.test(key) ? "time" : /bytes$/.test(key) ? "bytes" : table.rows.some(row => typeof row[key] === "string") ? "name" : "number";
	return plain.map((text, i) => plain.indexOf(text) === plain.lastIndexOf(text) ? text : `${text}, ${kind(table.columns[i])}`);
}

function heading_html(table, key, id, text) {
	const sorted = table.sort === key ? (table.up ? "ascending" : "descending") : "none";
	const is_number = key !== table.label && table.rows.some(row => typeof row[key] === "number");
	return `<th scope="col"${is_number ? ' class="n"' : ""} aria-sort="${sorted}"><button type="button" data-table="${id}" data-sort="${esc(key)}">${esc(text)}</button></th>`;
}

/*
 * Rows as a table. @paths: of each row in the report, or the path of the list that they are; @options: caption,
 * label (a column that is not of the report).
 */
function table_html(rows, paths, start, options = {}) {
	const table = { rows, paths: Array.isArray(paths) ? paths : rows.map((_, i) => `${paths}.${i}`), columns: columns_of(rows), start,
		label: options.label, name: options.caption ?? "table", left_out: options.left_out };
	if (!table.columns.length)
		return "";
	const id = tables.push(table) - 1, name = esc(table.name), headings = headings_of(table);
	const search = rows.length > 10 ? `<input type="search" data-table="${id}" aria-label="Search ${name}" placeholder="Search ${thousands(String(rows.length))} rows">` : "";
	return `<div class="tools">${search}<button type="button" data-csv="${id}" aria-label="${name} as CSV">CSV</button></div>
<div class="table" tabindex="0" role="region" aria-label="${name}"><table><caption class="hidden">${name}</caption><thead><tr>${
	table.columns.map((key, i) => heading_html(table, key, id, headings[i])).join("")}</tr></thead><tbody data-body="${id}">${table_body(table)}</tbody></table></div>
<p class="more" data-rest="${id}">${table_more(table, id)}</p><p class="paper note" data-off="${id}"></p>`;
}

/* A map's own figures as a list. */
function figures_html(map, path, start, leave_out = []) {
	const flat = Object.entries(map).filter(([key, value]) => !leave_out.includes(key) && value !== null &&
		(!is_nested(value) || (Array.isArray(value) && value.length && !value.some(is_nested))));
	return flat.length ? `<dl class="figures">${flat.map(([key, value]) => `<div${String(value).length > 60 ? ' class="long"' : ""}><dt>${esc(words_of(path, key))}</dt><dd data-key="${esc(`${path}.${key}`)}" data-value="${
		esc(Array.isArray(value) ? JSON.stringify(value) : value)}">${esc(human(code_key(`${path}.`, key), value, start))}</dd></div>`).join("")}</dl>` : "";
}

function csv_of(table) {
	const quoted = value => {
		const text = value === undefined || value === null ? "" : Array.isArray(value) ? value.join(" ") : String(value);
		return /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
	};
	return [table.columns, ...chosen_rows(table).map(i => table.columns.map(key => table.rows[i][key]))].map(row => row.map(quoted).join(",")).join("\n") + "\n";
}

function save(name, text) {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
	link.download = `${name.replace(/[^\w.-]+/g, "-").toLowerCase()}.csv`;
	link.click();
	URL.revokeObjectURL(link.href);
}

function redraw(id) {
	const table = tables[id], body = document.querySelector(`[data-body="${id}"]`);
	body.innerHTML = table_body(table);
	document.querySelector(`[data-rest="${id}"]`).innerHTML = table_more(table, id);
	for (const button of body.parentElement.querySelectorAll("[data-sort]"))
		button.parentElement.setAttribute("aria-sort", button.dataset.sort === table.sort ? (table.up ? "ascending" : "descending") : "none");
}

/*
 * On paper nothing can be moved: of a table that is too wide the last columns are left out, and it says so. They are measured as wide
 * as the narrower of the usual papers is: before printing, the page still has the window's width.
 */
function fit_tables() {
	const html = document.documentElement;
	document.querySelectorAll(".off-paper").forEach(cell => cell.classList.remove("off-paper"));
	html.classList.add("on-paper");
	const edge = document.body.getBoundingClientRect().right, bodies = [...document.querySelectorAll("[data-body]")];
	const fit = bodies.map(body => [...body.parentElement.querySelectorAll("th")].filter((head, i) => i === 0 || head.getBoundingClientRect().right <= edge).length);
	html.classList.remove("on-paper");
	bodies.forEach((body, at) => {
		const left_off = headings_of(tables[body.dataset.body]).slice(fit[at]);
		if (left_off.length)
			for (const row of body.parentElement.rows)
				[...row.cells].slice(fit[at]).forEach(cell => cell.classList.add("off-paper"));
		document.querySelector(`[data-off="${body.dataset.body}"]`).textContent = left_off.length ? `Not on paper: ${left_off.join("; ")}.` : "";
	});
}

function listen_to_tables() {
	document.addEventListener("click", event => {
		const { sort, table, more, csv } = event.target.dataset ?? {};
		if (csv !== undefined)
			save(tables[csv].name, csv_of(tables[csv]));
		if (more !== undefined) {
			tables[more].all = true;
			redraw(more);
		}
		if (sort === undefined)
			return;
		tables[table].up = tables[table].sort === sort && !tables[table].up;
		tables[table].sort = sort;
		redraw(table);
	});
	document.addEventListener("input", event => {
		const id = event.target.dataset?.table;
		if (id === undefined)
			return;
		tables[id].search = event.target.value.toLowerCase();
		redraw(id);
	});
}
