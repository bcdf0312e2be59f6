// SPDX-License-Identifier: Apache-2.0
// begin.js - unpacks what the page carries and fills the page.

function about_html(report) {
	const { hostname, kernel, window, start_realtime_ns } = report.trace ?? {};
	return [hostname, kernel && `Linux ${kernel}`, window && `${time_text(window.duration_ns)} recorded`, start_realtime_ns && human("start_realtime_ns", Number(start_realtime_ns)).slice(0, 19)]
		.filter(Boolean).map(esc).join(" · ");
}

function fill(report) {
	const start = Number(report.trace?.start_ns ?? first_instant(report));
	left_out = report.left_out ?? {};
	const sections = sections_of(report).map(key => [key, section_html(key, report[key] ?? {}, start)]).filter(([, html]) => html);
	document.querySelector("nav").innerHTML = sections.map(([key]) => `<a href="#${esc(key)}">${esc(TITLES[key] ?? words(key))}</a>`).join("");
	document.getElementById("about").innerHTML = about_html(report);
	document.getElementById("sections").innerHTML = sections.map(([, html]) => html).join("");
	document.getElementById("plain").remove();
	for (const [key] of sections)
		for (const [name, , , , make, ready] of charts_of(key, report[key] ?? {}, start))
			chart(name, make, ready);
	document.getElementById("foot").innerHTML = `<p class="note">${have_charts() ? "Charts by Apache ECharts (Apache License 2.0)." :
		"This analyzer was built without ECharts: the page has tables only. ./setup fetches it."}</p>`;
}

/* Device files alone have no recording that began at an instant. */
function first_instant(report) {
	const known = (report.devices ?? []).flatMap(device => (device.streams ?? []).map(stream => Number(stream.first_start_ns))).filter(ns => ns >= 0);
	return known.length ? Math.min(...known) : 0;
}

async function begin() {
	const report = parse(await unpack("report"));
	const library = await unpack("library");
	if (library) {
		const script = document.createElement("script");
		script.textContent = library;
		document.head.append(script);
	}
	fill(report);
	listen_to_tables();
	listen_to_charts();
	document.documentElement.dataset.ready = "yes";
}

if (typeof document !== "undefined")
	begin().catch(error => {
		document.getElementById("foot").textContent = `This browser cannot show more than the tables above: ${error.message}`;
		document.documentElement.dataset.ready = "no";
	});
