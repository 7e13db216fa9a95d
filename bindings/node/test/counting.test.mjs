// Guards against: counts that leave calls out or count them twice, a program that behaves otherwise
// because it is counted, and a cost or a file where counting is off.
//
// Why it was possible: node:fs's functions call each other, are reached by promise, callback,
// stream and FileHandle, carry properties that other code reads, and run in workers and child
// processes that may be ended from outside.

import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { makeDirectory, packageDirectory, runNode, testOnUnix } from './support.mjs';

const directory = makeDirectory();
const register = path.join(packageDirectory, 'dist/register.js');
let runs = 0;

/**
 * Runs a script with smallfry registered; answers what it printed, and what each process counted.
 */
async function count(source, { env = {}, kind = 'cjs', counting = true, flags = [] } = {}) {
  const cwd = path.join(directory, `run-${runs++}`);
  const counts = path.join(cwd, 'counts');
  fs.mkdirSync(counts, { recursive: true });
  fs.writeFileSync(path.join(cwd, `script.${kind}`), source);
  const { stdout, stderr, code, signal } = await runNode([...flags, `script.${kind}`], {
    cwd,
    env: { NODE_OPTIONS: `--require ${JSON.stringify(register)}`, ...(counting ? { SMALLFRY_COUNT: counts } : {}), ...env },
  });
  const processes = fs.readdirSync(counts).sort().map((name) => JSON.parse(fs.readFileSync(path.join(counts, name), 'utf8')));
  return { stdout, stderr, code, signal, processes };
}

/** `[calls, failed, bytes]` of one function in one process. */
function numbers({ functions }, name, form) {
  const found = functions.find((one) => one.name === name && one.form === form);
  return found === undefined ? [0, 0, 0] : [found.calls, found.failed, found.bytes];
}

test('every form of every part is counted once, with its bytes and failures', async () => {
  const { stderr, code, processes } = await count(`
    const fs = require('node:fs'), { promisify } = require('node:util');
    (async () => {
      fs.writeFileSync('a', 'h\\u00e9llo'); fs.appendFileSync('a', Buffer.alloc(4)); fs.readFileSync('a', 'latin1');
      await new Promise((done) => fs.writeFile('b', 'xyz', 'utf16le', done)); await new Promise((done) => fs.readFile('b', done));
      await fs.promises.writeFile('c', '12345'); await fs.promises.readFile('c', 'utf8'); await fs.promises.readFile('c');
      try { fs.writeFileSync('none/a', ''); } catch {}
      await new Promise((done) => fs.appendFile('none/a', '', done));
      await fs.promises.appendFile('none/a', '').catch(() => {});
      try { fs.readFile('a', {encoding: 'no such'}, () => {}); } catch {}
      const fd = fs.openSync('a', 'r+'); fs.writeSync(fd, 'abc', 0); fs.readSync(fd, Buffer.alloc(2), 0, 2, 0); fs.fsyncSync(fd);
      await promisify(fs.read)(fd, Buffer.alloc(2), 0, 2, 0); await promisify(fs.fdatasync)(fd); fs.closeSync(fd);
      fs.statSync('a'); fs.existsSync('no'); await fs.promises.stat('a'); fs.realpathSync('a'); fs.realpathSync.native('a');
      await promisify(fs.realpath.native)('a');
      const handle = await fs.promises.open('c', 'r+');
      await handle.readFile(); await handle.read(Buffer.alloc(3), 0, 3, 0); await handle.write('12', 0); await handle.sync(); await handle.close();
      for await (const piece of fs.createReadStream('c')) piece.length;
      fs.mkdirSync('d/e', { recursive: true }); fs.rmSync('d', { recursive: true });
    })();`);
  assert.strictEqual(stderr, '');
  assert.strictEqual(code, 0);
  assert.strictEqual(processes.length, 1);
  const [counts] = processes;
  assert.ok(counts.native && counts.ended, counts.reason);
  assert.strictEqual(counts.threads, 1);
  const expected = {
    'writeFile sync': [2, 1, 6], 'appendFile sync': [1, 0, 4], 'writeFile callback': [1, 0, 6], 'writeFile promise': [1, 0, 5],
    'appendFile callback': [1, 1, 0], 'appendFile promise': [1, 1, 0], 'readFile callback': [2, 1, 6], 'readFile promise': [3, 0, 15],
    'open sync': [1, 0, 0], 'write sync': [1, 0, 3], 'read sync': [1, 0, 2], 'fsync sync': [1, 0, 0], 'close sync': [1, 0, 0],
    'fdatasync callback': [1, 0, 0], 'stat sync': [1, 0, 0], 'exists sync': [1, 0, 0], 'stat promise': [1, 0, 0],
    'realpath callback': [1, 0, 0], 'open promise': [1, 0, 0], 'read promise': [1, 0, 3], 'write promise': [1, 0, 2],
    'fsync promise': [1, 0, 0], 'close promise': [1, 0, 0], 'open callback': [1, 0, 0], 'close callback': [1, 0, 0],
    'mkdir sync': [1, 0, 0], 'rm sync': [1, 0, 0],
  };
  for (const [what, wanted] of Object.entries(expected)) {
    assert.deepStrictEqual(numbers(counts, ...what.split(' ')), wanted, what);
  }
  // Reads of the stream and of the promisified call; the last read of the stream is empty.
  assert.deepStrictEqual(numbers(counts, 'read', 'callback').slice(1), [0, 7]);
  // One call by the script; Node's own loader may read it in this way too.
  const [calls, failed, bytes] = numbers(counts, 'readFile', 'sync');
  assert.ok(calls >= 1 && failed === 0 && bytes >= 10);
  for (const { nanoseconds, calls: made, handedOn } of counts.functions) assert.ok(nanoseconds > 0 && handedOn <= made);
});

test('calls that smallfry leaves to node:fs are counted apart', async () => {
  const { processes: [counts] } = await count(`
    const fs = require('node:fs');
    fs.writeFileSync('a', 'x', {}); fs.writeFileSync('a', 'x', { flag: fs.constants.O_WRONLY });
    fs.promises.readFile('a').then(() => fs.promises.readFile('a', { flag: 'r+' }));`);
  const of = (name, form) => counts.functions.find((one) => one.name === name && one.form === form);
  assert.deepStrictEqual([of('writeFile', 'sync').handedOn, of('writeFile', 'sync').native], [1, true]);
  assert.deepStrictEqual([of('readFile', 'promise').handedOn, of('readFile', 'promise').native], [1, true]);
  assert.deepStrictEqual(counts.leftAlone, []);
});

test("somebody else's function is counted, but not as smallfry's", async () => {
  const patch = path.join(directory, 'patch.cjs');
  fs.writeFileSync(patch, "const fs = require('fs'), real = fs.readFileSync; fs.readFileSync = function patched(...all) { return real(...all); };");
  const { processes: [counts] } = await count("require('fs').readFileSync(__filename)", {
    env: { NODE_OPTIONS: `--require ${patch} --require ${JSON.stringify(register)}` },
  });
  assert.deepStrictEqual(counts.leftAlone, ['readFileSync']);
  assert.strictEqual(counts.functions.find(({ name, form }) => name === 'readFile' && form === 'sync').native, false);
});

test('calls of child processes, workers and terminated workers are counted', async () => {
  const { stderr, processes } = await count(`
    const fs = require('fs'), { Worker, isMainThread, workerData, parentPort } = require('worker_threads');
    for (let i = 0; i < 10; i++) fs.appendFileSync('log', 'x');
    if (workerData !== 2) {
      const worker = new Worker(__filename, { workerData: (workerData ?? 0) + 1 });
      worker.once('message', async () => { await worker.terminate(); parentPort?.postMessage('done'); });
    } else parentPort.postMessage('done');
    if (!isMainThread) setInterval(() => {}, 1000);
    if (isMainThread && !process.argv[2]) require('child_process').execFileSync(process.execPath, [__filename, 'again']);`);
  assert.strictEqual(stderr, '');
  assert.strictEqual(processes.length, 2);
  for (const counts of processes) {
    assert.strictEqual(counts.threads, 3);
    assert.deepStrictEqual(numbers(counts, 'appendFile', 'sync'), [30, 0, 30]);
  }
});

testOnUnix('shell that sets variables for a command', 'children that are started without smallfry are reported', async () => {
  const { stderr, code, processes } = await count(`
    const { spawn, spawnSync, exec, execFile, execFileSync, execSync, fork } = require('child_process');
    if (process.argv[2]) return;
    const node = process.execPath, args = [__filename, 'again'], other = { env: { ...process.env, NODE_OPTIONS: '--no-warnings' } };
    spawn(node, args); spawnSync(node, args, { stdio: 'inherit' }); fork(__filename, ['again']); execFile('true');
    execSync('NODE_OPTIONS="$NODE_OPTIONS --no-warnings" true'); exec('true NODE_OPTIONS_X=1');
    spawn('true', ['spawn'], other); spawnSync('true', ['spawnSync'], { env: {} }); execFileSync('true', ['file'], other);
    execSync('true exec', other); exec('NODE_OPTIONS=--no-warnings true');`);
  assert.strictEqual(stderr, '');
  assert.strictEqual(code, 0);
  const [parent, ...others] = processes.sort((one, other) => other.children - one.children);
  assert.strictEqual(parent.children, 11);
  assert.deepStrictEqual(parent.childrenWithout, [
    'true spawn', 'true spawnSync', 'true file', 'true exec', 'NODE_OPTIONS=--no-warnings true',
  ]);
  assert.deepStrictEqual(others.map(({ children, childrenWithout }) => [children, childrenWithout]), Array(3).fill([0, []]));
});

test('children started by named imports of child_process are noticed', async () => {
  const { processes: [counts] } = await count("import { spawnSync } from 'node:child_process'; spawnSync('true', { env: {} });", { kind: 'mjs' });
  assert.deepStrictEqual([counts.children, counts.childrenWithout], [1, ['true']]);
});

testOnUnix('signals', 'a killed process leaves a report without an end', async () => {
  const { signal, processes } = await count("require('fs').readFileSync(__filename); process.kill(process.pid, 'SIGKILL');");
  assert.strictEqual(signal, 'SIGKILL');
  assert.deepStrictEqual(processes.map(({ ended }) => ended), [false]);
});

test('process.exit and an exception leave a complete report', async () => {
  for (const end of ['process.exit(3)', "throw new Error('on purpose')"]) {
    const { processes } = await count(`require('fs').writeFileSync('a', 'x'); ${end};`);
    assert.deepStrictEqual(processes.map(({ ended }) => ended), [true], end);
    assert.deepStrictEqual(numbers(processes[0], 'writeFile', 'sync'), [1, 0, 1]);
  }
});

/** Everything that a program can see of node:fs, and of errors. */
const LOOK = `
  const fs = require('node:fs'), util = require('node:util');
  const say = (error) => console.log(error.message, error.code, Object.keys(error).join());
  for (const on of [fs, fs.promises]) for (const [name, value] of Object.entries(on)) {
    if (typeof value === 'function') console.log(name, value.name, value.length, Reflect.ownKeys(value).map(String).sort().join());
  }
  console.log(typeof fs.realpath.native, typeof fs.exists[util.promisify.custom]);
  try { fs.readFileSync('none'); } catch (error) { say(error); }
  try { fs.readFile('a'); } catch (error) { say(error); }
  try { fs.writeSync('a'); } catch (error) { say(error); }
  fs.readFile('none', function (...all) { say(all[0]); console.log(all.length, this === undefined); });
  process.on('unhandledRejection', say);
  fs.promises.stat('none');
  fs.promises.readFile('also none').catch(say);
  const { AsyncLocalStorage } = require('node:async_hooks');
  const storage = new AsyncLocalStorage();
  storage.run('kept', () => { fs.stat('.', () => console.log(storage.getStore())); fs.promises.stat('.').then(() => console.log(storage.getStore())); });
`;

test('a program sees the same of node:fs whether it is counted or not', async () => {
  // Windows has whole paths in messages, and each run its own directory.
  const sorted = ({ stdout }) => stdout.replace(/run-\d+/g, 'run').split('\n').sort();
  const [plain, counted] = [await count(LOOK, { counting: false }), await count(LOOK)];
  assert.strictEqual(plain.stderr, '');
  assert.deepStrictEqual(sorted(counted), sorted(plain));
  assert.strictEqual(counted.stderr, '');
  assert.deepStrictEqual(plain.processes, []);
});

test('named imports see counted functions', async () => {
  const { stderr, processes: [counts] } = await count(`
    import { statSync, readFile } from 'node:fs'; import { stat } from 'node:fs/promises';
    statSync('.'); await stat('.'); readFile('script.mjs', () => {});`, { kind: 'mjs' });
  assert.strictEqual(stderr, '');
  for (const [name, form] of [['stat', 'sync'], ['stat', 'promise'], ['readFile', 'callback']]) {
    assert.strictEqual(numbers(counts, name, form)[0], 1, `${name} ${form}`);
  }
});

test('output of the program is not counted, wherever it goes', async () => {
  const { processes: [counts] } = await count("console.log('x'.repeat(100)); require('fs').writeSync(1, 'text');");
  assert.deepStrictEqual(numbers(counts, 'write', 'sync'), [0, 0, 0]);
});

test('a program runs on if its report cannot be written', async () => {
  const { stdout, stderr, code } = await count("console.log('done')", { env: { SMALLFRY_COUNT: path.join(directory, 'none', 'there') } });
  assert.strictEqual(stdout, 'done\n');
  assert.match(stderr, /SMALLFRY_NOT_COUNTED.*calls are not counted/);
  assert.strictEqual(code, 0);
});

test('the counting modules are not loaded unless asked for', async () => {
  const { stdout } = await count("console.log(Object.keys(require.cache).filter((name) => name.includes('counting')).length)", { counting: false });
  assert.strictEqual(stdout, '0\n');
});
