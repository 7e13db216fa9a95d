// Runs the suite in Node for Windows, under Wine: `node test/under-wine.mjs`, called by `make test-windows`, which sets up
// Wine and builds the addon.
//
// The Node versions are npm packages, installed by `npm ci --os=win32 --cpu=x64` in test/runtimes/windows. They run side by
// side, each file in a process of its own whose output goes to a file: under Wine pipes may lose the end of it. The last
// line is `N passed, N failed, N skipped`.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { add, none, numbersOf, sayWhatIsSkipped, sentence } from './report.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const runtimes = path.join(here, 'runtimes', 'windows');
const versions = Object.keys(JSON.parse(fs.readFileSync(path.join(runtimes, 'package.json'), 'utf8')).optionalDependencies);
const wine = process.env.WINE ?? 'wine64';

/** What has nothing to show on Windows. */
const LEFT_OUT = {
  'cost.test.mjs': 'system calls and memory are counted by tools of Linux',
  'other-runtimes.test.mjs': 'Bun and Deno are not run under Wine',
};

/** A file that takes longer hangs. In milliseconds. */
const LONGEST = 12 * 60_000;

const asked = process.argv.slice(2);
const files = fs.readdirSync(here).filter((name) => name.endsWith('.test.mjs') && !(name in LEFT_OUT)).sort()
  .filter((name) => asked.length === 0 || asked.includes(name));

/** Runs one file with one Node; answers its TAP. */
function run(version, file, folder) {
  return new Promise((resolve) => {
    const name = path.join(folder, `${version}-${file}`);
    const output = fs.openSync(`${name}.tap`, 'w');
    const node = path.join(runtimes, 'node_modules', version, 'bin', 'node.exe');
    // Each file call takes Wine many times as long, so a few combinations are drawn only.
    const env = { SMALLFRY_TEST_CASES: '60', ...process.env };
    delete env.NODE_OPTIONS;
    delete env.NODE_TEST_CONTEXT;
    const child = spawn(wine, [node, '--test-reporter=tap', path.join('test', file)], {
      cwd: path.dirname(here), env, stdio: ['ignore', output, output], timeout: LONGEST, killSignal: 'SIGKILL',
    });
    const end = (code) => {
      fs.closeSync(output);
      resolve({ code, output: fs.readFileSync(`${name}.tap`, 'utf8') });
    };
    child.on('error', () => end(1));
    child.on('close', (code, signal) => end(code ?? signal));
  });
}

async function runAll(version, folder) {
  const total = none();
  const reports = [];
  for (const file of files) {
    const began = Date.now();
    const { code, output } = await run(version, file, folder);
    const numbers = numbersOf(output, code);
    add(total, numbers);
    reports.push({ version, file, code, output, numbers, seconds: Math.round((Date.now() - began) / 1000) });
  }
  return { version, total, reports };
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'smallfry-wine-'));
const results = await Promise.all(versions.map((version) => runAll(version, folder)));
fs.rmSync(folder, { recursive: true });

const total = none();
for (const { version, total: numbers, reports } of results) {
  for (const { file, code, output, numbers: own, seconds } of reports) {
    if (own.failed > 0) console.log(`${version}, ${file}: ended with ${code}\n${output}`);
    sayWhatIsSkipped(output);
    console.log(`${version}, ${file}: ${sentence(own)}, ${seconds} s`);
  }
  add(total, numbers);
  console.log(`${version} for Windows: ${sentence(numbers)}`);
}
for (const [file, why] of Object.entries(LEFT_OUT)) console.log(`left out: ${file} (${why})`);
console.log(sentence(total));
process.exitCode = total.failed > 0 ? 1 : 0;
