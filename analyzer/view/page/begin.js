// SPDX-License-Identifier: Apache-2.0
// begin.js - unpacks what the page carries and fills the page.

function about_html(report) {
	const { hostname, kernel, window, start_realtime_ns } = report.trace ?? {};
	return [hostname, kernel && `Linux ${kernel}`, window?.duration_ns && `${time_text(window.duration_ns)} ${hostname || kernel ? "recorded" : "of device files"}`, start_realtime_ns && human("start_realtime_ns", Number(start_realtime_ns)).slice(0, 19)]
		.filter(Boolean).map(esc).join(" · ");
}

function fill(report) {
	const start = report.trace?.start_ns ?? pictures.timeline?.start_ns ?? 0;
	left_out = report.left_out ?? {};
	const sections = sections_of(report).map(key => [key, section_html(key, report[key] ?? {}, start, report)]).filter(([, html]) => html);
	document.querySelector("nav").innerHTML = sections.map(([key]) => `<a href="#${esc(key)}">${esc(TITLES[key] ?? words(key))}</a>`).join("");
	document.getElementById("about").innerHTML = about_html(report);
	document.getElementById("sections").innerHTML = sections.map(([, html]) => html).join("");
	document.getElementById("plain").remove();
	for (const [key] of sections)
		for (const [name, , , , make, ready] of charts_of(key, report[key] ?? {}, start))
			chart(name, make, ready);
	draw_over_time(report, start);
	draw_timeline(report, start);
	draw_flames();
	draw_pipelines(report.pipeline);
	document.getElementById("foot").innerHTML = `<p class="note">${have_charts() ? "Charts by Apache ECharts (Apache License 2.0)." :
		"This analyzer was built without ECharts: the page has tables only. ./setup fetches it."}</p>`;
}

/* The list of sections goes away once one is chosen, and with Escape. */
function listen_to_menu() {
	const menu = document.getElementById("menu");
	menu.querySelector("nav").addEventListener("click", () => { menu.open = false; });
	menu.addEventListener("keydown", event => {
		if (event.key === "Escape") {
			menu.open = false;
			menu.querySelector("summary").focus();
		}
	});
}

async function begin() {
	const report = parse(await unpack("report"));
	pictures = parse(await unpack("pictures"));
	const library = await unpack("library");
	if (library) {
		const script = document.createElement("script");
		script.textContent = library;
		document.head.append(script);
	}
	fill(report);
	listen_to_tables();
	listen_to_charts();
	listen_to_menu();
	document.documentElement.dataset.ready = "yes";
}

if (typeof document !== "undefined")
	begin().catch(error => {
		document.getElementById("foot").textContent = `This browser cannot show more than the tables above: ${error.message}`;
		document.documentElement.dataset.ready = "no";
	});
