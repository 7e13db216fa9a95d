// Guards against: a file that holds something else than its entry says, a write that was accepted
// and is lost when the process or a worker ends, an entry whose failure is not reported, and an
// iterable that is taken from without end.
//
// Why it was possible: entries are copied into native memory a few at a time while threads write,
// so that a caller may change its Buffers, stop the process or abort the call at any point between.

/* global AbortController, AbortSignal, TextEncoder, setImmediate */

import assert from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import { getEventListeners } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { bulk, isWindows, makeDirectory, runScript, withoutAddon } from './support.mjs';

const directory = makeDirectory();
let directories = 0;
const fresh = () => fs.mkdtempSync(path.join(directory, `d${directories++}-`));
const text = (name) => fs.readFileSync(name, 'utf8');
const entriesIn = (target, count) => Array.from({ length: count }, (_, i) => [path.join(target, `f${i}`), `${i} \u20ac`.repeat(i % 40)]);
const packages = { native: bulk, 'without addon': withoutAddon(directory) };

for (const [which, own] of Object.entries(packages)) {
  const forms = { async: own.writeFiles, sync: async (...args) => own.writeFilesSync(...args) };
  for (const [form, write] of Object.entries(forms)) {
    const name = `${which}, ${form}`;

    test(`${name}: strings and views of every kind are written as by node:fs`, async () => {
      const target = fresh();
      const bytes = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);
      const data = ['', 'ascii', 'caf\u00e9', '\u20ac\u{1f41f}', 'lone \ud800 half', '\ufeffmark', 'x'.repeat(5e6), '\u4e2d'.repeat(2e6), Buffer.from('buffer'),
        bytes.subarray(2, 5), new DataView(bytes.buffer, 1, 3), new Float64Array([1.5]), new Uint16Array(bytes.buffer, 2, 2), new Uint8Array(new SharedArrayBuffer(4)), Buffer.alloc(0)];
      for (const encoding of [undefined, 'utf8', 'latin1', 'utf16le', 'hex', 'base64']) {
        const entries = data.map((one, i) => [path.join(target, `own${i}`), one]);
        assert.deepStrictEqual(await write(entries, { encoding }), { written: data.length, unchanged: 0 });
        for (const [i, one] of data.entries()) {
          fs.writeFileSync(path.join(target, 'theirs'), one, encoding);
          assert.ok(fs.readFileSync(entries[i][0]).equals(fs.readFileSync(path.join(target, 'theirs'))), `${i} as ${encoding}`);
        }
      }
    });

    test(`${name}: entries may be Maps or generators of URLs and Buffers, thousands of files or none`, async () => {
      const target = fresh();
      const entries = entriesIn(target, 3000);
      assert.deepStrictEqual(await write(new Map(entries)), { written: 3000, unchanged: 0 });
      for (const [file, data] of entries) assert.strictEqual(text(file), data);
      const odd = path.join(target, 'n\u00e4me');
      await write((function* () { yield [pathToFileURL(`${odd}1`), '1']; yield [Buffer.from(`${odd}2`), '2']; })());
      assert.deepStrictEqual([text(`${odd}1`), text(`${odd}2`)], ['1', '2']);
      assert.deepStrictEqual(await write([]), { written: 0, unchanged: 0 });
      assert.deepStrictEqual(await write(new Set(), { settle: true }), []);
    });

    test(`${name}: the last of several entries for one path wins`, async () => {
      const target = fresh();
      const entries = Array.from({ length: 5000 }, (_, i) => [path.join(target, `f${i % 7}`), `${i}`.repeat(5000 - i)]);
      await write(entries, { threads: 4 });
      for (const [file, data] of entries.slice(-7)) assert.ok(text(file) === data);
    });

    test(`${name}: createParents, onlyIfChanged, createNew and mode do what they say`, async () => {
      const target = fresh();
      const deep = Array.from({ length: 300 }, (_, i) => [path.join(target, 'a', `b${i % 5}`, `c${i % 9}`, `${i}`), `${i}`]);
      await assert.rejects(write(deep), { code: 'ENOENT' });
      assert.deepStrictEqual(await write(deep, { createParents: true }), { written: 300, unchanged: 0 });
      const old = new Date(1e12);
      for (const [file] of deep) fs.utimesSync(file, old, old);
      deep[7][1] = 'new';
      deep[8][1] = '9'; // of the same length
      assert.deepStrictEqual(await write(deep, { onlyIfChanged: true }), { written: 2, unchanged: 298 });
      for (const [i, [file, data]] of deep.entries()) {
        assert.strictEqual(text(file), data);
        assert.strictEqual(fs.statSync(file).mtimeMs === 1e12, i !== 7 && i !== 8, file);
      }
      await assert.rejects(write([deep[0]], { createNew: true }), { code: 'EEXIST', path: deep[0][0] });
      const umask = process.umask(0o022);
      await write([[path.join(target, 'script'), '']], { mode: 0o777, createNew: true });
      process.umask(umask);
      assert.strictEqual(fs.statSync(path.join(target, 'script')).mode & 0o777, isWindows ? 0o666 : 0o755);
    });

    test(`${name}: a failure stops nothing, and the first one is thrown; settle gives each`, async () => {
      const target = fresh();
      const entries = entriesIn(target, 1000);
      entries[10][0] = path.join(target, 'none', 'at', 'all');
      entries[500][0] = target;
      await assert.rejects(write(entries), { code: 'ENOENT', syscall: 'open', path: entries[10][0] });
      assert.strictEqual(fs.readdirSync(target).length, 998);
      const outcomes = await write(entries, { settle: true });
      assert.deepStrictEqual(outcomes[0], { status: 'fulfilled', value: 'written' });
      assert.deepStrictEqual(outcomes.flatMap(({ status, reason }, i) => (status === 'rejected' ? [[i, reason.code]] : [])), [[10, 'ENOENT'], [500, 'EISDIR']]);
    });

    test(`${name}: failFast stops an endless iterable`, async () => {
      const target = fresh();
      let taken = 0;
      let closed = 0;
      function* endless() {
        try {
          for (;;) yield [path.join(target, taken++ === 2000 ? 'none/x' : `f${taken % 100}`), 'x'];
        } finally {
          closed += 1;
        }
      }
      await assert.rejects(write(endless(), { failFast: true, maxInFlight: 1000 }), { code: 'ENOENT' });
      assert.strictEqual(closed, 1);
    });

    test(`${name}: a wrong entry is refused, and entries before it are written`, async () => {
      const target = fresh();
      const good = entriesIn(target, 5);
      const error = new Error('on purpose');
      const wrong = [
        [undefined, /An entry must be an array of a path and data.*undefined/], ['ab', /An entry must be an array.*'ab'/], [{}, /An entry must be an array/],
        [[path.join(target, 'x')], /Data must be a string, a Buffer.*undefined/], [['x', 7], /Data must be.*7/], [['x', {}], /Data must be/], [['x', new ArrayBuffer(1)], /Data must be/],
        [[7, 'x'], /A path must be/], [['a\0b', 'x'], /without null bytes/],
      ];
      for (const [entry, message] of wrong) {
        // Closing may be left for later, and under Wine the name would go when that is done: from
        // the next file.
        bulk.drainClosesSync();
        for (const [file] of good) fs.rmSync(file, { force: true });
        await assert.rejects(write([...good, entry, good[0]]), { name: 'TypeError', message, code: /^ERR_INVALID_ARG/ });
        for (const [file, data] of good) assert.strictEqual(text(file), data);
      }
      await assert.rejects(write((function* () { yield good[0]; throw error; })()), (thrown) => thrown === error);
      for (const [args, message] of [
        [[undefined], /"entries" argument/], [[{ a: 'b' }], /"entries" argument/], [['text'], /"entries" argument/], [[[], { mode: 'rw' }], /"mode" option.*'rw'/], [[[], { mode: true }], /"mode" option/],
        [[[], { createNew: true, onlyIfChanged: true }], /exclude each other/], [[[], { failFast: 1 }], /"failFast" option/], [[[], { encoding: 'x' }], /"encoding" option/],
      ]) await assert.rejects(write(...args), { name: 'TypeError', message });
    });

    test(`${name}: an iterable that throws when it is closed hides no error and stops no entry`, async () => {
      const target = fresh();
      const file = path.join(target, 'good');
      const untidy = function* (last) { try { yield [file, 'good']; for (;;) yield last; } finally { fs.writeFileSync(path.join(target, 'cleaned'), ''); throw new Error('untidy'); } }; // eslint-disable-line no-unsafe-finally
      await assert.rejects(write(untidy('wrong')), { code: 'ERR_INVALID_ARG_TYPE' });
      assert.strictEqual(text(file), 'good');
      assert.ok(fs.existsSync(path.join(target, 'cleaned')));
      await assert.rejects(write(untidy([path.join(target, 'none', 'x'), '']), { failFast: true }), { code: 'ENOENT' });
    });

    test(`${name}: failFast with settle tells cancelled entries from failed ones`, async () => {
      const target = fresh();
      const entries = entriesIn(target, 1000);
      entries[0][0] = path.join(target, 'none', 'x');
      const outcomes = await write(entries, { failFast: true, settle: true, threads: 1 });
      assert.strictEqual(outcomes[0].reason.code, 'ENOENT');
      assert.ok(outcomes.length === 1000);
      const codes = new Set(outcomes.slice(1).map(({ reason }) => reason?.code));
      codes.delete(undefined);
      assert.deepStrictEqual([...codes], ['ERR_SMALLFRY_CANCELLED']);
      for (const [i, { status }] of outcomes.entries()) assert.strictEqual(fs.existsSync(entries[i][0]), status === 'fulfilled');
      assert.doesNotMatch(outcomes.at(-1).reason.stack, /\n/, 'no frames');
    });

    test(`${name}: modes, encodings and paths may have each form that node:fs takes`, async () => {
      const target = fresh();
      const umask = process.umask(0);
      for (const mode of ['644', '0600', 0o751, 0, null, undefined, 0o100640]) {
        const [own, theirs] = ['own', 'theirs'].map((file) => path.join(target, file));
        await write([[own, 'x']], { mode });
        fs.writeFileSync(theirs, 'x', { mode });
        assert.strictEqual(fs.statSync(own).mode, fs.statSync(theirs).mode, `${mode}`);
        bulk.drainClosesSync();
        for (const file of [own, theirs]) fs.rmSync(file);
      }
      process.umask(umask);
      for (const mode of ['9', '', 'rwx', -1, 2 ** 32, 1.5, NaN, true, {}, '77777777777777']) {
        const theirs = (() => { try { return fs.writeFileSync(path.join(target, 'x'), '', { mode }); } catch (error) { return error; } })();
        await assert.rejects(write([], { mode }), { name: theirs.name, code: theirs.code }, `${mode}`);
      }
      const file = path.join(target, 'n\u00e4me');
      await write([[new TextEncoder().encode(file), 'caf\u00e9']], { encoding: '' });
      assert.strictEqual(text(file), 'caf\u00e9');
      await assert.rejects(write([[Buffer.from([0xff]), '']]), { code: 'ERR_INVALID_ARG_TYPE', message: /Buffer of UTF-8/ });
    });
  }

  test(`${which}: writeFiles rejects for wrong arguments and never throws`, async () => {
    const call = own.writeFiles(undefined);
    await assert.rejects(call, TypeError);
    assert.throws(() => own.writeFilesSync(undefined), TypeError);
  });

  test(`${which}: a signal aborts before and during the call, and then nothing is in flight`, async () => {
    const reason = new Error('on purpose');
    const is = (error) => error === reason;
    const target = fresh();
    await assert.rejects(own.writeFiles(entriesIn(target, 3), { signal: AbortSignal.abort(reason) }), is);
    assert.deepStrictEqual(fs.readdirSync(target), []);
    const midway = new AbortController();
    await assert.rejects(own.writeFiles(entriesIn(target, 3000), { signal: midway.signal, maxInFlight: 1000, onProgress: () => midway.abort(reason) }), is);
    assert.strictEqual(getEventListeners(midway.signal, 'abort').length, 0);
    assert.ok(fs.readdirSync(target).length < 3000);
    fs.rmSync(target, { recursive: true });
    const within = new AbortController();
    let closed = 0;
    const entries = (function* () { try { for (;;) { yield [path.join(directory, 'w'), 'x']; within.abort(reason); } } finally { closed += 1; } })();
    await assert.rejects(own.writeFiles(entries, { signal: within.signal }), is);
    assert.strictEqual(closed, 1);
  });

  test(`${which}: progress grows up to the total, and the context is kept, in the iterable too`, async () => {
    const target = fresh();
    const entries = entriesIn(target, 2500);
    const bytes = entries.reduce((sum, [, data]) => sum + Buffer.byteLength(data), 0);
    const storage = new AsyncLocalStorage();
    const seen = [];
    const contexts = new Set();
    await storage.run('kept', async () => {
      const giving = (function* () { for (const entry of entries) { contexts.add(storage.getStore()); yield entry; } })();
      await own.writeFiles(giving, { maxInFlight: 2000, onProgress: (progress) => { contexts.add(storage.getStore()); seen.push(progress); } });
    });
    assert.deepStrictEqual(seen.at(-1), { done: 2500, total: 2500, bytes });
    for (const [i, progress] of seen.entries()) if (i > 0) for (const key of ['done', 'total', 'bytes']) assert.ok(progress[key] >= seen[i - 1][key], key);
    assert.deepStrictEqual([...contexts], ['kept']);
  });
}

test('an endless iterable of empty files does not block the event loop', async () => {
  const target = fresh();
  const controller = new AbortController();
  const reason = new Error('on purpose');
  let taken = 0;
  const entries = (function* () { for (;;) yield [path.join(target, `f${taken++ % 10}`), '']; })();
  const call = bulk.writeFiles(entries, { signal: controller.signal });
  const atFirst = taken;
  setImmediate(() => controller.abort(reason));
  await assert.rejects(call, (error) => error === reason);
  assert.ok(atFirst < 20_000, `${atFirst} taken at once`);
});

test('a process ends by itself whatever an iterable throws when it is closed', async () => {
  const { code, stdout, stderr } = await runScript(directory, `
    const untidy = function* (last) { try { for (;;) yield last; } finally { throw new Error('untidy'); } };
    const told = [];
    (async () => {
      await bulk.writeFiles(untidy('wrong')).catch((error) => told.push(error.code));
      const controller = new AbortController();
      const call = bulk.writeFiles(untidy([path.join(directory, 'aborted'), 'x']), { signal: controller.signal });
      controller.abort();
      await call.catch((error) => told.push(error.name));
      await bulk.writeFiles(untidy([path.join(directory, 'none', 'x'), 'x']), { failFast: true }).catch((error) => told.push(error.code));
      console.log(told.join());
    })();`);
  assert.deepStrictEqual([stdout, code], ['ERR_INVALID_ARG_TYPE,AbortError,ENOENT\n', 0], stderr);
});

test('changes to data after the call are not written', async () => {
  const target = fresh();
  const buffers = Array.from({ length: 500 }, () => Buffer.alloc(10_000, 'a'));
  const call = bulk.writeFiles(buffers.map((buffer, i) => [path.join(target, `${i}`), buffer]));
  for (const buffer of buffers) buffer.fill('b');
  await call;
  for (const i of buffers.keys()) assert.ok(text(path.join(target, `${i}`)) === 'a'.repeat(10_000), `${i}`);
});

test('writeFiles takes no more than maxInFlight bytes ahead of writing', async () => {
  const target = fresh();
  let taken = 0;
  let done = 0;
  let most = 0;
  const entries = (function* () { for (; taken < 300;) { taken += 1; most = Math.max(most, taken - done); yield [path.join(target, `${taken}`), Buffer.alloc(100_000)]; } })();
  await bulk.writeFiles(entries, { maxInFlight: 1_000_000, onProgress: (progress) => ({ done } = progress) });
  assert.strictEqual(done, 300);
  assert.ok(most <= 21, `${most} taken ahead`);
});

for (const [what, end] of Object.entries({
  'process.exit()': 'process.exit(0);',
  'process.exit() in the next turn': 'setImmediate(() => process.exit(0));',
  'the natural end': '',
})) {
  test(`entries of writeFiles are written after ${what}, in a worker too`, async () => {
    const target = fresh();
    const source = (inWorker) => `const { Worker, isMainThread } = require('node:worker_threads');
      const target = path.join(${JSON.stringify(target)}, '${inWorker}'); fs.mkdirSync(target, { recursive: true });
      if (${inWorker} && isMainThread) new Worker(__filename);
      else { bulk.writeFiles(Array.from({ length: 800 }, (_, i) => [path.join(target, 'f' + i), 'x'.repeat(5000)])); ${end} }`;
    for (const inWorker of [false, true]) {
      const { code, signal, stderr } = await runScript(directory, source(inWorker));
      assert.deepStrictEqual([code, signal], [0, null], stderr);
      for (let i = 0; i < 800; i += 1) assert.strictEqual(fs.statSync(path.join(target, String(inWorker), `f${i}`)).size, 5000);
    }
  });
}

test('worker.terminate() during writeFiles leaves taken entries whole', async () => {
  const target = fresh();
  const { code, signal, stdout, stderr } = await runScript(directory, `const { Worker, isMainThread, parentPort } = require('node:worker_threads');
    if (isMainThread) { const worker = new Worker(__filename); worker.on('message', () => worker.terminate()); worker.on('exit', () => console.log('ended')); }
    else { bulk.writeFiles(Array.from({ length: 2000 }, (_, i) => [path.join(${JSON.stringify(target)}, 'f' + i), 'x'.repeat(3000)])); parentPort.postMessage(1); }`);
  assert.deepStrictEqual([code, signal, stdout], [0, null, 'ended\n'], stderr);
  const names = fs.readdirSync(target);
  assert.strictEqual(names.length, 2000);
  for (const name of names) assert.strictEqual(fs.statSync(path.join(target, name)).size, 3000);
});
