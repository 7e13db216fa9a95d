// Guards against: losing what the README promises in its first screens. Calls fail for lack of
// descriptors, workers that end leave files open, accepted writes are lost at the end of a process,
// and a process that is killed or a full disk leaves files by halves.
//
// Why it was possible: node:fs of Node 24 does each of these, so a call that is passed on to it is
// right by every other test. Node 26 writes a file in one job, which ends all but the torn and the
// partial files. With SMALLFRY_TEST_ALL each test prints what node:fs does with the same program.

/* global setTimeout */

import assert from 'node:assert';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { bulk, chance, isWindows, makeDirectory, needs, packageDirectory, runNode, runScript, seed, testNeeding } from './support.mjs';

const directory = makeDirectory();
let directories = 0;
const fresh = () => fs.mkdtempSync(path.join(directory, `d${directories++}-`));
/** Makes `side` of a script the functions of smallfry or of Node. */
const sideIs = (side) => `const side = ${side === 'smallfry' ? `require(${JSON.stringify(path.join(packageDirectory, 'dist/fs.js'))})` : "require('node:fs')"};`;

/** Returns the figure of smallfry, and prints that of node:fs if all is to be tested. */
async function compare(t, what, measure) {
  const figure = await measure('smallfry');
  if (process.env.SMALLFRY_TEST_ALL !== undefined) {
    t.diagnostic(`${what}: ${figure}, with node:fs ${await measure('node:fs')}`);
  }
  return figure;
}

testNeeding(needs.proc, '6,000 promises calls at once work with 40 descriptors', async (t) => {
  const failed = await compare(t, 'calls that failed', async (side) => {
    const target = fresh();
    const script = path.join(target, 'script.cjs');
    fs.writeFileSync(script, `${sideIs(side)}
      const calls = Array.from({ length: 6000 }, (_, i) => (i % 2 ? side.promises.readFile(__filename) : side.promises.writeFile('f' + (i % 600), 'text')));
      Promise.allSettled(calls).then((all) => console.log(all.filter(({ status }) => status === 'rejected').length));`);
    const { stdout, stderr } = await runNode(['-c', 'ulimit -n 40; exec "$@"', 'sh', process.execPath, script], { command: 'sh', cwd: target });
    assert.match(stdout, /^\d+\n$/, stderr);
    return Number(stdout);
  });
  assert.strictEqual(failed, 0);
});

testNeeding(needs.proc, '180 workers terminated in mid-write leave no descriptor open', async (t) => {
  const left = await compare(t, 'descriptors left open', async (side) => {
    const { stdout, stderr } = await runScript(fresh(), `${sideIs(side)}
      const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');
      const open = () => fs.readdirSync('/proc/self/fd').length;
      const run = (number) => new Promise((resolve, reject) => {
        const worker = new Worker(__filename, { workerData: number });
        worker.on('message', () => worker.terminate());
        worker.on('error', reject);
        worker.on('exit', resolve);
      });
      async function main() {
        await side.promises.writeFile(path.join(directory, 'first'), 'x');
        await run(0);
        const before = open();
        for (let round = 0; round < 30; round += 1) await Promise.all(Array.from({ length: 6 }, (_, i) => run(i)));
        // Writes that were accepted go on after the end of a worker.
        let left = Infinity;
        for (let i = 0; i < ${side === 'smallfry' ? 2000 : 50} && left > 0; i += 1) {
          await new Promise((resolve) => setTimeout(resolve, 10));
          left = open() - before;
        }
        console.log(left);
      }
      if (isMainThread) main();
      else {
        for (let i = 0; i < 20; i += 1) side.promises.writeFile(path.join(directory, workerData + '-' + i), 'x'.repeat(200_000));
        setTimeout(() => parentPort.postMessage('go'), 2);
        setTimeout(() => {}, 1e6);
      }`);
    assert.match(stdout, /^-?\d+\n$/, stderr);
    return Number(stdout);
  });
  assert.strictEqual(left, 0);
});

const ENDS = {
  'process.exit()': 'process.exit(0);',
  'a throw': "throw new Error('on purpose');",
  'process.reallyExit()': 'process.reallyExit(0);',
};
for (const [name, end] of Object.entries(ENDS)) {
  test(`2,000 accepted writes are whole files after ${name}`, { skip: isWindows && 'thousands of files' }, async (t) => {
    const whole = await compare(t, 'whole files', async (side) => {
      const target = fresh();
      const text = 'all of this must be in the file. '.repeat(100);
      const { signal, stderr } = await runScript(directory, `${sideIs(side)}
        const target = ${JSON.stringify(target)}, text = ${JSON.stringify(text)};
        for (let i = 0; i < 1000; i += 1) {
          side.promises.writeFile(path.join(target, 'p' + i), text);
          side.writeFile(path.join(target, 'c' + i), text, () => {});
        }
        ${end}`);
      assert.strictEqual(signal, null, stderr);
      return fs.readdirSync(target).filter((one) => fs.readFileSync(path.join(target, one), 'utf8') === text).length;
    });
    assert.strictEqual(whole, 2000);
  });
}

const FILES = 50;
const textOf = (version) => `${version}\n`.repeat(20_000);
const isWhole = (text) => text === textOf(Number.parseInt(text, 10));

test('a process killed 40 times in mid-writeFiles with replace leaves no torn file', { skip: isWindows && 'killed otherwise' }, async (t) => {
  const next = chance(seed);
  const torn = await compare(t, 'torn files', async (side) => {
    const target = fresh();
    const script = path.join(fresh(), 'script.cjs');
    fs.writeFileSync(script, `const fs = require('node:fs'), path = require('node:path');
      const bulk = require(${JSON.stringify(path.join(packageDirectory, 'dist/index.js'))});
      const files = Array.from({ length: ${FILES} }, (_, i) => path.join(${JSON.stringify(target)}, 'f' + i));
      const ours = (text) => bulk.writeFiles(files.map((file) => [file, text]), { replace: true });
      const real = (text) => Promise.all(files.map((file) => fs.promises.writeFile(file, text)));
      (async () => {
        for (let version = 1; ; version += 1) {
          await ${side === 'smallfry' ? 'ours' : 'real'}((version + '\\n').repeat(20_000));
          if (version === 1) fs.writeSync(1, 'begun');
        }
      })();`);
    for (let i = 0; i < FILES; i += 1) fs.writeFileSync(path.join(target, `f${i}`), textOf(0));
    let count = 0;
    for (let kill = 0; kill < 40; kill += 1) {
      const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = new Promise((resolve) => child.on('close', resolve));
      await new Promise((resolve) => child.stdout.once('data', resolve));
      await new Promise((resolve) => setTimeout(resolve, next.below(20)));
      child.kill('SIGKILL');
      await ended;
      const torn = Array.from({ length: FILES }, (_, i) => path.join(target, `f${i}`)).filter((file) => !isWhole(fs.readFileSync(file, 'utf8')));
      count += torn.length;
    }
    return count;
  });
  assert.strictEqual(torn, 0);
});

testNeeding(needs.mount, 'a full disk leaves no partial file with replace', async (t) => {
  const partial = await compare(t, 'partial files', async (side) => {
    const mount = fresh();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', mount]);
    try {
      const [old, text] = ['o'.repeat(20_000), 'n'.repeat(200_000)];
      const files = Array.from({ length: 40 }, (_, i) => path.join(mount, `f${i}`));
      for (const file of files) fs.writeFileSync(file, old);
      if (side === 'smallfry') await bulk.writeFiles(files.map((file) => [file, text]), { replace: true, settle: true });
      else await Promise.allSettled(files.map((file) => fs.promises.writeFile(file, text)));
      const texts = fs.readdirSync(mount).map((name) => fs.readFileSync(path.join(mount, name), 'utf8'));
      if (side === 'smallfry') assert.ok(texts.includes(old) && texts.length === files.length, 'the disk was not full');
      return texts.filter((found) => found !== old && found !== text).length;
    } finally {
      execFileSync('umount', [mount]);
    }
  });
  assert.strictEqual(partial, 0);
});
