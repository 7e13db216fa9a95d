// Reads the same 10,000 files of 10 kB again and again in one process, and prints the highest
// resident memory (VmHWM) in MiB above that at the start, after some of the rounds. Linux only.
// Usage: node scripts/resident.mjs readFiles|Promise.all|node:fs utf8|buffer [ROUNDS [DIRECTORY]]

import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const [how, encoding, rounds = '1000', parent = os.tmpdir()] = process.argv.slice(2);
const smallfry = createRequire(import.meta.url)('../dist/index.js');
const directory = fs.mkdtempSync(path.join(parent, 'smallfry-'));
const names = Array.from({ length: 10_000 }, (_, index) => path.join(directory, String(index)));
for (const name of names) fs.writeFileSync(name, Buffer.alloc(10_000, 'const x = 12345;\n'));

const options = encoding === 'utf8' ? 'utf8' : null;
const each = (api) => () => Promise.all(names.map((name) => api.promises.readFile(name, options)));
const READS = { readFiles: () => smallfry.readFiles(names, options), 'Promise.all': each(smallfry), 'node:fs': each(fs) };
const read = READS[how];

const highest = () => Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
try {
  const start = highest();
  for (let round = 1; round <= Number(rounds); round += 1) {
    await read();
    if ([10, 100].includes(round) || round % 200 === 0) console.log(round, Math.round(highest() - start));
  }
} finally {
  fs.rmSync(directory, { recursive: true });
}
