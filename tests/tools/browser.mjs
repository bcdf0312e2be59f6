// SPDX-License-Identifier: Apache-2.0
// browser.mjs - a page in a real headless Chromium, driven through a pipe (DevTools protocol), without a network.
//
//	import { open_browser } from "./browser.mjs";
//	const browser = await open_browser();
//	const page = await browser.open_page("report.html", { width: 1400, height: 900 });
//	await page.evaluate("document.title");      // what an expression (or a promise) gives
//	await page.screenshot("first.png");
//	page.messages                                // what the console said: "error: ..."
//	await page.close();
//	await browser.close();
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

function start_browser(profile) {
	const child = spawn(process.env.CHROMIUM ?? "chromium", ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND",
		`--user-data-dir=${profile}`, "--remote-debugging-pipe", "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
	const waiting = new Map(), listeners = [];
	let number = 0, rest = "";
	child.on("exit", () => waiting.forEach(({ reject }) => reject(new Error("the browser ended"))));
	child.on("error", error => waiting.forEach(({ reject }) => reject(error)));
	child.stdio[4].setEncoding("utf8").on("data", text => {
		const parts = (rest + text).split("\0");
		rest = parts.pop();
		for (const message of parts.map(part => JSON.parse(part))) {
			const { resolve: done, reject } = waiting.get(message.id) ?? {};
			waiting.delete(message.id);
			if (message.error)
				reject?.(new Error(message.error.message));
			else if (done)
				done(message.result);
			else
				listeners.forEach(listener => listener(message));
		}
	});
	const send = (method, params = {}, sessionId = undefined) => new Promise((done, reject) => {
		waiting.set(++number, { resolve: done, reject });
		child.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId }) + "\0");
	});
	return { child, send, listeners };
}

const text_of = value => value.value ?? value.description ?? value.type;

export async function open_browser() {
	const profile = mkdtempSync(join(tmpdir(), "chromium-")), browser = start_browser(profile);
	return {
		open_page: (file, how) => open_page(browser, file, how),
		async close() {
			const ended = new Promise(done => browser.child.on("exit", done));
			await browser.send("Browser.close").catch(() => {});
			await ended;
			rmSync(profile, { recursive: true, force: true });
		},
	};
}

async function open_page({ send, listeners }, file, { width = 1400, height = 900, dark = false, scripts = true } = {}) {
	const { targetId } = await send("Target.createTarget", { url: "about:blank" });
	const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
	const ask = (method, params) => send(method, params, sessionId);
	const messages = [];
	let loaded;
	const whole = new Promise(done => { loaded = done; });
	listeners.push(({ method, params, sessionId: of }) => {
		if (of !== sessionId)
			return;
		if (method === "Runtime.consoleAPICalled")
			messages.push(`${params.type}: ${params.args.map(text_of).join(" ")}`);
		if (method === "Runtime.exceptionThrown")
			messages.push(`exception: ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`);
		if (method === "Log.entryAdded")
			messages.push(`${params.entry.level}: ${params.entry.text}`);
		if (method === "Network.requestWillBeSent" && !/^(file|data|blob):/.test(params.request.url))
			messages.push(`request: ${params.request.url}`);
		if (method === "Page.loadEventFired")
			loaded();
	});
	for (const domain of ["Page", "Runtime", "Log", "Network"])
		await ask(`${domain}.enable`);
	await ask("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
	await ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
	await ask("Emulation.setScriptExecutionDisabled", { value: !scripts });
	await ask("Page.navigate", { url: pathToFileURL(resolve(file)).href });
	await whole;
	const evaluate = async expression => {
		const { result, exceptionDetails } = await ask("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
		if (exceptionDetails)
			throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
		return result.value;
	};
	const wait_for = async (expression, seconds = 60) => {
		for (const end = Date.now() + 1000 * seconds; !await evaluate(expression);) {
			if (Date.now() > end)
				throw new Error(`after ${seconds} s still not: ${expression}`);
			await new Promise(done => setTimeout(done, 50));
		}
	};
	const key = async (name, code = name) => {
		for (const type of ["keyDown", "keyUp"])
			await ask("Input.dispatchKeyEvent", { type, key: name, code, ...(name === "Enter" ? { text: "\r", windowsVirtualKeyCode: 13 } : {}) });
	};
	const click = async (x, y) => {
		await ask("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
		for (const type of ["mousePressed", "mouseReleased"])
			await ask("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
	};
	return {
		messages, evaluate, wait_for, key, click, ask,
		async screenshot(path, clip = undefined) {
			writeFileSync(path, Buffer.from((await ask("Page.captureScreenshot", { format: "png", captureBeyondViewport: Boolean(clip), clip })).data, "base64"));
		},
		close: () => send("Target.closeTarget", { targetId }),
	};
}
