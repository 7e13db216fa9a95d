// Compares the bench rows of two checkouts that were built with `make build`, in turn:
// `node scripts/compare-builds.mjs ROUNDS BEFORE AFTER -- write-string read-many ... [FLAGS]`
//
// Each round runs `smallfry bench ... --runs 1` of both, in alternating order and with a seed of
// its own, so that no row always follows the same one. A table shows for each row how fast AFTER
// is, as a multiple of BEFORE: the ratio of the medians of its rounds, with the 95 % interval of
// the bootstrap (2,000 draws of rounds). Rows without smallfry show the noise. The exit code is 1
// if the upper end of a smallfry row is below 0.97.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';

const DRAWS = 2000;
const REQUIRED = 0.97;
/** Earlier names of scenarios and rows. */
const ALIASES = [[/\bfsync-many\b/, 'sync-many'], [/^fsync$/, 'sync']];

const [rounds, before, after, dashes, ...flags] = process.argv.slice(2);
if (!(Number(rounds) > 1) || after === undefined || dashes !== '--' || flags.length === 0) {
  console.error('usage: node scripts/compare-builds.mjs ROUNDS BEFORE AFTER -- SCENARIO... [FLAGS]');
  process.exit(2);
}
const command = (checkout) => path.join(checkout, 'target/release/smallfry');
const knows = (checkout, name) => execFileSync(command(checkout), ['bench', '--help'], { encoding: 'utf8' }).includes(`- ${name}:`);

/** The flags of one checkout, which may know a scenario by its earlier name. */
function flagsOf(checkout) {
  return flags.map((flag) => {
    const alias = ALIASES.find(([now]) => now.test(flag));
    return alias !== undefined && !knows(checkout, flag) ? flag.replace(alias[0], alias[1]) : flag;
  });
}

const directory = fs.mkdtempSync(path.join(process.cwd(), 'compare-builds-'));
process.on('exit', () => fs.rmSync(directory, { recursive: true, force: true }));

/** Runs the bench once. Returns nanoseconds by the names of rows. */
function measure(checkout, own, seed) {
  const file = path.join(directory, 'bench.json');
  execFileSync(command(checkout), ['bench', ...own, '--dir', directory, '--runs', '1', '--seed', String(seed), '--json', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const found = new Map();
  collect(JSON.parse(fs.readFileSync(file, 'utf8')), [], found);
  return found;
}

/** Finds rows at any depth of the file. A row's name has the case that it belongs to. */
function collect(value, names, found) {
  if (value === null || typeof value !== 'object') return;
  if (!Array.isArray(value) && (value.runs !== undefined || value.batches !== undefined) && value.implementation !== undefined) {
    const samples = value.batches?.flatMap((batch) => batch.samples.ns) ?? value.runs.map((run) => run.usage.wall_ns);
    const row = [value.runtime, value.implementation, value.style, JSON.stringify(value.threads)?.replace(/\W+/g, ' ').trim()].filter((it) => it !== undefined);
    if (samples.length > 0) found.set(modern([...names, row.join(' ')].join(', ')), median(samples));
    return;
  }
  const own = value.case ?? value.cell;
  const inner = own === undefined ? names : [...names, Object.keys(own).sort().filter((key) => own[key] !== null).map((key) => String(own[key])).join(' ')];
  for (const [key, child] of Object.entries(value)) {
    if (key === 'case' || key === 'cell') continue;
    collect(child, Array.isArray(value) || ['rows', 'cases', 'cells'].includes(key) ? inner : [...inner, key], found);
  }
}

/** Names as they are now. */
function modern(name) {
  return name.replace(/^sync/, 'fsync').replace(/ again\b/, ' A/A').replace('floor', 'raw system calls').replaceAll('folder', 'directory');
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

const sides = [before, after].map((checkout) => ({ checkout, flags: flagsOf(checkout), rows: new Map() }));
for (let round = 0; round < Number(rounds); round++) {
  for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
    for (const [name, ns] of measure(side.checkout, side.flags, round + 1)) {
      side.rows.set(name, [...(side.rows.get(name) ?? []), ns]);
    }
  }
  console.error(`round ${round + 1} of ${rounds}`);
}

const draw = (values) => median(values.map(() => values[Math.floor(Math.random() * values.length)]));
let slower = 0;
console.log(`${os.cpus()[0].model}, ${os.cpus().length} cores, ${rounds} rounds; as fast as before\n`);
for (const [name, now] of sides[1].rows) {
  const then = sides[0].rows.get(name);
  if (then === undefined) {
    console.log(`          no row before    ${name}`);
    continue;
  }
  const ratios = Array.from({ length: DRAWS }, () => draw(then) / draw(now)).sort((a, b) => a - b);
  const [low, high] = [ratios[DRAWS * 0.025], ratios[DRAWS * 0.975]];
  const isSlower = name.includes('smallfry') && high < REQUIRED;
  slower += Number(isSlower);
  console.log(`${(median(then) / median(now)).toFixed(2)}x (${low.toFixed(2)}-${high.toFixed(2)})${isSlower ? ' SLOWER' : ''}  ${name}`);
}
for (const name of sides[0].rows.keys()) {
  if (!sides[1].rows.has(name)) console.log(`          no row after     ${name}`);
}
console.log(`\n${slower} rows of smallfry are below ${REQUIRED} by the upper end of their interval`);
process.exitCode = slower > 0 ? 1 : 0;
