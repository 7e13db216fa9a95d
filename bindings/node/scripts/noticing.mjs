// Measures how long it takes to notice that a program has replaced no function of node:fs, which
// precedes each native call. Usage: node scripts/noticing.mjs
//
// The checks are not public, so the bundle is compiled here once more with one line at its end. A
// loop calls each of them, and an empty function: the least of 15 rounds of a million calls.

import fs from 'node:fs';
import Module, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const CHECKS = [
  'mayRead', 'mayReadSync', 'mayWrite', 'mayWriteSync', 'mayAppend', 'mayAppendSync', 'mayResolve', 'mayList', 'mayRemove', 'mayRemoveSync',
  'mayCopy', 'mayCopySync',
];

createRequire(import.meta.url)('../dist/register.js');
const file = fileURLToPath(new URL('../dist/core.js', import.meta.url));
const bundle = new Module(file);
bundle.filename = file;
bundle._compile(`${fs.readFileSync(file, 'utf8')}\nmodule.exports.checks = { ${CHECKS.join()} };`, file);
const { checks } = bundle.exports;

/** Nanoseconds a call. The loop is compiled for one function only. */
function measure(check) {
  const loop = new Function('check', `
    let least = Infinity;
    for (let round = 0; round < 15; round += 1) {
      const start = process.hrtime.bigint();
      for (let index = 0; index < 1e6; index += 1) check(true, false);
      least = Math.min(least, Number(process.hrtime.bigint() - start) / 1e6);
    }
    return least;`);
  return loop(check).toFixed(1);
}

console.log(`${process.version}, ns a call`);
for (const name of CHECKS) console.log(`  ${name}: ${measure(checks[name])}, empty function ${measure(() => true)}`);
