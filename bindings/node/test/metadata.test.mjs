// Guards against: a call for a path, such as `stat` or `readdir`, that behaves differently from the
// node:fs function of the same name: another result, class of a result, error, or moment.
//
// Why it was possible: the arguments are read twice, by smallfry and by node:fs, and results and
// errors are made from numbers. So all kinds of paths and options are given to both, in the same
// state of the same directory.

/* global AbortController, AbortSignal, setTimeout, structuredClone */

import assert from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import fs from 'node:fs';
import path from 'node:path';
import { Worker } from 'node:worker_threads';

import { describeDirectory, describeError, difference, expectNone, quiet, same, show1 } from './outcomes.mjs';
import { PATHS } from './paths.mjs';
import { chance, major, makeDirectory, packageDirectory, runNode, seed, smallfry, testNeeding, testOnUnix } from './support.mjs';

const base = makeDirectory();
const CASES = Number(process.env.SMALLFRY_TEST_CASES ?? 600);
const FORMS = ['callback', 'promise'];
const asNobody = { there: process.platform === 'linux' && process.getuid() === 0, missing: 'to become another user needs root' };
const reference = { ...fs, promises: { ...fs.promises } };

const ENCODINGS = [undefined, null, '', 'utf8', 'utf-8', 'UTF8', 'latin1', 'hex', 'buffer', 'nope', 1, {}, Symbol('encoding')];
const SIGNALS = [undefined, null, 'x', {}, new AbortController().signal, AbortSignal.abort()].map((signal) => ({ signal }));
const WITH_ENCODINGS = [...ENCODINGS.flatMap((encoding) => [encoding, { encoding }]), ...SIGNALS];
const MODES = [undefined, null, 0, 0o700, 0o777, 0o1777, '755', '0o700', 'x', -1, 1.5, NaN, 2 ** 32, 2 ** 33, 5n, true, {}];
const STATUS_OPTIONS = [
  undefined, null, {}, { bigint: true }, { bigint: false }, { bigint: undefined }, { bigint: null }, { bigint: 1 },
  { throwIfNoEntry: false }, { throwIfNoEntry: true }, { bigint: true, throwIfNoEntry: false }, 'x', 1, true, [],
  { signal: undefined }, { signal: new AbortController().signal }, { signal: 'x' }, Object.create({ bigint: true }),
];
const TIMES = [0, 1, 1.5, 1234567890.123456, 1e10, -1, NaN, Infinity, '7', '7.25', 'x', '', new Date(86_400_000), new Date(-1), new Date(NaN), null, undefined, {}, 5n];

/** The arguments after the path, for each function. */
const OPTIONS = {
  access: [undefined, null, 0, 1, 2, 4, 6, 7, 8, -1, 1.5, NaN, '4', true, {}].map((mode) => [mode]),
  stat: STATUS_OPTIONS.map((options) => [options]),
  lstat: STATUS_OPTIONS.map((options) => [options]),
  readdir: [
    ...WITH_ENCODINGS, { withFileTypes: true }, { withFileTypes: false }, { withFileTypes: 1 }, { withFileTypes: true, encoding: 'buffer' },
    { recursive: true }, { recursive: false }, { recursive: null }, { recursive: 'x' }, { recursive: true, withFileTypes: true },
  ].map((options) => [options]),
  realpath: WITH_ENCODINGS.map((options) => [options]),
  readlink: WITH_ENCODINGS.map((options) => [options]),
  mkdir: [
    ...MODES, ...MODES.map((mode) => ({ recursive: true, mode })), { recursive: true }, { recursive: false }, { recursive: 1 }, { recursive: null },
    { recursive: undefined }, {}, [],
  ].map((options) => [options]),
  chmod: MODES.map((mode) => [mode]),
  utimes: TIMES.flatMap((time) => [[time, 1000], [1000, time], [time, time]]),
};

/** Paths of which calls of this kind are a matter. */
const MORE_PATHS = {
  'full directory': ({ dir }) => {
    for (const name of ['b', 'B', 'a', '\u00e4', '\u{1f41f}', '10', '9', '.hidden', 'with space', 'x'.repeat(200)]) fs.writeFileSync(path.join(dir, name), '');
    fs.mkdirSync(path.join(dir, 'sub/deep'), { recursive: true });
    fs.symlinkSync('gone', path.join(dir, 'link'));
    return dir;
  },
  'directory with a name that is not UTF-8': ({ dir }) => {
    fs.writeFileSync(Buffer.concat([Buffer.from(`${dir}/x`), Buffer.from([0xff, 0xc3, 0x28])]), '');
    return dir;
  },
  'several missing parents': ({ dir }) => `${dir}/one/two/three/four`,
  'several missing parents, slashes': ({ dir }) => `${dir}//one///two//`,
  'several missing parents, dots': ({ dir }) => `${dir}/one/../two/./three`,
  'relative missing parents': () => 'one/two/three',
  'missing parents below a file': ({ dir }) => (fs.writeFileSync(`${dir}/file`, ''), `${dir}/file/one/two`),
  'missing parents below a link': ({ dir }) => (fs.symlinkSync('gone', `${dir}/link`), `${dir}/link/one/two`),
  'link to a file by two links': ({ dir }) => {
    fs.writeFileSync(`${dir}/file`, '');
    fs.symlinkSync('file', `${dir}/one`);
    fs.symlinkSync(`${dir}/one`, `${dir}/two`);
    return `${dir}/two`;
  },
  'link to a name that is not ASCII': ({ dir }) => (fs.symlinkSync('\u00e4\u20ac', `${dir}/link`), `${dir}/link`),
  'file from before 1970': ({ dir }) => (fs.writeFileSync(`${dir}/old`, ''), fs.lutimesSync(`${dir}/old`, -1.5, -1000.25), `${dir}/old`),
  root: () => '/',
  '/dev/stdin': () => '/dev/stdin',
  '/proc/self/exe': () => '/proc/self/exe',
  '/proc/self/fd': () => '/proc/self/fd/1',
};
const ALL_PATHS = { ...PATHS, ...MORE_PATHS };

/** The kinds of paths for a function. A call changes or walks only the directory of its case. */
const kindsFor = (name) => {
  const stays = ['mkdir', 'chmod', 'utimes', 'readdir'].includes(name);
  return Object.keys(ALL_PATHS).filter((kind) => !stays || !OUTSIDE.includes(kind));
};

/** The kinds of paths that lead out of the directory. */
const OUTSIDE = ['root', '/dev/stdin', '/proc/self/exe', '/proc/self/fd', '/dev/null', '/proc'];

/** Describes a result with its classes. Times of access change, and so do those of directories. */
function describeResult(value, dir) {
  if (Array.isArray(value)) return value.map((one) => describeResult(one, dir));
  if (Buffer.isBuffer(value)) return { buffer: value.toString('latin1') };
  if (typeof value === 'string') return value.replaceAll(dir, '<dir>');
  if (typeof value !== 'object' || value === null) return `${typeof value} ${String(value)}`;
  const described = { prototype: Object.getPrototypeOf(value), keys: Reflect.ownKeys(value).map(String) };
  const isVague = (key) => /^(?:[acm]time|birthtime|ino|Symbol\(k?[Pp]artial)/.test(String(key));
  for (const key of Reflect.ownKeys(value)) {
    const one = value[key];
    described[String(key)] = isVague(key) ? `${typeof one} ${one?.constructor?.name}` : describeResult(one, dir);
  }
  return described;
}

/** Describes the times of a file that a call may have set. */
function describeTimes(target) {
  try {
    const { atimeMs, mtimeMs } = fs.statSync(target);
    // What is not a fixed time is that of the call.
    return [atimeMs, mtimeMs].map((time) => (Math.abs(Date.now() - time) < 600_000 ? 'now' : time));
  } catch {
    return 'none';
  }
}

let numbers = 0;

async function side(calls, number, form, name, kind, options) {
  const dir = path.join(base, String(number).padStart(6, '0'));
  fs.mkdirSync(dir, { recursive: true });
  const cwd = process.cwd();
  process.chdir(dir);
  const context = { dir, descriptors: [] };
  try {
    const target = ALL_PATHS[kind](context);
    const outcome = await quiet(calls, form, name, [target, ...options]);
    const times = name === 'utimes' && describeTimes(target);
    const isFailure = outcome.error !== undefined && outcome.error !== null;
    return {
      how: outcome.how,
      count: outcome.count,
      value: describeResult(outcome.value, dir),
      error: isFailure ? describeError(outcome.error, dir) : String(outcome.error),
      times,
      disk: describeDirectory(dir),
    };
  } finally {
    process.chdir(cwd);
    for (const fd of context.descriptors) fs.closeSync(fd);
    fs.chmodSync(dir, 0o755);
    fs.rmSync(dir, { recursive: true, force: true });
  }
}

async function compare(form, name, kind, options) {
  const number = numbers++;
  const theirs = await side(reference, number, form, name, kind, options);
  const ours = await side(smallfry, number, form, name, kind, options);
  if (same(ours, theirs)) return undefined;
  const shown = options.map((value) => (typeof value === 'object' && value !== null ? JSON.stringify(value, (_, one) => (typeof one === 'bigint' || typeof one === 'symbol' ? String(one) : one)) : show1(value)));
  return `  ${name} ${form}: path "${kind}", ${shown.join(', ')}\n${difference(ours, theirs)}`;
}

for (const [name, all] of Object.entries(OPTIONS)) {
  for (const form of FORMS) {
    if ((form === 'callback') !== (name === 'realpath')) continue;
    const label = form === 'callback' ? name : `promises.${name}`;
    const usual = name === 'utimes' ? [1, 2.5] : name === 'chmod' ? [0o640] : [];
    const variants = name === 'mkdir' ? [usual, [{ recursive: true }]] : name === 'readdir' ? [usual, [{ withFileTypes: true }]] : [usual];

    testOnUnix('native calls for paths', `${label} takes each kind of path as node:fs does`, async () => {
      const mismatches = [];
      for (const kind of kindsFor(name)) {
        for (const options of variants) {
          const mismatch = await compare(form, name, kind, options);
          if (mismatch) mismatches.push(mismatch);
        }
      }
      expectNone(mismatches, kindsFor(name).length * variants.length);
    });

    testOnUnix('native calls for paths', `${label} takes each kind of options as node:fs does`, async () => {
      const mismatches = [];
      const kinds = ['existing file', 'full directory', 'symlink', 'several missing parents', 'missing parent'];
      for (const options of all) {
        for (const kind of kinds) {
          const mismatch = await compare(form, name, kind, options);
          if (mismatch) mismatches.push(mismatch);
        }
      }
      expectNone(mismatches, all.length * kinds.length);
    });

    testOnUnix('native calls for paths', `${label} does as node:fs for ${Math.ceil(CASES / 4)} combinations`, async () => {
      const random = chance(seed + numbers);
      const mismatches = [];
      for (let count = 0; count < CASES / 4; count += 1) {
        const mismatch = await compare(form, name, random.pick(kindsFor(name)), random.pick(all));
        if (mismatch) mismatches.push(mismatch);
      }
      expectNone(mismatches, Math.ceil(CASES / 4));
    });
  }
}

testOnUnix('native calls for paths', 'a callback that is missing or misplaced is refused as by node:fs', () => {
  for (const args of [[], [base], [base, undefined], [base, {}], [base, 0o700], [base, 1, 2], [base, 1, 2, 3], [base, null, null, null]]) {
    const both = [smallfry, reference].map((calls) => {
      try {
        calls.realpath(...args);
        return 'no error';
      } catch (error) {
        return describeError(error, base);
      }
    });
    assert.deepStrictEqual(both[0], both[1], `realpath(${args.map(show1).join()})`);
  }
});

testOnUnix('native calls for paths', 'many calls at once have the results of their own paths', async () => {
  const dir = path.join(base, 'many');
  fs.mkdirSync(dir);
  const names = Array.from({ length: 2000 }, (_, index) => `${index}`);
  for (const name of names) fs.writeFileSync(path.join(dir, name), 'x'.repeat(Number(name)));
  const sizes = await Promise.all(names.map((name) => smallfry.promises.stat(path.join(dir, name))));
  assert.deepStrictEqual(sizes.map(({ size }) => size), names.map(Number));
  const bigints = await Promise.all(names.map((name, index) => smallfry.promises.lstat(path.join(dir, name), { bigint: index % 2 === 0 })));
  assert.deepStrictEqual(bigints.map(({ size }) => size), names.map((name, index) => (index % 2 === 0 ? BigInt(name) : Number(name))));
  assert.deepStrictEqual(await smallfry.promises.readdir(dir), names.toSorted());
  const failed = await Promise.allSettled(names.map((name) => smallfry.promises.access(path.join(dir, 'none', name))));
  assert.deepStrictEqual(failed.map(({ reason }) => reason.path), names.map((name) => path.join(dir, 'none', name)));
});

testOnUnix('native calls for paths', 'a file that was written is seen by the next call', async () => {
  const target = path.join(base, 'written');
  for (let size = 1; size < 200; size += 1) {
    await smallfry.promises.writeFile(target, 'x'.repeat(size));
    assert.strictEqual((await smallfry.promises.stat(target)).size, size);
  }
});

testOnUnix('native calls for paths', 'a file that was removed is missing at the next call', async () => {
  const target = path.join(base, 'removed');
  for (let count = 0; count < 200; count += 1) {
    fs.writeFileSync(target, '');
    await smallfry.promises.access(target);
    fs.unlinkSync(target);
    await assert.rejects(smallfry.promises.lstat(target), { code: 'ENOENT', syscall: 'lstat', path: target });
  }
});

testOnUnix('native calls for paths', 'a program that asks again and again lets timers have their turn', async () => {
  let hasFired = false;
  setTimeout(() => { hasFired = true; }, 5);
  while (!hasFired) await smallfry.promises.stat(base);
});

testNeeding(asNobody, 'access asks for the rights of the real user', async () => {
  const target = path.join(base, 'private');
  fs.mkdirSync(target, { mode: 0o700 });
  fs.writeFileSync(path.join(target, 'file'), '', { mode: 0o600 });
  const source = `const own = require('node:fs');
    const ours = require(${JSON.stringify(path.join(packageDirectory, 'dist/fs.js'))});
    const answers = ({ promises }) => Promise.all(['file', 'none'].flatMap((name) => [0, 4].map(
      (mode) => promises.access(${JSON.stringify(target)} + '/' + name, mode).then(() => 'yes', ({ code }) => code))));
    (async () => {
      await answers(ours);
      process.seteuid(65534);
      const expected = await answers(own);
      for (let count = 0; count < 5; count += 1) require('node:assert').deepStrictEqual(await answers(ours), expected);
      console.log(expected.join());
    })();`;
  const { stdout, stderr } = await runNode(['-e', source]);
  assert.strictEqual(stdout, 'yes,yes,ENOENT,ENOENT\n', stderr);
});

testOnUnix('native calls for paths', 'mocked timers do not hold up a call', async () => {
  const source = `const { mock } = require('node:test');
    mock.timers.enable({ apis: ['setImmediate', 'setTimeout'] });
    const fs = require('node:fs');
    (async () => {
      for (let count = 0; count < 1000; count += 1) await fs.promises.stat('.');
      console.log('done');
      process.exit();
    })();`;
  const { stdout, stderr } = await runNode(['--require', path.join(packageDirectory, 'dist/register.js'), '-e', source]);
  assert.strictEqual(stdout, 'done\n', stderr);
});

testOnUnix('native calls for paths', 'what the kernel has in memory needs no thread', async () => {
  const source = `const fs = require(${JSON.stringify(path.join(packageDirectory, 'dist/fs.js'))});
    const { native } = require(${JSON.stringify(path.join(packageDirectory, 'dist/core.js'))});
    const threads = () => require('node:fs').readdirSync('/proc/self/task')
      .filter((id) => require('node:fs').readFileSync('/proc/self/task/' + id + '/comm', 'utf8') === 'smallfry\\n').length;
    (async () => {
      const isCached = native.lookUp?.(__dirname, 1, 0) === 0;
      if (isCached) for (let count = 0; count < 100; count += 1) await fs.promises.stat(__dirname);
      console.log(isCached ? threads() : 'not in memory');
    })();`;
  const file = path.join(base, 'threads.cjs');
  fs.writeFileSync(file, source);
  const { stdout, stderr } = await runNode([file]);
  // Linux before 5.12, other systems, and sandboxes do not have the call.
  assert.match(stdout, /^(?:0|not in memory)\n$/, stderr);
});

testOnUnix('native calls for paths', 'the callback runs in the asynchronous context of the call', async () => {
  const storage = new AsyncLocalStorage();
  const seen = await storage.run('context', () => new Promise((resolve) => smallfry.realpath(base, () => resolve(storage.getStore()))));
  assert.strictEqual(seen, 'context');
});

testOnUnix('native calls for paths', 'what a callback throws is an uncaught exception', async () => {
  const source = `const fs = require(${JSON.stringify(path.join(packageDirectory, 'dist/fs.js'))});
    process.on('uncaughtException', (error) => console.log('uncaught', error.message));
    fs.realpath('.', () => { throw new Error('thrown'); });
    fs.realpath('.', (error) => console.log('next', error));`;
  const { stdout, stderr } = await runNode(['-e', source]);
  assert.deepStrictEqual(stdout.trim().split('\n').toSorted(), ['next null', 'uncaught thrown'], stderr);
});

testOnUnix('native calls for paths', 'with UV_THREADPOOL_SIZE=1 calls have their effects and results in order', async () => {
  const directory = fs.mkdtempSync(path.join(base, 'order-'));
  const { stdout, stderr, code } = await runNode(['-e', `
    const fs = require('node:fs'), { promises } = require(${JSON.stringify(path.join(packageDirectory, 'dist/fs.js'))});
    fs.writeFileSync('file', '');
    const results = [], calls = [];
    const call = (promise, look = () => 0) => {
      const number = calls.length;
      calls.push(promise.then((value) => results.push([number, look(value)])));
    };
    for (let i = 0; i < 200; i += 1) {
      call(promises.chmod('file', 0o600 + (i % 64)));
      call(promises.stat('file'), ({ mode }) => mode & 0o777);
      call(promises.readdir('.'), (names) => names.length);
      call(promises.utimes('file', i, i));
      call(promises.lstat('file'), ({ mtimeMs }) => mtimeMs);
    }
    Promise.all(calls).then(() => console.log(JSON.stringify(results)));`], { cwd: directory, env: { ...process.env, UV_THREADPOOL_SIZE: '1' } });
  assert.strictEqual(code, 0, stderr);
  const expected = Array.from({ length: 200 }, (_, i) => [0, 0o600 + (i % 64), 1, 0, i * 1000]).flat();
  assert.deepStrictEqual(JSON.parse(stdout), [...expected.entries()]);
});

testOnUnix('native calls for paths', 'the results of workers do not mix', async () => {
  const source = `const { parentPort, workerData } = require('node:worker_threads');
    const fs = require(${JSON.stringify(path.join(packageDirectory, 'dist/fs.js'))});
    Promise.all(Array.from({ length: 500 }, () => fs.promises.stat(workerData))).then((all) => parentPort.postMessage(all.map(({ size }) => size)));`;
  const sizes = [3, 30, 300];
  const all = await Promise.all(sizes.map((size) => {
    const file = path.join(base, `of-${size}`);
    fs.writeFileSync(file, 'x'.repeat(size));
    const worker = new Worker(source, { eval: true, workerData: file });
    return new Promise((resolve, reject) => { worker.on('message', resolve); worker.on('error', reject); });
  }));
  assert.deepStrictEqual(all, sizes.map((size) => Array(500).fill(size)));
});

testOnUnix('native calls for paths', 'calls for paths are native where they pay', async () => {
  // Node has asynchronous resources of its own for its calls.
  const source = `const fs = require(${JSON.stringify(path.join(packageDirectory, 'dist/fs.js'))});
    let types = [];
    require('node:async_hooks').createHook({ init: (_id, type) => { types.push(type); } }).enable();
    const isNative = (call) => { types = []; call(() => undefined)?.catch(() => undefined); return !types.some((type) => type.startsWith('FSREQ')); };
    fs.writeFileSync('made', '', {});
    // The first call finds out whether other functions are Node's own.
    fs.realpath('.', () => undefined);
    const { promises } = fs;
    console.log(JSON.stringify(Object.fromEntries(Object.entries({
      access: () => promises.access('.'), stat: () => promises.stat('.'), lstat: () => promises.lstat('.'), readdir: () => promises.readdir('.'),
      readlink: () => promises.readlink('.'), mkdir: () => promises.mkdir('a/b', { recursive: true }),
      chmod: () => promises.chmod('made', 0o600), utimes: () => promises.utimes('made', 1, 2),
      'realpath with a callback': (callback) => fs.realpath('.', callback),
      'promises.realpath': () => promises.realpath('.'),
      'mkdir with a callback': (callback) => fs.mkdir('a/c', { recursive: true }, callback),
      'one directory': () => promises.mkdir('one'), 'stat with a callback': (callback) => fs.stat('.', callback),
    }).map(([name, call]) => [name, isNative(call)]))));`;
  const { stdout, stderr } = await runNode(['-e', source], { cwd: base });
  const native = JSON.parse(stdout || stderr);
  const notNative = Object.keys(native).filter((name) => !native[name]);
  assert.deepStrictEqual(notNative, ['promises.realpath', 'mkdir with a callback', 'one directory', 'stat with a callback']);
});

testOnUnix('native calls for paths', `results of Node ${major} can be cloned as those of node:fs`, async () => {
  const [ours, theirs] = [await smallfry.promises.stat(base), await fs.promises.stat(base)];
  assert.deepStrictEqual(Object.keys(structuredClone(ours)), Object.keys(structuredClone(theirs)));
});
