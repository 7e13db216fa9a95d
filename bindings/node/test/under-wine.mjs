// Runs the suite in Node for Windows, under Wine: `node test/under-wine.mjs`, called by `make
// test-windows`, which sets up Wine and builds the addon.
//
// The Node versions are npm packages, installed by `npm ci --os=win32 --cpu=x64` in
// test/runtimes/windows. Two files at a time, each in a process of its own whose output goes to a
// file: under Wine pipes may lose the end of it. Only the newest version runs, and not what takes
// long there and is no other than on Linux, unless SMALLFRY_SOAK is set. The last line is `N
// passed, N failed, N skipped`.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { add, none, numbersOf, sayWhatIsSkipped, sentence } from './report.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const runtimes = path.join(here, 'runtimes', 'windows');
const everything = process.env.SMALLFRY_SOAK !== undefined;
const versions = Object.keys(JSON.parse(fs.readFileSync(path.join(runtimes, 'package.json'), 'utf8')).optionalDependencies)
  .slice(everything ? 0 : -1);
const wine = process.env.WINE ?? 'wine64';

/** Test files that show nothing on Windows. */
const LEFT_OUT = {
  'cost.test.mjs': 'system calls and memory are counted by tools of Linux',
  'other-runtimes.test.mjs': 'Bun and Deno are not run under Wine',
};

/** Names of tests that take half of the time under Wine, and are not about Windows. */
const LONG = {
  'without addon': 'node:fs does the work',
  'thousands of files': 'fewer show what Windows does',
};

/** A file that takes longer hangs. In milliseconds. */
const TIMEOUT = (everything ? 24 : 12) * 60_000;

const flags = everything ? [] : Object.keys(LONG).map((name) => `--test-skip-pattern=${name}`);
const asked = process.argv.slice(2);
const files = fs.readdirSync(here).filter((name) => name.endsWith('.test.mjs') && !(name in LEFT_OUT)).sort()
  .filter((name) => asked.length === 0 || asked.includes(name));

/** Runs one file with one Node; answers its TAP. */
function run(version, file, directory) {
  return new Promise((resolve) => {
    const name = path.join(directory, `${version}-${file}`);
    const output = fs.openSync(`${name}.tap`, 'w');
    const node = path.join(runtimes, 'node_modules', version, 'bin', 'node.exe');
    // Each file call takes Wine many times as long, so a few combinations are drawn only.
    const env = { SMALLFRY_TEST_CASES: everything ? '60' : '20', ...process.env };
    delete env.NODE_OPTIONS;
    delete env.NODE_TEST_CONTEXT;
    const child = spawn(wine, [node, '--test-reporter=tap', ...flags, path.join('test', file)], {
      cwd: path.dirname(here), env, stdio: ['ignore', output, output], timeout: TIMEOUT, killSignal: 'SIGKILL',
    });
    const end = (code) => {
      fs.closeSync(output);
      resolve({ code, output: fs.readFileSync(`${name}.tap`, 'utf8') });
    };
    child.on('error', () => end(1));
    child.on('close', (code, signal) => end(code ?? signal));
  });
}

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'smallfry-wine-'));
const totals = new Map(versions.map((version) => [version, none()]));
const waiting = versions.flatMap((version) => files.map((file) => ({ version, file })));

async function runWhatWaits() {
  for (let next; (next = waiting.shift());) {
    const { version, file } = next;
    const began = Date.now();
    const { code, output } = await run(version, file, directory);
    const numbers = numbersOf(output, code);
    add(totals.get(version), numbers);
    if (numbers.failed > 0) console.log(`${version}, ${file}: ended with ${code}\n${output}`);
    sayWhatIsSkipped(output);
    console.log(`${version}, ${file}: ${sentence(numbers)}, ${Math.round((Date.now() - began) / 1000)} s`);
  }
}

await Promise.all([runWhatWaits(), runWhatWaits()]);
fs.rmSync(directory, { recursive: true });

const total = none();
for (const [version, numbers] of totals) {
  add(total, numbers);
  console.log(`${version} for Windows: ${sentence(numbers)}`);
}
for (const [what, why] of Object.entries({ ...LEFT_OUT, ...(everything ? {} : LONG) })) console.log(`left out: ${what} (${why})`);
console.log(sentence(total));
process.exitCode = total.failed > 0 ? 1 : 0;
