// SPDX-License-Identifier: Apache-2.0
// diff.js - what can be done with the tables of a comparison: search, sort, CSV.
"use strict";

const raw = cell => cell.querySelector("[data-value]")?.dataset.value ?? cell.textContent.trim();

/* A section of which nothing is left is not there. */
function choose() {
	const words = document.getElementById("find").value.toLowerCase(), only = document.getElementById("only").checked;
	for (const section of document.querySelectorAll("section.kind")) {
		const rows = [...section.querySelectorAll("tbody tr")];
		for (const row of rows)
			row.hidden = (only && !row.classList.contains("beyond")) || !row.textContent.toLowerCase().includes(words);
		section.hidden = rows.every(row => row.hidden);
	}
}

function sort(heading) {
	const up = heading.getAttribute("aria-sort") === "descending", table = heading.closest("table"), column = heading.cellIndex;
	const order = (a, b) => {
		const [x, y] = [a, b].map(row => raw(row.cells[column])), numbers = !isNaN(x) && !isNaN(y) && x !== "" && y !== "";
		return (up ? -1 : 1) * (numbers ? y - x : x.localeCompare(y, undefined, { numeric: true }));
	};
	for (const other of table.querySelectorAll("th"))
		other.setAttribute("aria-sort", other === heading ? (up ? "ascending" : "descending") : "none");
	table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
}

/* Pictures have no text. */
function csv_of(table) {
	const quoted = text => /[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
	const columns = [...table.tHead.rows[0].cells].map((cell, i) => [i, cell]).filter(([, cell]) => !cell.classList.contains("parts"));
	return [columns.map(([, cell]) => cell.textContent.trim()), ...[...table.tBodies[0].rows].map(row => columns.map(([i]) => raw(row.cells[i])))]
		.map(row => row.map(quoted).join(",")).join("\n") + "\n";
}

function save(name, text) {
	const link = document.createElement("a");
	link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
	link.download = `${name.replace(/[^\w.-]+/g, "-").toLowerCase()}.csv`;
	link.click();
	URL.revokeObjectURL(link.href);
}

document.getElementById("find").addEventListener("input", choose);
document.getElementById("only").addEventListener("change", choose);
document.addEventListener("click", event => {
	const button = event.target.closest("button");
	if (button?.dataset.csv !== undefined)
		save(button.dataset.csv, csv_of(button.closest("section").querySelector("table")));
	else if (button?.closest("th"))
		sort(button.closest("th"));
});
document.documentElement.dataset.ready = "yes";
