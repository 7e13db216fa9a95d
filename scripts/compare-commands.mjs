// Compares the wall times of two commands, run in turn:
// `node scripts/compare-commands.mjs ROUNDS -- COMMAND A... -- COMMAND B...`
//
// Use it for the start-up of programs: `smallfry try` does not compare runtimes. It prints the
// median of each, and the ratio of A to B with the 95 % interval of the bootstrap (2,000 draws of
// rounds). It drops the commands' output, and stops if a command fails.

import { spawnSync } from 'node:child_process';
import process from 'node:process';

const [rounds, ...rest] = process.argv.slice(2);
const commands = [];
for (const word of rest) {
  if (word === '--') commands.push([]);
  else commands.at(-1)?.push(word);
}
if (!(Number(rounds) > 0) || commands.length !== 2 || commands.some((command) => command.length === 0)) {
  console.error('usage: node scripts/compare-commands.mjs ROUNDS -- COMMAND A... -- COMMAND B...');
  process.exit(2);
}

/** Runs a command and returns its wall time in milliseconds. */
function run([command, ...args]) {
  const began = process.hrtime.bigint();
  const { status, error, stderr } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  const took = Number(process.hrtime.bigint() - began) / 1e6;
  if (status !== 0) {
    console.error(`compare-commands: ${command} failed (${status ?? error}): ${stderr}`);
    process.exit(1);
  }
  return took;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const times = [[], []];
for (let round = -3; round < Number(rounds); round++) {
  // The first command alternates, too. Rounds below 0 are a warm-up.
  for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) {
    const took = run(commands[which]);
    if (round >= 0) times[which].push(took);
  }
}

const ratios = Array.from({ length: 2000 }, () => {
  const drawn = times[0].map(() => Math.floor(Math.random() * times[0].length));
  const [a, b] = times.map((own) => median(drawn.map((index) => own[index])));
  return a / b;
}).sort((a, b) => a - b);
const [a, b] = times.map(median);
console.log(`A ${a.toFixed(1)} ms, B ${b.toFixed(1)} ms: A takes ${(a / b).toFixed(3)} times as long (${ratios[50].toFixed(3)} to ${ratios[1949].toFixed(3)})`);
