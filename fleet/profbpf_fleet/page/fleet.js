// SPDX-License-Identifier: Apache-2.0
// fleet.js - draws the map of ranks and steps, again when the colours change.
"use strict";

const COLOURS = ["#4269d0", "#e0781f", "#3ca951", "#a463f2", "#d1495b", "#2a9d9d", "#9c6b4e", "#c9a227"];
const data = JSON.parse(document.getElementById("data").textContent);
const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
const esc = text => String(text).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

/* "7" or "7 to 9": the first of a field, and the one before the next field's. */
function range(firsts, i, last) {
	const end = i + 1 < firsts.length ? firsts[i + 1] - 1 : last;
	return end > firsts[i] ? `${firsts[i]} to ${end}` : `${firsts[i]}`;
}

function option() {
	const faint = dark() ? "#a3abb8" : "#545b66", axis = { axisLabel: { color: faint, hideOverlap: true }, nameTextStyle: { color: faint }, splitLine: { show: false } };
	const fields = data.values.flatMap((row, y) => row.map((ms, x) => [x, y, ms]).filter(point => point[2] !== null));
	return {
		backgroundColor: "transparent", animation: false, textStyle: { fontFamily: "system-ui, sans-serif" },
		grid: [{ left: 70, right: 30, top: 40, bottom: 110 }, { left: 70, right: 30, height: 18, bottom: 62 }],
		legend: { bottom: 0, data: data.holders, textStyle: { color: faint }, type: "scroll" },
		tooltip: { confine: true, formatter: p => p.seriesIndex === 0
			? `rank ${range(data.ranks, p.value[1], data.last_rank)}, step ${range(data.steps, p.value[0], data.last_step)}: ${p.value[2].toFixed(1)} ms`
			: `${esc(p.seriesName)}, step ${range(data.steps, p.value[0], data.last_step)}` },
		visualMap: { seriesIndex: 0, min: 0, max: data.most, calculable: true, orient: "horizontal", right: 30, top: 0, itemHeight: 160, itemWidth: 12, text: ["ms", ""], textStyle: { color: faint },
			formatter: v => Number(v).toFixed(0), inRange: { color: dark() ? ["#1c1f26", "#274a8f", "#c9a227", "#ff6b57"] : ["#f7f8fb", "#a9c1f2", "#e9b44c", "#b3202c"] } },
		xAxis: [{ type: "category", data: data.steps, ...axis, gridIndex: 0, axisLabel: { show: false } }, { type: "category", data: data.steps, name: "step", nameLocation: "middle", nameGap: 26, ...axis, gridIndex: 1 }],
		yAxis: [{ type: "category", data: data.ranks, name: "rank", inverse: true, ...axis, gridIndex: 0 }, { type: "category", data: ["held by"], ...axis, gridIndex: 1, axisTick: { show: false } }],
		series: [{ type: "heatmap", data: fields, progressive: 0, emphasis: { disabled: true } },
			...data.holders.map((name, i) => ({ type: "heatmap", name, xAxisIndex: 1, yAxisIndex: 1, data: data.held[i].map(x => [x, 0, 1]), itemStyle: { color: COLOURS[i % COLOURS.length] }, emphasis: { disabled: true } }))],
		aria: { enabled: true, decal: { show: false } },
	};
}

function draw() {
	const place = document.getElementById("map"), foot = document.getElementById("foot");
	if (typeof echarts === "undefined" || !data.steps.length) {
		place.textContent = data.steps.length ? "This package was built without ECharts: there are tables only. ./setup fetches it." : "There is nothing to draw.";
		place.style.height = "auto";
		return;
	}
	const chart = echarts.getInstanceByDom(place) ?? echarts.init(place, null, { renderer: "canvas" });
	chart.setOption(option(), true);
	foot.textContent = "Charts by Apache ECharts (Apache License 2.0).";
	new ResizeObserver(() => chart.resize()).observe(place);
}

draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
document.documentElement.dataset.ready = "yes";
