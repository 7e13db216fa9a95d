// Measures recursive `readdir`, node:fs's and smallfry's in turn, in one process: a tree, in ms,
// and a directory with one file, in µs a call. Prints rows of a table: medians of 11 turns with one
// call and of 41 turns with 200 calls, and the middle half of their ratios.
// Usage: node scripts/listings.mjs DIRECTORY

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { performance } from 'node:perf_hooks';

const smallfry = createRequire(import.meta.url)('../dist/fs.js');
const own = { ...fs, promises: { ...fs.promises } };
const tree = process.argv[2];
const tiny = fs.mkdtempSync(path.join(tree, '../smallfry-'));
fs.writeFileSync(path.join(tiny, 'file'), '');

const FORMS = {
  promise: (api, directory, options) => api.promises.readdir(directory, options),
  callback: (api, directory, options) =>
    new Promise((resolve, reject) => { api.readdir(directory, options, (error, names) => (error ? reject(error) : resolve(names))); }),
  sync: (api, directory, options) => api.readdirSync(directory, options),
};

const quantile = (numbers, part) => numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) * part)];

async function measure(form, directory, options, [turns, calls]) {
  const times = { own: [], smallfry: [] };
  // The first turn compiles what is called.
  for (let turn = -1; turn < turns; turn += 1) {
    const sides = [['own', own], ['smallfry', smallfry]];
    for (const [side, api] of turn % 2 === 0 ? sides : sides.reverse()) {
      const start = performance.now();
      for (let call = 0; call < calls; call += 1) {
        const result = form(api, directory, options);
        if (result instanceof Promise) await result;
      }
      if (turn >= 0) times[side].push((performance.now() - start) / calls);
    }
  }
  const ratios = times.own.map((time, turn) => time / times.smallfry[turn]);
  const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => quantile(ratios, part).toFixed(2));
  return { node: quantile(times.own, 0.5), ours: quantile(times.smallfry, 0.5), gain: `${middle}x (${low}-${high})` };
}

for (const [name, form] of Object.entries(FORMS)) {
  for (const withFileTypes of [false, true]) {
    const options = { recursive: true, withFileTypes };
    const all = await measure(form, tree, options, [11, 1]);
    const one = await measure(form, tiny, options, [41, 200]);
    const cells = [
      process.versions.node.split('.')[0], withFileTypes ? `${name}, types` : name, all.node.toFixed(0), all.ours.toFixed(0), all.gain,
      (one.node * 1000).toFixed(1), (one.ours * 1000).toFixed(1), one.gain,
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}
fs.rmSync(tiny, { recursive: true });
