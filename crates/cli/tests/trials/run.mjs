// Runs `smallfry try` with programs that people use: on generated projects (`projects.mjs`) and on
// the files of real packages (`programs/`, a file for each).
//
//   node run.mjs [--size PART] [--runs N] [--node PATH]... [--only NAME]...
//                [--smallfry PATH] [--in DIR] [--results FILE]
//
// --size     share of the full input (20,000 files for what walks, copies or removes a tree; 250 to
//            3,470 for the rest). The default is 1; 0.05 is enough to check that all trials pass
// --runs     pairs of runs. The default is that of `smallfry try`
// --node     Node.js binaries. The default is Node 20, 24 and 26, as far as they are installed
// --only     names of programs. The default is all of them
// --in       directory for the input, which is removed at the end. The default is the system's
//            temporary directory
// --results  file to which a line of JSON is added for each trial
//
// A trial passes if `smallfry try` reports that the program succeeds, and does the same with and
// without smallfry. It is skipped, by its name, if this machine lacks the Node.js or the program;
// with CI=true that is a failure. The last line is `N passed, N failed, N skipped`.
//
// To add a program, name its package in package.json and add a file to `programs/`. The file exports
//
//   make(directory, input)  makes the project of the program in `directory`, from `input` (input.mjs)
//   command                 the program from node_modules/.bin (or node) and its arguments
//   prepare                 the shell command before each run, if there is one
//   outputs                 the files and directories that it writes, if it writes any
//   allowFailure            true if it ends with a status other than 0, as linters do
//
// Two runs of it without smallfry should write the same. Where they cannot, its file says why.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { Input, PACKAGES, program } from './input.mjs';
import { PROJECTS } from './projects.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, '../../../..');
const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '1' },
    runs: { type: 'string' },
    node: { type: 'string', multiple: true },
    only: { type: 'string', multiple: true },
    smallfry: { type: 'string', default: path.join(process.env.CARGO_TARGET_DIR ?? path.join(root, 'target'), 'release/smallfry') },
    in: { type: 'string', default: os.tmpdir() },
    results: { type: 'string' },
  },
});

/** Returns all trials by their names. */
async function trials() {
  const files = fs.readdirSync(path.join(here, 'programs')).sort();
  const programs = await Promise.all(files.map(async (file) => {
    const { default: one } = await import(`./programs/${file}`);
    return [path.basename(file, '.mjs'), one];
  }));
  return { ...PROJECTS, ...Object.fromEntries(programs) };
}

/** Returns the versions of Node that are measured, or this one if they are not installed. */
function nodes() {
  const installed = ['node20', 'node24', 'node26']
    .map((name) => path.join(root, 'bindings/node/test/runtimes/node_modules', name, 'bin/node'))
    .filter((node) => fs.existsSync(node));
  return installed.length > 0 ? installed : [process.execPath];
}

/** Returns the version of this Node.js, or undefined if it does not start. */
function version(node) {
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Makes the project of a trial, unless an earlier Node.js left it. */
function make(name, { make }) {
  const project = path.join(directory, name);
  if (!fs.existsSync(project)) {
    fs.mkdirSync(project);
    make(project, input);
    fs.symlinkSync(PACKAGES, path.join(project, 'node_modules'));
  }
  return project;
}

/** Runs `smallfry try`, and returns its results if the program did the same on both sides. */
function attempt(name, trial, node) {
  const { command: [tool, ...rest], prepare, outputs = [], allowFailure } = trial;
  const project = make(name, trial);
  const results = path.join(directory, 'results.json');
  const { status } = spawnSync(values.smallfry, [
    'try', '--json', results,
    ...(values.runs === undefined ? [] : ['--runs', values.runs]),
    ...(prepare === undefined ? [] : ['--prepare', prepare]),
    ...(allowFailure ? ['--allow-failure'] : []),
    ...outputs.flatMap((output) => ['--outputs', output]),
    '--', tool === 'node' ? tool : program(tool), ...rest,
  ], {
    cwd: project,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` },
  });
  if (status !== 0) return undefined;
  const answer = JSON.parse(fs.readFileSync(results, 'utf8'));
  return answer.counts !== null && (answer.files > 0 || outputs.length === 0) ? answer : undefined;
}

const all = await trials();
const names = values.only ?? Object.keys(all);
for (const name of names) {
  if (!(name in all)) throw new Error(`there is no program ${name}; there are ${Object.keys(all).join(', ')}`);
}
const directory = fs.mkdtempSync(path.join(values.in, 'smallfry-trials-'));
const input = new Input(Number(values.size), directory);
const failed = [];
const skipped = [];
let passed = 0;
try {
  for (const node of (values.node ?? nodes()).map((node) => path.resolve(node))) {
    const found = version(node);
    for (const name of names) {
      const [tool] = all[name].command;
      const title = `${name} on Node ${found ?? node}`;
      if (found === undefined) {
        skipped.push(`${title}: there is no such Node.js`);
      } else if (tool !== 'node' && !fs.existsSync(program(tool))) {
        skipped.push(`${title}: the program is not installed`);
      } else {
        console.log(`\n== ${title}`);
        const answer = attempt(name, all[name], node);
        if (answer === undefined) failed.push(title);
        else passed += 1;
        if (values.results !== undefined) fs.appendFileSync(values.results, `${JSON.stringify({ name, node: found, answer })}\n`);
      }
    }
  }
} finally {
  fs.rmSync(directory, { recursive: true, force: true });
}
for (const which of skipped) console.log(`skipped: ${which}`);
for (const which of failed) console.log(`FAILED: ${which}`);
console.log(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
process.exitCode = failed.length > 0 || (skipped.length > 0 && process.env.CI === 'true') ? 1 : 0;
