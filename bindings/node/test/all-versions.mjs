// Runs the suite on each Node version that the package supports: `node test/all-versions.mjs`.
//
// The versions are npm packages that carry the binaries, installed by `npm ci` in test/runtimes.
// Without them the suite runs on this Node alone, which is an error where CI is true.
//
// Only the newest version runs. With SMALLFRY_TEST_ALL the oldest runs all files, too, and those in
// between run the files that depend on the version. With SMALLFRY_SOAK each version runs all files.
// The last line is `N passed, N failed, N skipped`.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { add, none, numbersOf, sayWhatIsSkipped, sentence } from './report.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const runtimes = path.join(here, 'runtimes');
const wanted = Object.keys(JSON.parse(fs.readFileSync(path.join(runtimes, 'package.json'), 'utf8')).optionalDependencies)
  .filter((name) => name.startsWith('node'));
const strict = process.env.CI === 'true';

/** The executable of one package, if it is there and runs here. */
const executable = (name) => path.join(runtimes, 'node_modules', name, 'bin', 'node');

const found = wanted.filter((name) => fs.existsSync(executable(name)));
const missing = wanted.filter((name) => !found.includes(name));
const commands = found.map((name) => ({ name, command: executable(name) }));
if (missing.length > 0) {
  console.log(`${missing.join(', ')} not installed (npm ci in ${path.relative(process.cwd(), runtimes) || '.'} does it)${strict ? '' : found.length === 0 ? ': only this Node is tested' : ''}`);
  if (found.length === 0) commands.push({ name: 'this Node', command: process.execPath });
}

const files = fs.readdirSync(here).filter((name) => name.endsWith('.test.mjs')).sort();

/** Test files that depend on the version: on V8's strings, on module loaders, on node:fs itself. */
const BETWEEN = [
  'copy-tree.test.mjs', 'counting.test.mjs', 'differential.test.mjs', 'durability.test.mjs', 'entry-points.test.mjs', 'guarantees.test.mjs',
  'metadata.test.mjs', 'readdir-recursive.test.mjs', 'special-files.test.mjs', 'step-aside.test.mjs', 'transcoding.test.mjs', 'trees.test.mjs',
];

const { SMALLFRY_TEST_ALL, SMALLFRY_SOAK } = process.env;
// The oldest and the newest run all files, and each version does in a soak.
for (const between of commands.slice(1, -1)) between.files = SMALLFRY_SOAK === undefined ? BETWEEN : files;
if (SMALLFRY_TEST_ALL === undefined && SMALLFRY_SOAK === undefined) commands.splice(0, commands.length - 1);

/** The output of the running tests so far. It is printed if they hang and are stopped. */
let output = '';
process.once('SIGTERM', () => {
  console.log(output);
  process.exit(1);
});

/** Runs these files with one Node; answers what they said. */
function run(command, own) {
  return new Promise((resolve) => {
    const env = { ...process.env };
    delete env.NODE_OPTIONS;
    delete env.NODE_TEST_CONTEXT;
    // One file at a time: tests that count threads, memory or system calls want the machine to
    // themselves.
    const tests = own.map((name) => path.join('test', name));
    const child = spawn(command, ['--test', '--test-concurrency=1', '--test-reporter=tap', ...tests, ...process.argv.slice(2)], {
      cwd: path.dirname(here), env, stdio: ['ignore', 'pipe', 'inherit'],
    });
    output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', (error) => resolve({ code: 1, output: String(error) }));
    child.on('close', (code, signal) => resolve({ code: code ?? signal, output }));
  });
}

const total = none();
let failed = strict && missing.length > 0;

for (const { name, command, files: own = files } of commands) {
  const { code, output } = await run(command, own);
  const numbers = numbersOf(output, code);
  add(total, numbers);
  failed ||= code !== 0;
  if (code !== 0) console.log(output);
  sayWhatIsSkipped(output);
  console.log(`${name}: ${sentence(numbers)}`);
}

if (strict && missing.length > 0) total.failed += 1;
console.log(sentence(total));
process.exitCode = failed ? 1 : 0;
