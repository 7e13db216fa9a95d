// Guards against: a call that behaves differently from the node:fs function of the same name -
// other bytes or another mode on disk, another return value, another error, an error thrown where
// Node rejects, or the reverse.
//
// Why it was possible: which calls are done natively is decided from the shape of three arguments
// with dozens of forms each, the options are read a second time by node:fs when the decision is no,
// and errors are rebuilt from numbers. Each of these can be wrong for one combination that no
// test names. So combinations are drawn at random from everything that node:fs accepts or refuses,
// each is given to both in the same state of the same directory, and all that can be seen of the
// outcome is compared. SMALLFRY_TEST_SEED and SMALLFRY_TEST_CASES choose other draws and how many.

/* global AbortController, AbortSignal, structuredClone */

import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { describeDirectory, describeError, difference, expectNone, quiet, same, show1 } from './outcomes.mjs';
import { PATHS } from './paths.mjs';
import { chance, isWindows, makeDirectory, seed, smallfry, testOnWindows } from './support.mjs';

const base = makeDirectory();
const CASES = Number(process.env.SMALLFRY_TEST_CASES ?? 600);
console.log(`# seed ${seed}, ${CASES} cases per function`);

// -------------------------------------------------------------------------------------------------
// Data. Made anew for each side: writing a rope flattens it.

const bytesOf = (random, length) => Uint8Array.from({ length }, () => random.below(256));
const rope = (...parts) => {
  let whole = '';
  for (const part of parts) whole += part;
  return whole;
};
const detached = () => {
  const view = new Uint8Array(8).fill(7);
  structuredClone(view.buffer, { transfer: [view.buffer] });
  return view;
};
const resizable = (make) => {
  try {
    const buffer = new ArrayBuffer(16, { maxByteLength: 64 });
    new Uint8Array(buffer).fill(65);
    return make(buffer);
  } catch {
    return new Uint8Array(16);
  }
};

const DATA = {
  empty: () => '',
  'one character': () => 'x',
  ascii: (r) => 'The quick brown fox. '.repeat(1 + r.below(40)),
  latin1: (r) => 'na\u00efve caf\u00e9 '.repeat(1 + r.below(40)),
  mixed: (r) => 'a\u20ac\u65e5b\u00df'.repeat(1 + r.below(40)),
  emoji: (r) => '\u{1f41f}x'.repeat(1 + r.below(40)),
  'high surrogate alone': () => 'a\ud83db',
  'low surrogate alone': () => 'a\udc1fb',
  'high surrogate first': () => '\ud83dab',
  'high surrogate last': () => 'ab\ud83d',
  'low surrogate first': () => '\udc1fab',
  'low surrogate last': () => 'ab\udc1f',
  'surrogates swapped': () => '\udc1f\ud83d'.repeat(9),
  'NUL characters': () => 'a\0b\0',
  'hexadecimal digits': () => '00ff7fa',
  'base64 text': () => 'aGVsbG8+/w==',
  'base64url text': () => 'aGVsbG8-_w',
  'long ascii': () => 'z'.repeat(70_000),
  'long mixed': () => '\u00e9\u20acz'.repeat(30_000),
  'short rope': (r) => rope('first half, ', 'second half ', String(r.below(1000))),
  'rope of both widths': (r) => rope('narrow '.repeat(9), '\u20ac wide '.repeat(9), String(r.below(1000))),
  'slice of narrow': () => 'abcdefghij'.repeat(99).slice(7, 421),
  'slice of wide': () => 'abc\u20acdefghij'.repeat(99).slice(3, 421),
  'narrow slice of wide': () => `\u20ac${'abcdefgh'.repeat(20)}`.slice(1),
  'external narrow': () => Buffer.alloc(1_100_000, 'external ').toString('latin1'),
  'external wide': () => Buffer.from('\u20acxternal '.repeat(120_000), 'utf16le').toString('utf16le'),
  Buffer: (r) => Buffer.from(bytesOf(r, r.below(300))),
  'Buffer in a pool': (r) => Buffer.from('pooled '.repeat(1 + r.below(9))),
  'Buffer of 100 kB': (r) => Buffer.alloc(100_000, r.below(256)),
  'empty Buffer': () => Buffer.alloc(0),
  'Uint8Array with offset': (r) => bytesOf(r, 64).subarray(5, 5 + r.below(50)),
  Uint8ClampedArray: () => new Uint8ClampedArray([1, 2, 300]),
  Uint16Array: () => new Uint16Array([1, 2, 65535]),
  Float64Array: () => new Float64Array([Math.PI, -0, NaN]),
  'Float64Array with offset': () => new Float64Array(new ArrayBuffer(64), 16, 3),
  BigInt64Array: () => new BigInt64Array([1n, -1n]),
  DataView: (r) => new DataView(bytesOf(r, 30).buffer, 3, 20),
  'view of shared memory': () => new Uint8Array(new SharedArrayBuffer(24)).fill(66),
  'Buffer of shared memory': () => Buffer.from(new SharedArrayBuffer(24)).fill(67),
  'detached view': detached,
  'view that tracks a resizable buffer': () => resizable((buffer) => (buffer.resize(40), new Uint8Array(buffer))),
  'view of a resizable buffer': () => resizable((buffer) => new Uint8Array(buffer, 2, 9)),
  'view out of bounds': () =>
    resizable((buffer) => {
      const view = new Uint8Array(buffer, 8, 8);
      buffer.resize(4);
      return view;
    }),
  'DataView of a resizable buffer': () => resizable((buffer) => new DataView(buffer, 1, 9)),
  ArrayBuffer: () => new ArrayBuffer(8),
  SharedArrayBuffer: () => new SharedArrayBuffer(8),
  undefined: () => undefined,
  null: () => null,
  number: () => 42,
  bigint: () => 42n,
  boolean: () => false,
  symbol: () => Symbol('data'),
  object: () => ({}),
  'object with toString': () => ({ toString: () => 'text' }),
  'boxed string': () => new String('boxed'),
  array: () => ['a', 'b'],
  'empty array': () => [],
  function: () => () => 'x',
  date: () => new Date(0),
  'proxy of bytes': () => new Proxy(new Uint8Array(4), {}),
};

// -------------------------------------------------------------------------------------------------
// Options.

const ENCODINGS = [
  undefined, null, '', 'utf8', 'utf-8', 'UTF8', 'Utf-8', 'latin1', 'LATIN1', 'binary', 'ascii', 'hex', 'HEX', 'base64',
  'base64url', 'ucs2', 'ucs-2', 'utf16le', 'UTF-16LE', 'buffer', 'utf', 'utf-16', 'latin-1', 'nope', 0, 1, true, false,
  {}, [], Symbol('encoding'),
];
const FLAGS = [
  undefined, null, '', 'w', 'r', 'r+', 'rs', 'rs+', 'sr', 'sr+', 'a', 'a+', 'wx', 'xw', 'ax', 'xa', 'w+', 'wx+', 'xw+',
  'ax+', 'xa+', 'as', 'sa', 'as+', 'sa+', 'W', 'ww', '+', 'r ', 0, 1, 2, fs.constants.O_RDWR | fs.constants.O_CREAT,
  fs.constants.O_WRONLY | fs.constants.O_APPEND, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY,
  fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_TRUNC, 1.5, -1, NaN, 2 ** 40, true, {}, ['r'], 1n,
];
const MODES = [
  undefined, null, 0o600, 0o644, 0, 0o777, 0o4755, 0o1777, 0o100644, '600', '0644', '0o644', '', 'abc', '8', -1, 1.5,
  2 ** 32, NaN, Infinity, true, {}, [], 1n,
  // Neither -0 nor 2 ** 31 to 2 ** 32 - 1: these pass the checks of node:fs and then abort the
  // process.
];
const FLUSHES = [undefined, null, true, false, 0, 1, '', 'true', {}];
const SIGNALS = [
  () => undefined, () => null, () => new AbortController().signal, () => AbortSignal.abort(),
  () => AbortSignal.abort(new Error('why')), () => AbortSignal.abort(null), () => ({}), () => ({ aborted: false }),
  () => 'signal', () => 1,
];
const READ_BUFFERS = [
  () => undefined, () => null, () => Buffer.alloc(200), () => new Uint8Array(3), () => Buffer.alloc(0),
  () => new ArrayBuffer(9), () => (size) => Buffer.alloc(size || 500), () => (size) => new Uint8Array(size ? size - 1 : 0),
  () => () => 'nothing', () => 7,
];

const SHAPES = {
  plain: (o) => o,
  frozen: (o) => Object.freeze(o),
  'without prototype': (o) => Object.assign(Object.create(null), o),
  inherited: (o) => Object.create(o),
  'with getters': (o) =>
    Object.defineProperties(
      {},
      Object.fromEntries(Object.entries(o).map(([key, value]) => [key, { get: () => value, enumerable: true }])),
    ),
  'not enumerable': (o) =>
    Object.defineProperties({}, Object.fromEntries(Object.entries(o).map(([key, value]) => [key, { value }]))),
  'with extra keys': (o) => ({ ...o, fd: 7, start: 2, recursive: true, autoClose: 'x' }),
  proxied: (o) => new Proxy(o, {}),
  'of a class': (o) => Object.assign(new (class Options {})(), o),
  array: (o) => Object.assign([], o),
};

/** A value of a list; usually, but not always, one that does not make the call fail early. */
const mostly = (random, list, sane) => (random.next() < 0.65 ? random.pick(list.slice(0, sane)) : random.pick(list));

function makeOptions(random, isRead) {
  const kind = random.below(10);
  if (kind === 0) return { text: 'undefined', make: () => undefined };
  if (kind === 1) {
    const value = random.pick([null, 1, 0, true, false, NaN, 5n, Symbol('o'), '', 'nope', 'buffer', {}, [], Object.freeze({})]);
    return { text: String(typeof value === 'object' ? JSON.stringify(value) : String(value)), make: () => value };
  }
  if (kind === 2) return { text: 'function', make: () => function options() {} };
  if (kind < 5) {
    const encoding = mostly(random, ENCODINGS, 19);
    return { text: JSON.stringify(encoding) ?? String(encoding), make: () => encoding };
  }
  const makers = {};
  const add = (key, share, make) => {
    if (random.next() < share) makers[key] = make;
  };
  const encoding = mostly(random, ENCODINGS, 19);
  const flag = isRead ? random.pick(random.next() < 0.5 ? ['r', undefined] : FLAGS) : mostly(random, FLAGS, 25);
  const mode = mostly(random, MODES, 8);
  const flush = mostly(random, FLUSHES, 4);
  const signal = mostly(random, SIGNALS, 3);
  const buffer = random.pick(READ_BUFFERS);
  add('encoding', 0.6, () => encoding);
  add('flag', 0.4, () => flag);
  add('mode', 0.4, () => mode);
  add('flush', isRead ? 0.1 : 0.4, () => flush);
  add('signal', 0.15, signal);
  if (isRead) add('buffer', 0.1, buffer);
  const shape = random.next() < 0.6 ? 'plain' : random.pick(Object.keys(SHAPES));
  const show = Object.entries(makers).map(([key, make]) => `${key}: ${show1(make())}`);
  return {
    text: `${shape} {${show.join(', ')}}`,
    make: () => SHAPES[shape](Object.fromEntries(Object.entries(makers).map(([key, make]) => [key, make()]))),
  };
}

// -------------------------------------------------------------------------------------------------
// Runs one case on one side, and records its effects.

function describeValue(value, dir) {
  if (Buffer.isBuffer(value)) {
    return { kind: 'Buffer', prototype: Object.getPrototypeOf(value) === Buffer.prototype, bytes: value.toString('latin1') };
  }
  if (ArrayBuffer.isView(value)) return { kind: value.constructor.name, bytes: Buffer.from(value).toString('latin1') };
  if (value instanceof Error) return describeError(value, dir);
  if (typeof value === 'string') return { kind: 'string', value: value.replaceAll(dir, '<dir>') };
  return { kind: typeof value, value: String(value) };
}

function describeDescriptor(fd) {
  try {
    return `open, ${fs.readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1').split('\n', 1)[0]}`;
  } catch {
    try {
      fs.fstatSync(fd);
      return 'open';
    } catch {
      return 'closed';
    }
  }
}

/**
 * Length of the memory behind a Buffer: not compared, but it must not show what belongs to others.
 */
const ROOM = Symbol('room');

const reference = { ...fs, promises: { ...fs.promises } };

async function side(which, number, form, name, drawn) {
  // The same directory for both, one after the other, so that names in messages are the same too.
  const dir = path.join(base, String(number).padStart(6, '0'));
  fs.mkdirSync(dir, { recursive: true });
  const context = { dir, descriptors: [] };
  const cwd = process.cwd();
  process.chdir(dir);
  const before = process.umask(0o022);
  try {
    const target = PATHS[drawn.path](context);
    const args = [target];
    if (name !== 'readFile') args.push(DATA[drawn.data](chance(drawn.seed)));
    if (drawn.options) args.push(drawn.options.make());
    if (drawn.asBuffer) args[1] = Buffer.from(args[1]);
    process.umask(drawn.umask);
    const outcome = await quiet(which === 'ours' ? smallfry : reference, form, name, args);
    process.umask(0o022);
    return {
      how: outcome.how,
      count: outcome.count,
      value: describeValue(outcome.value, dir),
      [ROOM]: Buffer.isBuffer(outcome.value) ? outcome.value.buffer.byteLength : 0,
      error: outcome.error === undefined || outcome.error === null ? String(outcome.error) : describeError(outcome.error, dir),
      descriptors: context.descriptors.map(describeDescriptor),
      disk: describeDirectory(dir),
    };
  } finally {
    process.umask(before);
    process.chdir(cwd);
    for (const fd of context.descriptors) {
      try {
        fs.closeSync(fd);
      } catch {
        // Closed by the call; the description says so.
      }
    }
    // Waits for files that are closed later. Under Wine a removed file is in the way until the last
    // handle is closed.
    smallfry.rmSync(dir, { recursive: true, force: true, maxRetries: isWindows ? 10 : 0 });
  }
}

let numbers = 0;

async function compare(form, name, drawn) {
  // node:fs throws from a later tick, which is no outcome of the call.
  if (form === 'callback' && name === 'readFile' && drawn.path === 'fd -1') return undefined;
  const number = numbers++;
  const theirs = await side('node', number, form, name, drawn);
  const ours = await side('ours', number, form, name, drawn);
  const isolated = [theirs[ROOM], ours.value.bytes?.length].includes(ours[ROOM]) || ours[ROOM] <= Buffer.poolSize + 64;
  delete theirs[ROOM];
  delete ours[ROOM];
  if (same(ours, theirs) && isolated) return undefined;
  // Node's writeFileSync of a UTF-8 string forgets {flush: true}; smallfry flushes, as Node does
  // for a Buffer.
  if (form === 'sync' && JSON.stringify(ours).includes('fsync')) {
    const flushed = await side('node', number, form, name, { ...drawn, asBuffer: true });
    delete flushed[ROOM];
    if (same(ours, flushed)) return undefined;
  }
  return `  ${name} ${form}: path "${drawn.path}"` +
    (drawn.data === undefined ? '' : `, data "${drawn.data}"`) +
    `, options ${drawn.options?.text ?? 'not given'}, umask ${drawn.umask.toString(8)}\n${isolated ? '' : '    its ArrayBuffer shows memory of others\n'}${difference(ours, theirs)}`;
}

function draw(random, name, overrides = {}) {
  const isRead = name === 'readFile';
  const usualPaths = ['existing file', 'new file', 'fd r+', 'fd w', 'fd a+', 'URL', 'Buffer', 'missing parent', 'directory'];
  const usualData = ['ascii', 'latin1', 'mixed', 'Buffer', 'empty'];
  return {
    path: random.next() < 0.4 ? random.pick(usualPaths) : random.pick(Object.keys(PATHS)),
    data: isRead ? undefined : random.next() < 0.4 ? random.pick(usualData) : random.pick(Object.keys(DATA)),
    options: random.next() < 0.15 ? undefined : makeOptions(random, isRead),
    seed: random.below(2 ** 31),
    umask: random.pick([0o022, 0o022, 0o077, 0o000, 0o777]),
    ...overrides,
  };
}

// Under Wine each call takes many times as long.
const FORMS_OF_OPTIONS = [() => undefined, () => 'utf8', () => ({ encoding: 'utf8' }), () => ({ mode: 0o640 })].slice(0, isWindows ? 2 : 4);
const FORMS = ['sync', 'callback', 'promise'];
const NAMES = ['writeFile', 'appendFile', 'readFile'];

for (const name of NAMES) {
  for (const form of FORMS) {
    const label = form === 'sync' ? `${name}Sync` : form === 'callback' ? name : `promises.${name}`;
    const own = seed + NAMES.indexOf(name) * 31 + FORMS.indexOf(form) * 7;

    test(`${label} takes each kind of path as node:fs does`, async () => {
      const mismatches = [];
      const random = chance(own);
      let calls = 0;
      for (const kind of Object.keys(PATHS)) {
        for (const make of FORMS_OF_OPTIONS) {
          for (const data of name === 'readFile' ? [undefined] : make() === undefined ? ['mixed', 'Buffer', 'empty'] : ['mixed', 'empty']) {
            calls += 1;
            const drawn = draw(random, name, { path: kind, data, options: { text: show1(make()), make } });
            const mismatch = await compare(form, name, drawn);
            if (mismatch) mismatches.push(mismatch);
          }
        }
      }
      expectNone(mismatches, calls);
    });

    if (name !== 'readFile') {
      test(`${label} takes each kind of data as node:fs does`, async () => {
        const mismatches = [];
        const random = chance(own);
        for (const kind of Object.keys(DATA)) {
          for (const encoding of [undefined, 'utf8', 'latin1', 'utf16le', 'hex', 'base64']) {
            const options = { text: String(encoding), make: () => encoding };
            const drawn = draw(random, name, { path: random.pick(['existing file', 'fd r+']), data: kind, options });
            const mismatch = await compare(form, name, drawn);
            if (mismatch) mismatches.push(mismatch);
          }
        }
        expectNone(mismatches, Object.keys(DATA).length * 6);
      });
    }

    test(`${label} does as node:fs for ${CASES} combinations`, async () => {
      const mismatches = [];
      const random = chance(own);
      for (let count = 0; count < CASES; count += 1) {
        const mismatch = await compare(form, name, draw(random, name));
        if (mismatch) mismatches.push(mismatch);
      }
      expectNone(mismatches, CASES);
    });
  }
}


test('a callback that is not a function is refused at once, as by node:fs', () => {
  for (const callback of [undefined, null, 1, 'x', {}, []]) {
    for (const name of NAMES) {
      for (const options of [undefined, null, 'utf8', {}, { signal: AbortSignal.abort() }]) {
        const args = name === 'readFile' ? [path.join(base, 'x')] : [path.join(base, 'x'), 'data'];
        const both = [smallfry, reference].map((fs) => {
          try {
            fs[name](...args, options, callback);
            return 'no error';
          } catch (error) {
            return describeError(error, base);
          }
        });
        assert.deepStrictEqual(both[0], both[1], `${name}, callback ${show1(callback)}`);
      }
    }
  }
});

test('each function refuses missing arguments as node:fs does', async () => {
  for (const name of NAMES) {
    for (const args of [[], [path.join(base, 'argument')]]) {
      for (const form of ['sync', 'promise']) {
        const both = [];
        for (const side of [smallfry, reference]) {
          const { how, error, value } = await quiet(side, form, name, args);
          both.push({ how, error: error && describeError(error, base), value: describeValue(value, base) });
        }
        assert.deepStrictEqual(both[0], both[1], `${name} ${form}, ${args.length} arguments`);
      }
    }
  }
});

test('the promise functions take a FileHandle as path', async () => {
  const both = [];
  for (const [which, side] of [['ours', smallfry], ['node', reference]]) {
    const seen = [];
    const name = path.join(base, `handle-${which}`);
    const handle = await fs.promises.open(name, 'w+');
    seen.push((await quiet(side, 'promise', 'writeFile', [handle, 'by handle \u20ac'])).how);
    seen.push((await quiet(side, 'promise', 'appendFile', [handle, ' and on'])).how);
    await handle.close();
    seen.push(fs.readFileSync(name, 'utf8'));
    const reader = await fs.promises.open(name, 'r');
    const read = await quiet(side, 'promise', 'readFile', [reader, 'utf8']);
    seen.push(read.how, read.value);
    await reader.close();
    const closed = await quiet(side, 'promise', 'readFile', [reader, 'utf8']);
    seen.push(closed.how, describeError(closed.error, base));
    both.push(seen);
  }
  assert.deepStrictEqual(both[0], both[1]);
});

testOnWindows('names that Windows would alter are taken literally, as by node:fs', async () => {
  for (const name of ['dot.', 'blank ', 'three...']) {
    const target = path.join(base, name);
    smallfry.writeFileSync(target, name);
    assert.ok(fs.readdirSync(base).includes(name), name);
    assert.strictEqual(fs.readFileSync(target, 'utf8'), name);
    assert.strictEqual(await smallfry.promises.readFile(target, 'utf8'), name);
    fs.rmSync(target);
  }
});
