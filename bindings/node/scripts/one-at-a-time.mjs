// Measures single awaited calls, node:fs's and smallfry's in turn, in one process. Prints µs a
// call, medians of 9 turns. Usage: node scripts/one-at-a-time.mjs [DIRECTORY [BYTES]]

import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';

const smallfry = createRequire(import.meta.url)('../dist/index.js');
const directory = fs.mkdtempSync(path.join(process.argv[2] ?? os.tmpdir(), 'smallfry-'));
const size = Number(process.argv[3] ?? 10_000);
// As many files as have 10 MB together.
const count = Math.max(1, Math.round(10_000_000 / size));
const names = Array.from({ length: count }, (_, index) => path.join(directory, `${index}.js`));
for (const name of names) fs.writeFileSync(name, Buffer.alloc(size, 'const x = 12345;\n'));

const CALLS = {
  'promises.readFile': (api, name) => api.promises.readFile(name),
  'promises.readFile, utf8': (api, name) => api.promises.readFile(name, 'utf8'),
  'promises.readFile, missing': (api, name) => api.promises.readFile(`${name}.not`).catch(() => undefined),
  'promises.writeFile': (api) => api.promises.writeFile(path.join(directory, 'written'), 'hello'),
  'readFile with a callback': (api, name) => new Promise((resolve) => { api.readFile(name, resolve); }),
};

const times = new Map();
for (let turn = 0; turn < 9; turn += 1) {
  for (const [call, make] of Object.entries(CALLS)) {
    for (const [who, api] of turn % 2 === 0 ? [['node:fs', fs], ['smallfry', smallfry]] : [['smallfry', smallfry], ['node:fs', fs]]) {
      const start = performance.now();
      for (const name of names) await make(api, name);
      const key = `${call} ${who}`;
      times.set(key, [...(times.get(key) ?? []), performance.now() - start]);
    }
  }
}
fs.rmSync(directory, { recursive: true });
const median = (key) => times.get(key).sort((a, b) => a - b)[4];
for (const call of Object.keys(CALLS)) {
  const [node, ours] = ['node:fs', 'smallfry'].map((who) => median(`${call} ${who}`) * 1000 / count);
  console.log(`${process.version}  ${call.padEnd(28)} ${node.toFixed(1)} / ${ours.toFixed(1)} µs, ${(node / ours).toFixed(2)}x`);
}
