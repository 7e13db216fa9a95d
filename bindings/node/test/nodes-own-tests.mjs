// Runs Node's own tests of node:fs with smallfry and without it, and lists each test whose result
// differs: `node test/nodes-own-tests.mjs SOURCE NODE`.
//
// SOURCE is a directory with the source of Node, NODE a binary of the same version. The source is
// no part of this package. The exit code is 1 if a result differs.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [source, node] = process.argv.slice(2);
if (source === undefined || node === undefined || !fs.existsSync(path.join(source, 'test/parallel'))) {
  console.error('usage: node test/nodes-own-tests.mjs SOURCE NODE, where SOURCE/test/parallel has the tests of that Node');
  process.exit(2);
}

const register = fileURLToPath(new URL('../dist/register.js', import.meta.url));
const WORKERS = Math.min(4, os.availableParallelism());
const TIMEOUT_MS = 120_000;

const files = ['parallel', 'sequential', 'es-module'].flatMap((name) => {
  const directory = path.join(source, 'test', name);
  if (!fs.existsSync(directory)) return [];
  return fs.readdirSync(directory).filter((file) => /-fs-.*\.m?js$/.test(file)).map((file) => path.join(directory, file));
});

/** Runs one test in an empty directory. Returns its exit code or signal, and its output. */
async function run(file, flags) {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'nodes-own-'));
  const own = (/^\/\/ Flags:(.*)$/m.exec(fs.readFileSync(file, 'utf8'))?.[1] ?? '').trim().split(/\s+/).filter(Boolean);
  const child = spawn(node, [...own, ...flags, path.relative(source, file)], {
    cwd: source, env: { ...process.env, NODE_TEST_DIR: temporary }, timeout: TIMEOUT_MS, stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => { output += data; });
  const end = await new Promise((resolve) => { child.on('close', (code, signal) => { resolve(code ?? signal); }); });
  fs.rmSync(temporary, { recursive: true, force: true });
  return { end, output };
}

const counts = { pass: 0, fail: 0 };
const differing = [];
const waiting = [...files];
await Promise.all(Array.from({ length: WORKERS }, async () => {
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    const alone = await run(file, []);
    const both = await run(file, ['--require', register]);
    counts[alone.end === 0 ? 'pass' : 'fail'] += 1;
    if (alone.end !== both.end) differing.push(`${path.relative(source, file)}: ${alone.end} without smallfry, ${both.end} with it\n${both.output}`);
  }
}));

for (const text of differing.sort()) console.log(text);
console.log(`${files.length} tests; without smallfry ${counts.pass} pass and ${counts.fail} fail; ${differing.length} end otherwise with it`);
process.exitCode = differing.length === 0 ? 0 : 1;
