// How long two commands take, in turn: `node scripts/compare-commands.mjs ROUNDS -- COMMAND A... -- COMMAND B...`
//
// For starts of programs, of which `smallfry try` would not show differences between runtimes. Prints the median wall time of each, and
// the ratio of A's to B's with the 95 % interval of the bootstrap (2,000 draws of rounds). Output of the commands is dropped; one
// that fails ends it.

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

/** Milliseconds. */
function run([command, ...args]) {
  const began = process.hrtime.bigint();
  const { status, error, stderr } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  const took = Number(process.hrtime.bigint() - began) / 1e6;
  if (status !== 0) {
    console.error(`${command} ended with ${status ?? error}: ${stderr}`);
    process.exit(1);
  }
  return took;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const times = [[], []];
for (let round = -3; round < Number(rounds); round++) {
  // Who comes first takes turns as well; the first rounds are to get warm.
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
