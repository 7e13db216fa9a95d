// Guards against: wrong contents, a wrong error or a lost descriptor where a file is not an
// ordinary one - devices, FIFOs and pipes, files of /proc that say they are empty, full disks - and
// against text that differs from Node's where a file's bytes are not UTF-8.
//
// Why it was possible: native code asks for a file's size and reads that much, repeats partial
// writes by itself, and decodes by itself. For special files the size says nothing, a write takes a
// part or fails in the middle, and each way out has to close what was opened here and nothing that
// was lent.

/* global setTimeout */

import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import {
  chance, isWindows, makeDirectory, needs, openDescriptors, packageDirectory, runNode, runScript, seed, smallfry, testNeeding, testOnUnix, turn,
} from './support.mjs';

const directory = makeDirectory();
const at = (name) => path.join(directory, name);
const fifo = (name) => (execFileSync('mkfifo', [at(name)]), at(name));

/** Returns the visible parts of an error. */
const shown = (error) => error && { message: error.message, keys: Object.keys(error), code: error.code, errno: error.errno, syscall: error.syscall, path: error.path };
const attempt = (call) => {
  try {
    return { value: call() };
  } catch (error) {
    return { error: shown(error) };
  }
};
const attemptLater = (call) => call().then((value) => ({ value }), (error) => ({ error: shown(error) }));
const callback = (call) => new Promise((resolve) => call((error, value) => resolve({ error: shown(error), value })));

const NOTHING = isWindows ? '\\\\.\\NUL' : '/dev/null';

test('the null device takes everything and gives nothing', async () => {
  smallfry.writeFileSync(NOTHING, 'text');
  smallfry.appendFileSync(NOTHING, Buffer.alloc(3_000_000));
  await smallfry.promises.writeFile(NOTHING, 'text');
  assert.strictEqual(smallfry.readFileSync(NOTHING, 'utf8'), '');
  assert.strictEqual(smallfry.readFileSync(NOTHING).length, 0);
  assert.strictEqual(await smallfry.promises.readFile(NOTHING, 'utf8'), '');
  assert.strictEqual((await smallfry.promises.readFile(NOTHING)).length, 0);
});

testNeeding(needs.devFull, '/dev/full gives ENOSPC as from node:fs', async () => {
  for (const data of ['x', '\u20ac'.repeat(50_000), Buffer.from('x'), Buffer.alloc(300_000), new Float64Array(3)]) {
    for (const options of [undefined, 'utf8', { encoding: 'utf8' }, { encoding: 'utf8', mode: 0o600 }, 'latin1', { flush: true }]) {
      assert.deepStrictEqual(
        attempt(() => smallfry.writeFileSync('/dev/full', data, options)),
        attempt(() => fs.writeFileSync('/dev/full', data, options)),
        `writeFileSync ${typeof data} ${JSON.stringify(options)}`,
      );
      assert.deepStrictEqual(
        attempt(() => smallfry.appendFileSync('/dev/full', data, options)),
        attempt(() => fs.appendFileSync('/dev/full', data, options)),
        `appendFileSync ${typeof data} ${JSON.stringify(options)}`,
      );
      assert.deepStrictEqual(
        await attemptLater(() => smallfry.promises.writeFile('/dev/full', data, options)),
        await attemptLater(() => fs.promises.writeFile('/dev/full', data, options)),
        `promises.writeFile ${typeof data} ${JSON.stringify(options)}`,
      );
      assert.deepStrictEqual(
        await callback((done) => smallfry.writeFile('/dev/full', data, options, done)),
        await callback((done) => fs.writeFile('/dev/full', data, options, done)),
        `writeFile ${typeof data} ${JSON.stringify(options)}`,
      );
    }
  }
});

testNeeding(needs.proc, 'files of /proc that call themselves empty are read whole', async () => {
  for (const name of ['/proc/self/cmdline', '/proc/version', '/proc/cpuinfo', '/proc/self/environ', '/proc/self/limits']) {
    const expected = fs.readFileSync(name);
    assert.ok(expected.length > 0, name);
    // The clock speeds in cpuinfo change from one read to the next.
    const same = name === '/proc/cpuinfo'
      ? (got) => assert.ok(Math.abs(got.length - expected.length) < 200, name)
      : (got) => assert.deepStrictEqual(Buffer.from(got), expected, name);
    same(smallfry.readFileSync(name));
    same(smallfry.readFileSync(name, 'utf8'));
    same(await smallfry.promises.readFile(name));
    same(await smallfry.promises.readFile(name, 'utf8'));
    same((await callback((done) => smallfry.readFile(name, done))).value);
  }
  const maps = smallfry.readFileSync('/proc/self/maps', 'utf8');
  assert.match(maps, /\[stack\]/, 'a file longer than one read');
  assert.deepStrictEqual(
    attempt(() => smallfry.readFileSync('/proc/self/mem', 'utf8')),
    attempt(() => fs.readFileSync('/proc/self/mem', 'utf8')),
  );
  assert.deepStrictEqual(
    await attemptLater(() => smallfry.promises.readFile('/proc/self/mem')),
    await attemptLater(() => fs.promises.readFile('/proc/self/mem')),
  );
});

testNeeding(needs.mkfifo, 'a FIFO is read and written with another process at its other end', async () => {
  const name = fifo('waiting');
  const text = 'through a FIFO \u20ac '.repeat(20_000);
  for (const encoding of ['utf8', undefined]) {
    const writer = runScript(directory, `smallfry.writeFileSync(${JSON.stringify(name)}, 'through a FIFO \u20ac '.repeat(20000));`);
    const read = await smallfry.promises.readFile(name, encoding);
    assert.strictEqual(read.toString(), text);
    assert.strictEqual((await writer).code, 0);
  }
  for (const call of ['readFileSync(name, "utf8")', 'readFileSync(name).toString()']) {
    const reader = runScript(directory, `const name = ${JSON.stringify(name)}; process.stdout.write(String(smallfry.${call}.length));`);
    await smallfry.promises.writeFile(name, text);
    assert.strictEqual((await reader).stdout, String(text.length));
  }
  const reader = runScript(directory, `process.stdout.write(String(smallfry.readFileSync(${JSON.stringify(name)}, 'utf8').length));`);
  const { error } = await callback((done) => smallfry.appendFile(name, Buffer.from(text), done));
  assert.strictEqual(error, null);
  assert.strictEqual((await reader).stdout, String(text.length));
});

testNeeding(needs.mkfifo, 'a read of a FIFO without a writer does not hold up the call beside it', async () => {
  const name = fifo('without-writer');
  fs.writeFileSync(at('beside'), 'text');
  for (let round = 0; round < 200; round += 1) {
    // The thread that does this looks for more for a moment, and both calls come meanwhile.
    await smallfry.promises.readFile(at('beside'));
    const blocked = smallfry.promises.readFile(name, 'utf8');
    const beside = smallfry.promises.readFile(at('beside'), 'utf8');
    const first = await Promise.race([beside, new Promise((resolve) => { setTimeout(resolve, 5000, 'nothing').unref(); })]);
    // Opening it for writing waits for the reader.
    fs.writeFileSync(name, 'late');
    assert.strictEqual(await blocked, 'late');
    assert.strictEqual(first, 'text', `round ${round}`);
  }
});

testNeeding(needs.mkfifo, 'a descriptor of a FIFO is written and stays open', async () => {
  const name = fifo('descriptor');
  const fd = fs.openSync(name, 'r+');
  smallfry.writeFileSync(fd, 'one ');
  smallfry.appendFileSync(fd, 'two ', 'utf8');
  smallfry.writeFileSync(fd, Buffer.from('three '));
  await callback((done) => smallfry.writeFile(fd, 'four', done));
  const got = Buffer.alloc(100);
  assert.strictEqual(got.toString('utf8', 0, fs.readSync(fd, got)), 'one two three four');
  fs.fstatSync(fd);
  fs.closeSync(fd);
});

testNeeding(needs.mkfifo, 'everything arrives at a slow reader of a pipe, although each write takes a part', async () => {
  const name = fifo('slow');
  const size = 700_000;
  for (const data of [`'\\u00e9'.repeat(${size / 2})`, `Buffer.alloc(${size}, 'ab')`]) {
    const writer = runScript(directory, `smallfry.writeFileSync(${JSON.stringify(name)}, ${data});`);
    const handle = await fs.promises.open(name, 'r');
    let total = 0;
    for (;;) {
      const { bytesRead } = await handle.read(Buffer.alloc(7001));
      if (bytesRead === 0) break;
      total += bytesRead;
      if (total % 5 === 0) await turn();
    }
    await handle.close();
    assert.strictEqual(total, size);
    assert.strictEqual((await writer).code, 0);
  }
});

testNeeding(needs.mkfifo, 'a pipe that does not block gives EAGAIN as from node:fs, after the part that fitted', async () => {
  const { O_RDWR, O_NONBLOCK } = fs.constants;
  const outcomes = [];
  for (const side of [fs, smallfry]) {
    const seen = [];
    const name = fifo(`full-${outcomes.length}`);
    for (const data of ['x'.repeat(300_000), Buffer.alloc(300_000, 'y'), '\u20ac'.repeat(100_000)]) {
      for (const options of ['utf8', undefined]) {
        const fd = fs.openSync(name, O_RDWR | O_NONBLOCK);
        seen.push(attempt(() => side.writeFileSync(fd, data, options)).error);
        let held = 0;
        try {
          for (;;) held += fs.readSync(fd, Buffer.alloc(65_536));
        } catch (error) {
          assert.strictEqual(error.code, 'EAGAIN');
        }
        seen.push(held > 0);
        seen.push(attempt(() => side.readFileSync(fd, 'utf8')).error, attempt(() => side.readFileSync(fd)).error);
        seen.push(await attemptLater(() => new Promise((resolve, reject) => side.readFile(fd, (error) => (error ? reject(error) : resolve())))));
        seen.push(await attemptLater(() => new Promise((resolve, reject) => side.writeFile(fd, data, (error) => (error ? reject(error) : resolve())))));
        fs.closeSync(fd);
      }
    }
    outcomes.push(seen);
  }
  assert.deepStrictEqual(outcomes[1], outcomes[0]);
});

testNeeding(needs.mkfifo, 'a pipe without a reader gives EPIPE as from node:fs', async () => {
  const seen = [];
  for (const side of ['fs', 'smallfry']) {
    const source =
      `const { spawnSync } = require('node:child_process');` +
      `const name = path.join(directory, 'broken-${side}'); spawnSync('mkfifo', [name]);` +
      `const reader = fs.openSync(name, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);` +
      `const fd = fs.openSync(name, 'w'); fs.closeSync(reader);` +
      `for (const [data, options] of [['text', 'utf8'], ['text', undefined], [Buffer.from('x'), undefined]])` +
      `  try { ${side}.writeFileSync(fd, data, options); } catch (e) { console.log(e.message, Object.keys(e).join(), e.code); }`;
    const { stdout, code } = await runScript(directory, source);
    assert.strictEqual(code, 0);
    seen.push(stdout);
  }
  assert.match(seen[0], /EPIPE/);
  assert.strictEqual(seen[1], seen[0]);
});

testOnUnix('sh', 'standard input from a pipe is read whole, as text and as bytes', async () => {
  const input = 'piped in \u20ac '.repeat(30_000);
  fs.writeFileSync(at('input'), input);
  for (const call of [
    "process.stdout.write(String(smallfry.readFileSync(0, 'utf8').length))",
    'process.stdout.write(String(smallfry.readFileSync(0).toString().length))',
    "process.stdout.write(String(smallfry.readFileSync('/dev/stdin', 'utf8').length))",
    "smallfry.readFile(0, 'utf8', (error, text) => process.stdout.write(String(error ?? text.length)))",
  ]) {
    const script = at('standard-input.cjs');
    fs.writeFileSync(script, `const smallfry = require(${JSON.stringify(path.join(packageDirectory, 'dist/fs.js'))}); ${call};`);
    // A pipe of the shell: what Node gives a child is a socket, which has no name under /dev.
    const command = 'cat "$1" | "$2" "$3"';
    const { stdout, stderr } = await runNode(['-c', command, 'sh', at('input'), process.execPath, script], { command: 'sh' });
    assert.strictEqual(stdout, String(input.length), `${call} ${stderr}`);
  }
});

test('standard output and standard error are written by number', async () => {
  const { stdout, stderr } = await runScript(directory,
    `smallfry.writeFileSync(1, 'out '); smallfry.appendFileSync(1, 'more ', 'utf8'); smallfry.writeFileSync(2, Buffer.from('err'));` +
    `smallfry.writeFile(1, 'later', (error) => { if (error) throw error; });`);
  assert.strictEqual(stdout, 'out more later');
  assert.strictEqual(stderr, 'err');
});

test("a caller's descriptor stays open, and is used at its position", async () => {
  fs.writeFileSync(at('position'), '0123456789');
  const fd = fs.openSync(at('position'), 'r+');
  fs.readSync(fd, Buffer.alloc(4), 0, 4, null);
  assert.strictEqual(smallfry.readFileSync(fd, 'utf8'), '456789');
  assert.strictEqual(smallfry.readFileSync(fd, 'utf8'), '', 'at the end nothing is left');
  smallfry.writeFileSync(fd, 'ab', 'utf8');
  smallfry.writeFileSync(fd, 'cd');
  smallfry.writeFileSync(fd, Buffer.from('ef'));
  smallfry.appendFileSync(fd, 'gh');
  assert.deepStrictEqual(await callback((done) => smallfry.writeFile(fd, 'ij', done)), { error: null, value: undefined });
  assert.strictEqual(fs.readFileSync(at('position'), 'utf8'), '0123456789abcdefghij');
  fs.fstatSync(fd);
  fs.closeSync(fd);

  const append = fs.openSync(at('position'), 'a');
  smallfry.writeFileSync(append, 'kl', 'utf8');
  await callback((done) => smallfry.appendFile(append, 'mn', done));
  fs.closeSync(append);
  assert.strictEqual(fs.readFileSync(at('position'), 'utf8'), '0123456789abcdefghijklmn');

  const reader = fs.openSync(at('position'), 'r');
  fs.readSync(reader, Buffer.alloc(10), 0, 10, null);
  const rest = await callback((done) => smallfry.readFile(reader, 'utf8', done));
  const expected = await callback((done) => fs.readFile(at('position'), 'utf8', done));
  assert.strictEqual(rest.value, expected.value.slice(10));
  fs.fstatSync(reader);
  fs.closeSync(reader);
});

test('lines that two processes append stay whole', { skip: isWindows && 'Wine finds the end and writes there in two steps' }, async () => {
  const name = at('log');
  const source = (mark) =>
    `const line = '${mark}'.repeat(300) + '\\n';` +
    `for (let i = 0; i < 400; i += 1) i % 2 ? smallfry.appendFileSync(${JSON.stringify(name)}, line) : smallfry.appendFileSync(${JSON.stringify(name)}, Buffer.from(line));`;
  const ends = await Promise.all([runScript(directory, source('a')), runScript(directory, source('b'))]);
  assert.deepStrictEqual(ends.map(({ code }) => code), [0, 0]);
  const lines = fs.readFileSync(name, 'utf8').split('\n');
  assert.strictEqual(lines.pop(), '');
  assert.strictEqual(lines.length, 800);
  for (const line of lines) assert.ok(/^(a{300}|b{300})$/.test(line), line);
});

testNeeding(needs.mount, 'a full disk gives the error and the partial file of node:fs, and no descriptor leaks', async () => {
  const mount = at('small');
  fs.mkdirSync(mount);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', mount]);
  try {
    const data = ['x'.repeat(200_000), '\u20ac'.repeat(80_000), '\u00e9'.repeat(90_000), Buffer.alloc(200_000, 'y'), 'x'.repeat(2_000_000)];
    const outcomes = [];
    for (const side of [fs, smallfry]) {
      const seen = [];
      const run = async (outcome) => {
        seen.push(await outcome);
        seen.push(fs.statSync(path.join(mount, 'f')).size);
        fs.rmSync(path.join(mount, 'f'));
      };
      const name = path.join(mount, 'f');
      const before = openDescriptors();
      for (const bytes of data) {
        for (const options of [undefined, 'utf8', { encoding: 'utf8', flag: 'w' }]) {
          await run(attempt(() => side.writeFileSync(name, bytes, options)));
          await run(attempt(() => side.appendFileSync(name, bytes, options)));
          await run(attemptLater(() => side.promises.writeFile(name, bytes, options)));
          await run(callback((done) => side.appendFile(name, bytes, options, done)));
          const fd = fs.openSync(name, 'w');
          await run(attempt(() => side.writeFileSync(fd, bytes, options)));
          fs.closeSync(fd);
        }
      }
      assert.strictEqual(openDescriptors(), before);
      outcomes.push(seen);
    }
    assert.deepStrictEqual(outcomes[1], outcomes[0]);
    assert.ok(outcomes[1].some((outcome) => outcome.error?.code === 'ENOSPC'));
  } finally {
    execFileSync('umount', [mount]);
  }
});

testNeeding(needs.proc, 'thousands of calls, some failing, leave no descriptor open', async () => {
  const name = at('kept');
  fs.writeFileSync(name, 'kept \u20ac');
  fs.writeFileSync(at('binary'), Buffer.from([0xff, 0xfe]));
  const missing = path.join(directory, 'none', 'x');
  const big = path.join(directory, 'big');
  fs.writeFileSync(big, '');
  fs.truncateSync(big, 65 << 20);
  const round = async () => {
    for (const target of [name, missing, directory, '/dev/full', `${name}\0`, Buffer.from(name), 987_654]) {
      for (const options of [undefined, 'utf8', 'latin1', { flag: 'wx' }, { encoding: 'utf8', flush: true }, { flush: true }]) {
        attempt(() => smallfry.writeFileSync(target, 'text', options));
        attempt(() => smallfry.appendFileSync(target, Buffer.from('x'), options));
        if (target !== '/dev/full') attempt(() => smallfry.readFileSync(target, typeof options === 'string' ? options : null));
      }
      if (target === '/dev/full') continue;
      const later = [];
      for (const options of [undefined, 'utf8']) {
        later.push(attemptLater(() => smallfry.promises.readFile(target, options)));
        later.push(attemptLater(() => smallfry.promises.writeFile(target, 'text', options)));
        later.push(callback((done) => attempt(() => smallfry.readFile(target, options, done)).error && done()));
        later.push(callback((done) => attempt(() => smallfry.appendFile(target, 'x', options, done)).error && done()));
      }
      await Promise.all(later);
    }
    attempt(() => smallfry.readFileSync(at('binary'), 'utf8'));
    await smallfry.promises.readFile(at('binary'), 'utf8');
  };
  await round();
  await turn();
  const before = openDescriptors();
  for (let count = 0; count < 20; count += 1) await round();
  await smallfry.promises.readFile(big);
  smallfry.readFileSync(big);
  fs.rmSync(big);
  await turn();
  // One of an earlier test may have been closed since.
  const after = openDescriptors();
  assert.ok(after <= before, `${after} descriptors are open, ${before} before`);
});

// -------------------------------------------------------------------------------------------------
// Bytes that are not UTF-8.

const EVIL = {
  'byte order mark': [0xef, 0xbb, 0xbf],
  'two byte order marks': [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf],
  'a continuation byte': [0x80],
  'continuation bytes': [0x80, 0xbf, 0x80],
  'two-byte sequence cut': [0xc3],
  'three-byte sequence cut after one': [0xe2],
  'three-byte sequence cut after two': [0xe2, 0x82],
  'four-byte sequence cut after one': [0xf0],
  'four-byte sequence cut after two': [0xf0, 0x9f],
  'four-byte sequence cut after three': [0xf0, 0x9f, 0x90],
  'overlong NUL': [0xc0, 0x80],
  'overlong slash': [0xe0, 0x80, 0xaf],
  'overlong, four bytes': [0xf0, 0x80, 0x80, 0xaf],
  'high surrogate': [0xed, 0xa0, 0xbd],
  'low surrogate': [0xed, 0xb0, 0x9f],
  'surrogate pair': [0xed, 0xa0, 0xbd, 0xed, 0xb0, 0x9f],
  'beyond U+10FFFF': [0xf4, 0x90, 0x80, 0x80],
  'lead bytes that never occur': [0xf5, 0xf8, 0xfc, 0xfe, 0xff],
  'valid four bytes': [0xf0, 0x9f, 0x90, 0x9f],
  'valid, largest': [0xf4, 0x8f, 0xbf, 0xbf],
  'U+FFFF and U+FFFE': [0xef, 0xbf, 0xbf, 0xef, 0xbf, 0xbe],
  NUL: [0],
};

async function expectDecoded(bytes, what) {
  const name = at('decoded');
  fs.writeFileSync(name, bytes);
  const expected = fs.readFileSync(name, 'utf8');
  const expectedLater = await fs.promises.readFile(name, 'utf8');
  const same = (got, wanted, how) => {
    if (got !== wanted) {
      let from = 0;
      while (got[from] === wanted[from]) from += 1;
      assert.fail(`${what}, ${how}: ${got.length} units instead of ${wanted.length}, different from ${from}: ${JSON.stringify(got.slice(from, from + 9))} instead of ${JSON.stringify(wanted.slice(from, from + 9))}`);
    }
  };
  same(smallfry.readFileSync(name, 'utf8'), expected, 'readFileSync');
  same(smallfry.readFileSync(name, { encoding: 'utf-8' }), expected, 'readFileSync, utf-8');
  same(smallfry.readFileSync(name, 'UTF8'), fs.readFileSync(name, 'UTF8'), 'readFileSync, UTF8');
  same(await smallfry.promises.readFile(name, 'utf8'), expectedLater, 'promises.readFile');
  const fd = fs.openSync(name, 'r');
  same(smallfry.readFileSync(fd, 'utf8'), expected, 'readFileSync of a descriptor');
  fs.closeSync(fd);
}

test('invalid UTF-8 reads as by node:fs at each position of short files', async () => {
  for (const [what, evil] of Object.entries(EVIL)) {
    for (const length of [0, 1, 2, 3, 7, 15, 16, 31, 33, 63, 64, 70]) {
      const filler = Buffer.alloc(length, 'ascii');
      const wide = Buffer.from('\u00e9\u20ac'.repeat(length)).subarray(0, length);
      await expectDecoded(Buffer.concat([Buffer.from(evil), filler]), `${what} before ${length}`);
      await expectDecoded(Buffer.concat([filler, Buffer.from(evil)]), `${what} after ${length}`);
      await expectDecoded(Buffer.concat([wide, Buffer.from(evil), wide]), `${what} between ${length}`);
    }
  }
});

test('invalid UTF-8 reads as by node:fs around the sizes where the way of reading changes', async () => {
  const random = chance(seed + 1);
  const evils = Object.values(EVIL);
  for (const size of [4095, 4096, 4097, 8191, 8192, 8193, 65_535, 65_536, 65_537, 524_287, 524_288, 524_289, (1 << 20) + 3]) {
    for (const filler of ['plain ascii ', 'caf\u00e9 ', 'wide \u20ac ']) {
      const bytes = Buffer.alloc(size, filler);
      await expectDecoded(bytes, `${filler} cut at ${size}`);
      const evil = Buffer.from(random.pick(evils));
      evil.copy(bytes, size - evil.length);
      await expectDecoded(bytes, `${filler} with ${evil.toString('hex')} at the end of ${size}`);
      const middle = Buffer.alloc(size, filler);
      evil.copy(middle, random.below(size - 8));
      await expectDecoded(middle, `${filler} with ${evil.toString('hex')} inside ${size}`);
    }
    await expectDecoded(Buffer.alloc(size, 'a'), `ascii of ${size}`);
    await expectDecoded(Buffer.alloc(size, 0xff), `nothing valid in ${size}`);
  }
});

test('random bytes read as by node:fs', async () => {
  const random = chance(seed + 2);
  const evils = Object.values(EVIL);
  for (let round = 0; round < 400; round += 1) {
    const parts = [];
    for (let count = random.below(12); count >= 0; count -= 1) {
      const kind = random.below(4);
      if (kind === 0) parts.push(Buffer.from(random.pick(evils)));
      else if (kind === 1) parts.push(Buffer.from(Array.from({ length: random.below(9) }, () => random.below(256))));
      else if (kind === 2) parts.push(Buffer.from(random.pick(['ascii ', '\u00e9', '\u20ac', '\u{1f41f}']).repeat(random.below(20))));
      else parts.push(Buffer.from(random.pick(['\u20ac', '\u{1f41f}', '\u00e9'])).subarray(0, 1 + random.below(3)));
    }
    await expectDecoded(Buffer.concat(parts), `seed ${seed}, round ${round}`);
  }
});

test('files that grow or shrink between two reads are read as they are', async () => {
  const name = at('changing');
  for (let length = 0; length <= 70; length += 1) {
    fs.writeFileSync(name, 'q'.repeat(length));
    assert.strictEqual(smallfry.readFileSync(name, 'utf8').length, length);
    assert.strictEqual(smallfry.readFileSync(name).length, length);
    assert.strictEqual((await smallfry.promises.readFile(name)).length, length);
  }
});

test('files over 64 MiB are read whole, also sparse ones', async () => {
  const name = at('large');
  const size = (64 << 20) + 5;
  fs.writeFileSync(name, '');
  fs.truncateSync(name, size);
  fs.appendFileSync(name, 'end');
  assert.strictEqual(smallfry.readFileSync(name).length, size + 3);
  assert.ok(smallfry.readFileSync(name, 'latin1').endsWith('\0end'));
  assert.strictEqual((await smallfry.promises.readFile(name)).toString('latin1', size), 'end');
  assert.ok((await smallfry.promises.readFile(name, 'utf8')).endsWith('\0end'));
  fs.rmSync(name);
});
