// Runs `smallfry try` with programs that people use: tsc, eslint, prettier, vite and Eleventy, each
// on a generated project.
//
//   node run.mjs [--size PART] [--runs N] [--node PATH]... [--only NAME]...
//                [--smallfry PATH] [--in DIR]
//
// --size   share of the full projects (1,000 to 2,000 files). The default is 1; 0.05 is enough to
//          check that all trials pass
// --runs   pairs of runs. The default is that of `smallfry try`
// --node   Node.js binaries. The default is the oldest and the newest that the package is tested on
// --in     directory for the projects, which are removed at the end. The default is the system's
//          temporary directory
//
// A trial passes if `smallfry try` reports that the program succeeds, and does the same with and
// without smallfry. The last line is `N passed, N failed, N skipped`.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

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
  },
});

/**
 * Returns the oldest and the newest Node that the package's own tests run on, or this one if they
 * are not installed.
 */
function nodes() {
  const installed = ['node20', 'node26']
    .map((name) => path.join(root, 'bindings/node/test/runtimes/node_modules', name, 'bin/node'))
    .filter((node) => fs.existsSync(node));
  return installed.length > 0 ? installed : [process.execPath];
}

function run(name, node, directory) {
  const { files, make, command, prepare, outputs } = PROJECTS[name];
  const project = path.join(directory, name);
  if (!fs.existsSync(project)) {
    fs.mkdirSync(project);
    make(project, Math.max(1, Math.round(files * Number(values.size))));
    fs.symlinkSync(path.join(here, 'node_modules'), path.join(project, 'node_modules'));
  }
  const [tool, ...rest] = command;
  const runs = values.runs === undefined ? [] : ['--runs', values.runs];
  const results = path.join(directory, `${name}.json`);
  const { status } = spawnSync(values.smallfry, [
    'try', ...runs, '--json', results, '--prepare', prepare, ...outputs.flatMap((output) => ['--outputs', output]),
    '--', path.join('node_modules/.bin', tool), ...rest,
  ], {
    cwd: project,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` },
  });
  if (status !== 0) return false;
  const { files: compared, counts } = JSON.parse(fs.readFileSync(results, 'utf8'));
  return compared > 0 && counts !== null;
}

const directory = fs.mkdtempSync(path.join(values.in, 'smallfry-trials-'));
const failed = [];
let passed = 0;
try {
  for (const node of values.node ?? nodes()) {
    for (const name of values.only ?? Object.keys(PROJECTS)) {
      const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
      console.log(`\n== ${name} on Node ${stdout.trim()}`);
      if (run(name, path.resolve(node), directory)) passed += 1;
      else failed.push(`${name} on Node ${stdout.trim()}`);
    }
  }
} finally {
  fs.rmSync(directory, { recursive: true, force: true });
}
for (const which of failed) console.log(`FAILED: ${which}`);
console.log(`${passed} passed, ${failed.length} failed, 0 skipped`);
process.exitCode = failed.length > 0 ? 1 : 0;
