// Guards against: contents that differ from what node:fs reads, or that land at another file's
// place; a call that never settles, settles twice, or throws where it should reject; results that
// share memory; and an event loop, a descriptor table or a worker thread that suffers while many
// files are read.
//
// Why it was possible: files are read out of order by threads, several small ones into one piece of
// memory, and become values a few at a time between turns of the event loop, so that order,
// ownership and the end are ours to keep. Everything that holds without the native addon too is
// tried with and without it.

/* global AbortController, AbortSignal, TextEncoder, performance, structuredClone */

import assert from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFileSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import {
  bulk, chance, isWindows, makeDirectory, needs, packageDirectory, runNode, runScript, seed, testNeeding, testOnUnix, turn, withoutAddon,
} from './support.mjs';

const directory = makeDirectory();
const at = (...names) => path.join(directory, ...names);
const packages = { native: bulk, 'without addon': withoutAddon(directory) };

/** Files of every kind of text, with their paths. */
const KINDS = {
  empty: Buffer.alloc(0),
  ascii: Buffer.from('plain text\n'.repeat(50)),
  page: Buffer.alloc(4096, 'a'),
  'page-and-one': Buffer.alloc(4097, 'b'),
  latin: Buffer.from('caf\u00e9 \u00fc\u00df '.repeat(100)),
  wide: Buffer.from('\u20ac \u{1f41f} \u4e2d'.repeat(300)),
  bom: Buffer.from('\ufeffwith a mark'),
  'only-bom': Buffer.from('\ufeff'),
  invalid: Buffer.from([0x61, 0xff, 0xc3, 0x28, 0xe2, 0x82, 0x62, 0xed, 0xa0, 0x80]),
  'cut-short': Buffer.from('abc\u20ac').subarray(0, 5),
  nul: Buffer.from('a\0b\0\0c'),
  binary: Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 31) & 0xff)),
  'some-mib': Buffer.alloc((4 << 20) + 3, 'large '),
  'some-mib-wide': Buffer.from('\u4e2d'.repeat(1_600_000)),
};
for (const [name, bytes] of Object.entries(KINDS)) fs.writeFileSync(at(name), bytes);
const kinds = Object.keys(KINDS).map((name) => at(name));

fs.mkdirSync(at('many'));
const many = Array.from({ length: 3000 }, (_, index) => at('many', `f${index}`));
for (const [index, name] of many.entries()) fs.writeFileSync(name, `${index}:${'x'.repeat((index * 37) % 900)}`);
const manyTexts = many.map((name) => fs.readFileSync(name, 'utf8'));

for (const [which, own] of Object.entries(packages)) {
  test(`${which}: contents are those of node:fs, in the order of paths, in each encoding`, async () => {
    for (const encoding of [null, undefined, 'utf8', 'utf-8', 'UTF8', 'latin1', 'ascii', 'hex', 'base64', 'base64url', 'utf16le', 'ucs2', 'binary']) {
      const expected = kinds.map((name) => fs.readFileSync(name, encoding));
      assert.deepStrictEqual(await own.readFiles(kinds, { encoding }), expected, `${encoding}`);
      assert.deepStrictEqual(own.readFilesSync(kinds, { encoding }), expected, `${encoding}, sync`);
      assert.deepStrictEqual(await own.readFiles(kinds, encoding), expected, `${encoding}, in place of options`);
    }
  });

  test(`${which}: thousands of files, shuffled and repeated, are read by any number of threads`, async () => {
    const dice = chance(seed);
    const places = Array.from({ length: 5000 }, () => dice.below(many.length));
    const paths = places.map((place) => many[place]);
    const expected = places.map((place) => manyTexts[place]);
    for (const threads of [undefined, 1, 2, 7]) {
      assert.deepStrictEqual(await own.readFiles(paths, { encoding: 'utf8', threads }), expected);
      assert.deepStrictEqual(own.readFilesSync(paths, { encoding: 'utf8', threads }), expected);
    }
    assert.deepStrictEqual(await own.readFiles(paths, { encoding: 'utf8', maxInFlight: 1 }), expected);
  });

  test(`${which}: no paths give an empty array`, async () => {
    for (const none of [[], new Set(), (function* () {})()]) assert.deepStrictEqual(await own.readFiles(none), []);
    assert.deepStrictEqual(own.readFilesSync([]), []);
    const seen = [];
    assert.deepStrictEqual(await own.readFiles([], { settle: true, onProgress: (progress) => seen.push(progress) }), []);
    assert.deepStrictEqual(seen.at(-1), { done: 0, total: 0, bytes: 0 });
  });

  test(`${which}: paths may be iterables of URLs, Buffers and relative paths`, async () => {
    const three = kinds.slice(1, 4);
    const expected = three.map((name) => fs.readFileSync(name));
    const forms = [
      new Set(three), three.values(), new Map(three.entries()).values(), (function* () { yield* three; })(),
      three.map((name) => pathToFileURL(name)), three.map((name) => Buffer.from(name)), three.map((name) => path.relative('', name)),
    ];
    for (const paths of forms) assert.deepStrictEqual(await own.readFiles(paths), expected);
    assert.deepStrictEqual(own.readFilesSync(new Set(three)), expected);
    const odd = at(`n\u00e4me \u{1f41f}${isWindows ? '' : '\n'}`);
    fs.writeFileSync(odd, 'odd');
    assert.deepStrictEqual(await own.readFiles([odd, pathToFileURL(odd)], 'utf8'), ['odd', 'odd']);
  });

  test(`${which}: any Uint8Array may hold a path, and falsy encodings are none`, async () => {
    const bytes = new TextEncoder().encode(kinds[1]);
    for (const encoding of ['', null]) {
      assert.deepStrictEqual(await own.readFiles([bytes], { encoding }), [KINDS.ascii]);
      assert.deepStrictEqual(own.readFilesSync([bytes], encoding), [KINDS.ascii]);
    }
    await assert.rejects(own.readFiles([Buffer.from([0xff])]), { code: 'ERR_INVALID_ARG_TYPE', message: /Buffer of UTF-8/ });
  });

  test(`${which}: after an exception or a wrong path the iterable is closed, and nothing is read`, async () => {
    const error = new Error('on purpose');
    function* breaking() {
      yield kinds[0];
      throw error;
    }
    await assert.rejects(own.readFiles(breaking()), (thrown) => thrown === error);
    assert.throws(() => own.readFilesSync(breaking()), (thrown) => thrown === error);
    let closed = 0;
    function* bad() {
      try {
        yield kinds[0];
        yield 7;
      } finally {
        closed += 1;
      }
    }
    await assert.rejects(own.readFiles(bad()), { code: 'ERR_INVALID_ARG_TYPE' });
    assert.throws(() => own.readFilesSync(bad()), { code: 'ERR_INVALID_ARG_TYPE' });
    assert.strictEqual(closed, 2);
  });

  test(`${which}: wrong arguments reject, or throw in the blocking call, with what is wrong`, async () => {
    const wrong = [
      [[undefined], /"paths" argument must be an iterable.*Received undefined/],
      [['text'], /"paths" argument must be an iterable, other than a string.*'text'/],
      [[{}], /"paths" argument must be an iterable/],
      [[7], /"paths" argument must be an iterable/],
      [[['a\0b']], /without null bytes.*a\\x00b/],
      [[[Buffer.from('a\0b')]], /without null bytes/],
      [[[undefined]], /A path must be a string.*undefined/],
      [[[Object.create(null)]], /A path must be a string/],
      [[[Symbol('s')]], /A path must be a string.*Symbol\(s\)/],
      [[[new URL('http://example.org/')]], /file: URL/],
      [[[Buffer.from([0x61, 0xff])]], /Buffer of UTF-8/],
      [[[], 7], /"options" argument must be an object or the name of an encoding/],
      [[[], 'utf9'], /"encoding" option must be the name of an encoding.*'utf9'/],
      [[[], { encoding: 7 }], /"encoding" option.*7/],
      [[[], { settle: 'yes' }], /"settle" option must be true or false.*'yes'/],
      [[[], { threads: 0 }], /"threads" option must be a whole number from 1 up.*0/],
      [[[], { threads: 1.5 }], /"threads" option/],
      [[[], { maxInFlight: -1 }], /"maxInFlight" option/],
      [[[], { maxInFlight: NaN }], /"maxInFlight" option/],
      [[[], { maxFileSize: '1' }], /"maxFileSize" option/],
      [[[], { signal: {} }], /"signal" option must be an AbortSignal/],
      [[[], { signal: { aborted: false } }], /"signal" option must be an AbortSignal/],
      [[[], { signal: null }], /"signal" option must be an AbortSignal/],
      [[[], { onProgress: true }], /"onProgress" option must be a function/],
    ];
    for (const [args, message] of wrong) {
      const expected = { name: 'TypeError', message, code: /^ERR_INVALID_ARG_(TYPE|VALUE)$/ };
      let promise;
      assert.doesNotThrow(() => { promise = own.readFiles(...args); });
      await assert.rejects(promise, expected);
      assert.throws(() => own.readFilesSync(...args), expected);
      await assert.rejects(async () => { for await (const one of own.readFilesStream(...args)) assert.ok(one); }, expected);
    }
  });

  test(`${which}: an unreadable file fails as in node:fs, at its place`, async () => {
    fs.mkdirSync(at(`dir-${which}`));
    const bad = [at('none'), at(`dir-${which}`), at('ascii', 'below'), '', at('x'.repeat(300))];
    const paths = bad.flatMap((name) => [at('ascii'), name]);
    for (const outcomes of [await own.readFiles(paths, { settle: true, encoding: 'utf8' }), own.readFilesSync(paths, { settle: true, encoding: 'utf8' })]) {
      assert.strictEqual(outcomes.length, paths.length);
      for (const [index, outcome] of outcomes.entries()) {
        if (index % 2 === 0) {
          assert.deepStrictEqual(outcome, { status: 'fulfilled', value: KINDS.ascii.toString() });
          continue;
        }
        const [theirs] = await Promise.allSettled([fs.promises.readFile(paths[index])]);
        assert.deepStrictEqual(Object.keys(outcome), ['status', 'reason']);
        for (const key of ['code', 'errno', 'syscall']) assert.strictEqual(outcome.reason[key], theirs.reason[key], paths[index]);
        assert.ok(outcome.reason instanceof Error);
      }
    }
    for (const name of bad) {
      const { code } = await fs.promises.readFile(name).catch((error) => error);
      await assert.rejects(own.readFiles([at('ascii'), name, at('ascii')]), { code });
      assert.throws(() => own.readFilesSync([at('ascii'), name]), (error) => error.code === code && /read-files.test/.test(error.stack));
    }
  });

  test(`${which}: the first of several failures is thrown`, async () => {
    const paths = many.flatMap((name, index) => (index % 100 === 50 ? [at(`none-${index}`)] : [name]));
    const failed = await own.readFiles(paths, { threads: 1 }).catch((error) => error);
    assert.deepStrictEqual([failed.code, failed.path], ['ENOENT', at('none-50')]);
    const failedSync = (() => { try { return own.readFilesSync(paths, { threads: 1 }); } catch (error) { return error; } })();
    assert.deepStrictEqual([failedSync.code, failedSync.path], ['ENOENT', at('none-50')]);
    const outcomes = await own.readFiles(paths, { settle: true });
    assert.strictEqual(outcomes.filter(({ status }) => status === 'rejected').length, 30);
  });

  test(`${which}: a file over maxFileSize is refused and not read`, async () => {
    fs.writeFileSync(at('sparse'), '');
    fs.truncateSync(at('sparse'), 10 * 2 ** 30);
    for (const encoding of [null, 'utf8']) {
      const [sparse, good] = await own.readFiles([at('sparse'), at('ascii')], { settle: true, encoding });
      assert.strictEqual(sparse.reason.code, 'ERR_FS_FILE_TOO_LARGE');
      assert.strictEqual(good.status, 'fulfilled');
    }
    const limited = { maxFileSize: KINDS.ascii.length, settle: true };
    for (const [exact, over] of [await own.readFiles([at('ascii'), at('page')], limited), own.readFilesSync([at('ascii'), at('page')], limited)]) {
      assert.strictEqual(exact.status, 'fulfilled');
      assert.strictEqual(over.reason.code, 'ERR_FS_FILE_TOO_LARGE');
      assert.match(over.reason.message, /page.* 4096 .*550/);
    }
    fs.rmSync(at('sparse'));
  });

  test(`${which}: a signal aborts before and during the call, and never after`, async () => {
    const reason = new Error('on purpose');
    const is = (error) => error === reason;
    let asked = false;
    const paths = { *[Symbol.iterator]() { asked = true; yield kinds[0]; } };
    await assert.rejects(own.readFiles(paths, { signal: AbortSignal.abort(reason) }), is);
    assert.ok(!asked, 'nothing is taken from the iterable');
    for (const settle of [false, true]) {
      const midway = new AbortController();
      let reports = 0;
      const onProgress = () => { reports += 1; midway.abort(reason); };
      await assert.rejects(own.readFiles(many, { signal: midway.signal, onProgress, settle }), is);
      assert.strictEqual(reports, 1, 'no news of what is aborted');
      assert.strictEqual(getEventListeners(midway.signal, 'abort').length, 0);
    }
    const within = new AbortController();
    await assert.rejects(own.readFiles((function* () { yield kinds[0]; within.abort(reason); yield kinds[1]; })(), { signal: within.signal }), is);
    const atOnce = new AbortController();
    const call = own.readFiles(many, { signal: atOnce.signal });
    atOnce.abort(reason);
    await assert.rejects(call, is);
    const after = new AbortController();
    assert.strictEqual((await own.readFiles(many, { signal: after.signal })).length, many.length);
    assert.strictEqual(getEventListeners(after.signal, 'abort').length, 0);
    after.abort();
    await assert.rejects(own.readFiles([at('none')], { signal: new AbortController().signal }), { code: 'ENOENT' });
  });

  test(`${which}: progress only grows, up to the total`, async () => {
    const seen = [];
    const results = await own.readFiles(many, { onProgress: (progress) => seen.push(progress) });
    const bytes = results.reduce((sum, { length }) => sum + length, 0);
    assert.deepStrictEqual(seen.at(-1), { done: many.length, total: many.length, bytes });
    for (const [index, { done, total, bytes: some }] of seen.entries()) {
      assert.strictEqual(total, many.length);
      if (index > 0) assert.ok(done >= seen[index - 1].done && some >= seen[index - 1].bytes);
    }
  });

  test(`${which}: asynchronous context is kept in onProgress and behind await`, async () => {
    const storage = new AsyncLocalStorage();
    const seen = new Set();
    const run = (name) => storage.run(name, async () => {
      await own.readFiles(many.slice(0, 500), { onProgress: () => seen.add(`${name} ${storage.getStore()}`) });
      return storage.getStore();
    });
    assert.deepStrictEqual(await Promise.all([run('one'), run('two')]), ['one', 'two']);
    assert.deepStrictEqual([...seen].sort(), ['one one', 'two two']);
  });

  test(`${which}: calls in flight at the same time do not mix`, async () => {
    const calls = Array.from({ length: 20 }, (_, call) => own.readFiles(many.slice(call * 100, call * 100 + 300), 'utf8'));
    for (const [call, texts] of (await Promise.all(calls)).entries()) assert.deepStrictEqual(texts, manyTexts.slice(call * 100, call * 100 + 300));
  });

  test(`${which}: Buffers are writable, share no memory, and can be transferred`, async () => {
    const buffers = await own.readFiles([...kinds, ...many.slice(0, 200)]);
    for (const [index, buffer] of buffers.entries()) {
      assert.ok(Buffer.isBuffer(buffer));
      if (buffer.length >= 4096) assert.strictEqual(buffer.buffer.byteLength, buffer.length, 'no neighbours in .buffer');
      buffer.fill(index & 0xff);
    }
    for (const [index, buffer] of buffers.entries()) assert.ok(buffer.every((byte) => byte === (index & 0xff)), `${index}`);
    const pages = (await own.readFiles([at('page'), at('page-and-one'), at('binary'), at('some-mib')])).map(({ buffer }) => buffer);
    const received = structuredClone(pages, { transfer: pages });
    assert.deepStrictEqual(pages.map(({ byteLength }) => byteLength), [0, 0, 0, 0]);
    assert.deepStrictEqual(Buffer.from(received[2]), KINDS.binary);
  });
}

test('files of more than 64 MiB are read as Buffers and as strings', async () => {
  const size = (64 << 20) + 5;
  fs.writeFileSync(at('huge'), Buffer.alloc(size, 'abcdefg'));
  const [one, two] = await bulk.readFiles([at('huge'), at('huge')], { maxInFlight: 1 << 20 });
  assert.strictEqual(one.length, size);
  assert.ok(one.equals(two) && one.equals(fs.readFileSync(at('huge'))));
  const [text] = bulk.readFilesSync([at('huge')], 'utf8');
  assert.ok(text === one.toString());
  fs.rmSync(at('huge'));
});

test('the event loop turns while files are read', async () => {
  let turns = 0;
  let reading = true;
  const counting = (async () => {
    while (reading) {
      await turn();
      turns += 1;
    }
  })();
  await bulk.readFiles(Array.from({ length: 5 }, () => many).flat(), { encoding: 'utf8', threads: 2 });
  reading = false;
  await counting;
  assert.ok(turns > 5, `${turns} turns`);
});

test('results that came while the program was busy become values over several turns', async () => {
  let reports = 0;
  let reading = true;
  const call = bulk.readFiles(Array.from({ length: 10 }, () => many).flat(), { maxInFlight: 1 << 30, onProgress: () => { reports += 1; } });
  const until = performance.now() + 300;
  while (performance.now() < until); // Threads read on meanwhile.
  let most = 0;
  const counting = (async () => {
    while (reading) {
      const before = reports;
      await turn();
      most = Math.max(most, reports - before);
    }
  })();
  await call;
  reading = false;
  await counting;
  assert.ok(most <= 8, `${most} reports in one turn`);
});

testNeeding(needs.mkfifo, 'outcomes of many files are made over several turns of the event loop', async () => {
  const pipe = at('pipe');
  execFileSync('mkfifo', [pipe]);
  const missing = Array.from({ length: 50_000 }, (_, i) => at('none', `${i}`));
  // All the others wait for the first one, so that what is done at the end is as much as can be.
  const paths = [pipe, ...missing, ...kinds];
  for (const options of [{ settle: true }, { settle: true, encoding: 'base64' }]) {
    let turns = 0;
    let reading = true;
    let isLast = false;
    const onProgress = ({ done, total }) => {
      turns = 0;
      if (done === total - 1 && !isLast) fs.writeFile(pipe, 'last', () => {});
      isLast = done === total - 1;
    };
    const counting = (async () => { for (; reading; turns += 1) await turn(); })();
    const [last, ...outcomes] = await bulk.readFiles(paths, { ...options, threads: 2, onProgress });
    reading = false;
    await counting;
    assert.ok(turns > 3, `${turns} turns`);
    assert.deepStrictEqual(last.value.toString(options.encoding), Buffer.from('last').toString(options.encoding));
    assert.ok(outcomes.slice(0, 50_000).every(({ reason }, i) => reason.code === 'ENOENT' && reason.path === missing[i]));
    assert.deepStrictEqual(outcomes.slice(50_000).map(({ value }) => value), kinds.map((name) => fs.readFileSync(name, options.encoding)));
  }
  await assert.rejects(bulk.readFiles(missing), { code: 'ENOENT', path: missing[0] });
});

test('paths too long to be joined are refused, and the process ends', async () => {
  const { code, stdout, stderr } = await runScript(directory, `const long = 'x'.repeat(1 << 20), paths = new Array(600).fill(long);
    const told = (error) => console.log(error.name);
    try { bulk.readFilesSync(paths); } catch (error) { told(error); }
    bulk.readFiles(paths).catch(told);
    let theirs; try { fs.writeFileSync(long, ''); } catch (error) { theirs = error.code; }
    bulk.writeFiles(paths.map((name) => [name, ''])).catch((error) => console.log(error.code === theirs, theirs));`);
  assert.match(stdout, /^RangeError\nRangeError\ntrue E.*\n$/, stderr);
  assert.strictEqual(code, 0, stderr);
});

testOnUnix('user without rights', 'files that may not be read fail as in node:fs', async () => {
  fs.chmodSync(directory, 0o755);
  fs.writeFileSync(at('secret'), 'x', { mode: 0 });
  const { stdout, stderr } = await runScript(directory, `const names = [${JSON.stringify(at('secret'))}, ${JSON.stringify(kinds[1])}];
    if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534); }
    (async () => {
      const pick = ({ reason, value }) => (reason ? [reason.message, reason.code, reason.errno, reason.syscall, reason.path] : value);
      const theirs = (await Promise.allSettled(names.map((name) => fs.promises.readFile(name, 'utf8')))).map(pick);
      const streamed = []; for await (const one of bulk.readFilesStream(names, { settle: true, encoding: 'utf8' })) streamed.push(one);
      const own = [await bulk.readFiles(names, { settle: true, encoding: 'utf8' }), bulk.readFilesSync(names, { settle: true, encoding: 'utf8' }), streamed];
      const tree = await bulk.readTree(${JSON.stringify(directory)}, { match: 'secret' }).catch((error) => error);
      console.log(theirs[0][1], own.every((outcomes) => JSON.stringify(outcomes.map(pick)) === JSON.stringify(theirs)), tree.code, tree.path);
    })();`);
  assert.strictEqual(stdout, `EACCES true EACCES ${at('secret')}\n`, stderr);
});

test('Buffers that a worker has sent outlive it', async () => {
  const { code, signal, stdout, stderr } = await runScript(directory, `
    const { Worker, isMainThread, parentPort } = require('node:worker_threads');
    const paths = ${JSON.stringify([at('page'), at('page-and-one'), at('binary'), at('some-mib')])};
    if (!isMainThread) bulk.readFiles(Array.from({ length: 25 }, () => paths).flat()).then((read) => {
      const whole = read.filter(({ buffer, length }) => buffer.byteLength === length);
      parentPort.postMessage(whole, whole.map(({ buffer }) => buffer));
      setInterval(() => {}, 1000);
    });
    else (async () => {
      const { once } = require('node:events');
      const worker = new Worker(__filename);
      const [received] = await once(worker, 'message');
      await worker.terminate();
      for (let i = 0; i < 5; i += 1) await bulk.readFiles(paths);
      const expected = new Set(paths.map((name) => fs.readFileSync(name, 'latin1')));
      console.log(received.length, received.every((bytes) => expected.has(Buffer.from(bytes.buffer).latin1Slice())));
    })();`);
  assert.deepStrictEqual([signal, code, stdout], [null, 0, '100 true\n'], stderr);
});

test('an exception in onProgress is uncaught, and the call goes on', async () => {
  const { code, stdout, stderr } = await runScript(directory, `
    const thrown = []; process.on('uncaughtException', (error) => thrown.push(error.message));
    const paths = ${JSON.stringify(many.slice(0, 300))};
    const onProgress = () => { throw new Error('on purpose'); };
    (async () => {
      const read = await bulk.readFiles(paths, { onProgress });
      let streamed = 0;
      for await (const one of bulk.readFilesStream(paths, { onProgress })) streamed += one.index >= 0 ? 1 : 0;
      const wrote = await bulk.writeFiles(read.map((data, i) => [path.join(directory, 'again' + i), data]), { onProgress });
      const tree = await bulk.readTree(path.dirname(paths[0]), { onProgress });
      setImmediate(() => console.log(read.length, streamed, wrote.written, tree.length, thrown.length >= 4, new Set(thrown).size));
    })();`);
  assert.strictEqual(stderr, '');
  assert.strictEqual(stdout, `300 300 300 ${many.length} true 1\n`);
  assert.strictEqual(code, 0);
});

testNeeding(needs.proc, '5,000 files are read with 64 descriptors, and none stays open', async () => {
  const script = at('limited.cjs');
  const index = JSON.stringify(path.join(packageDirectory, 'dist', 'index.js'));
  fs.writeFileSync(script, `const bulk = require(${index}), fs = require('fs'); const open = () => fs.readdirSync('/proc/self/fd').length;
    const paths = Array.from({ length: 5000 }, (_, i) => ${JSON.stringify(at('many', 'f'))} + i % 3000);
    (async () => {
      await bulk.readFiles(paths.slice(0, 10));
      const before = open();
      const counts = [(await bulk.readFiles(paths, { threads: 24 })).length, bulk.readFilesSync(paths, { threads: 24 }).length, (await bulk.readFiles(paths)).length];
      let streamed = 0; for await (const one of bulk.readFilesStream(paths, { threads: 24 })) streamed += one.contents.length > 0 ? 1 : 0;
      await bulk.readFiles(paths.concat('/none')).catch(() => {});
      console.log(counts.join(), streamed, open() - before);
    })();`);
  const { stdout, stderr } = await runNode(['-c', 'ulimit -n 64; exec "$@"', 'sh', process.execPath, script], { command: 'sh' });
  assert.strictEqual(stdout, '5000,5000,5000 5000 0\n', stderr);
});

test('register does not change readFiles', async () => {
  const { stdout, stderr } = await runScript(directory, `const names = ${JSON.stringify(kinds)};
    const before = names.map((name) => fs.readFileSync(name, 'utf8'));
    require(${JSON.stringify(path.join(packageDirectory, 'dist', 'register.js'))});
    bulk.readFiles(names, 'utf8').then((texts) => console.log(texts.every((text, i) => text === before[i])));`);
  assert.strictEqual(stdout, 'true\n', stderr);
});

test('a worker that reads may be terminated at any moment', async () => {
  const { code, signal, stdout, stderr } = await runScript(directory, `
    const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');
    const paths = ${JSON.stringify(many)};
    if (!isMainThread) {
      (async () => {
        for (let i = 0; ; i += 1) {
          const texts = await bulk.readFiles(paths, i % 2 ? 'utf8' : null);
          let streamed = 0;
          for await (const one of bulk.readFilesStream(paths)) if (streamed++ > 50) break;
          if (i === 0) parentPort.postMessage(texts.length);
          if (i === 1 && !workerData) return;
        }
      })();
    } else (async () => {
      const { once } = require('node:events');
      const calm = new Worker(__filename, { workerData: 0 });
      console.log((await once(calm, 'message'))[0], (await once(calm, 'exit'))[0]);
      for (let round = 0; round < 12; round += 1) {
        const worker = new Worker(__filename, { workerData: 1 });
        if (round % 2) await once(worker, 'online'); else await once(worker, 'message');
        await new Promise((resolve) => setTimeout(resolve, round));
        await worker.terminate();
      }
      console.log('alive', (await bulk.readFiles(paths)).length);
    })();`);
  assert.strictEqual(signal, null, stderr);
  assert.deepStrictEqual([stdout, code], ['3000 0\nalive 3000\n', 0], stderr);
});

test('process.exit() may come while files are read', async () => {
  for (const end of ['process.exit(3)', 'setTimeout(() => process.exit(3), 2)', 'setImmediate(() => process.exit(3))']) {
    const { code, signal, stderr } = await runScript(directory, `bulk.readFiles(${JSON.stringify(many)}, 'utf8'); ${end};`);
    assert.deepStrictEqual([code, signal], [3, null], stderr);
  }
});

test('each file that grows, shrinks or vanishes while it is read has an outcome', async () => {
  const names = Array.from({ length: 200 }, (_, index) => at(`moving-${index}`));
  for (const name of names) fs.writeFileSync(name, 'y'.repeat(20_000));
  let reading = true;
  const moving = (async () => {
    for (let i = 0; reading; i += 1) {
      const name = names[i % names.length];
      try {
        if (i % 3 === 0) fs.writeFileSync(name, 'y'.repeat(50_000));
        else if (i % 3 === 1) fs.truncateSync(name, 10);
        else fs.rmSync(name);
        if (!fs.existsSync(name)) fs.writeFileSync(name, 'y');
      } catch (error) {
        // On Windows a removed file is in the way, or takes its successor with it, until the last
        // reader has closed it.
        if (!isWindows) throw error;
      }
      if (i % 10 === 0) await turn();
    }
  })();
  for (let round = 0; round < 10; round += 1) {
    const outcomes = await bulk.readFiles(names, { settle: true, encoding: round % 2 ? 'utf8' : null, threads: 3 });
    assert.strictEqual(outcomes.length, names.length);
    for (const { status, value, reason } of outcomes) {
      if (status === 'rejected') assert.match(reason.code, isWindows ? /^(ENOENT|EPERM|EBUSY)$/ : /^ENOENT$/);
      // Torn reads are the system's: what a read finds between a truncation and what follows it is
      // zeroes.
      else assert.match(value.toString(), /^[y\0]*$/u);
    }
  }
  reading = false;
  await moving;
});
