// Guards against: more system calls per file than the work needs, and memory that grows with the
// length of a string.
//
// Why it was possible: a string may be handed over, converted and written in pieces, each a system
// call, or copied whole once or twice on its way; nothing but the system call trace and the
// high-water mark of the process tells. Nothing here looks at the time.

import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';

import { makeDirectory, needs, packageDirectory, runNode, testNeeding } from './support.mjs';

const directory = makeDirectory();

const LENGTHS = [1, 12, 1024, 4096, 12_288, 18_432, 65_536, 65_537, 102_400, 262_144, 524_288, 1_048_576];
const TEXTS = {
  ascii: (length) => 'x'.repeat(length),
  latin1: (length) => 'caf\u00e9 '.repeat(length / 5 + 1).slice(0, length),
  mixed: (length) => 'a\u00df\u20ac'.repeat(length / 3 + 1).slice(0, length),
};

testNeeding(needs.strace, 'writeFileSync of a string takes open, write, close; of an empty one open, close', async () => {
  const script = path.join(directory, 'calls.cjs');
  const cases = [];
  for (const kind of Object.keys(TEXTS)) for (const length of LENGTHS) cases.push({ kind, length });
  fs.writeFileSync(script, `const { writeFileSync, appendFileSync, setClosePolicy } = require(${JSON.stringify(path.join(packageDirectory, 'dist/index.js'))});
    // By default a file is examined before its close if closing was slow, as it is under strace.
    setClosePolicy('never');
    const TEXTS = { ${Object.entries(TEXTS).map(([kind, make]) => `${kind}: ${make}`).join(', ')} };
    for (const { kind, length } of ${JSON.stringify(cases)}) {
      const text = TEXTS[kind](length), again = TEXTS[kind](length);
      writeFileSync('by-default-' + kind + '-' + length, text);
      writeFileSync('by-options-' + kind + '-' + length, again, { encoding: 'utf8', mode: 0o600 });
      appendFileSync('appended-' + kind + '-' + length, again);
    }
    writeFileSync('empty', ''); writeFileSync('empty-utf8', '', 'utf8');
    writeFileSync('bytes', Buffer.from('1234567'));`);
  const expected = new Map([['empty', ['openat', 'close']], ['empty-utf8', ['openat', 'close']], ['bytes', ['openat', 'write', 'close']]]);
  for (const { kind, length } of cases) {
    for (const way of ['by-default', 'by-options', 'appended']) expected.set(`${way}-${kind}-${length}`, ['openat', 'write', 'close']);
  }
  const calls = await callsOf(script);
  assert.deepStrictEqual(new Map([...expected.keys()].map((name) => [name, calls.get(name)])), expected);
});

/** System calls of a script, by the name of the file that each is about. */
async function callsOf(script) {
  const trace = path.join(directory, 'calls.trace');
  const own = fs.mkdtempSync(path.join(directory, 'own-'));
  // Calls of the main thread: other threads do not touch these files.
  const { code, stderr } = await runNode(['-y', '-s', '8', '-o', trace, process.execPath, script], { cwd: own, command: 'strace' });
  assert.strictEqual(code, 0, stderr);
  const calls = new Map();
  const lines = fs.readFileSync(trace, 'latin1').split('\n');
  const open = /^openat\([^"]*"([a-z0-9-]+)".*= \d+</;
  let current;
  for (const line of lines) {
    const opened = open.exec(line);
    if (opened) {
      current = opened[1];
      calls.set(current, [...(calls.get(current) ?? []), 'openat']);
      continue;
    }
    const name = /^(\w+)\(/.exec(line)?.[1];
    const at = /^\w+\(\d+<([^>]*)>/.exec(line)?.[1];
    const mine = at?.startsWith(`${directory}/`) ? path.basename(at) : undefined;
    if (mine !== undefined) calls.set(mine, [...(calls.get(mine) ?? []), name]);
    // A stat or a second look at the name would show by its text.
    const named = new RegExp(`"([a-z]+-[a-z]+-\\w+|empty(-utf8)?|bytes)"`).exec(line)?.[1];
    if (named !== undefined && calls.has(named)) calls.set(named, [...calls.get(named), name]);
  }
  return calls;
}

const LARGE = {
  'one-byte ascii': "Buffer.alloc(100e6, 'plain text ').toString('latin1')",
  'one-byte with é': "Buffer.alloc(100e6, 'caf\\u00e9 plain ', 'latin1').toString('latin1')",
  'two-byte': "Buffer.alloc(100e6, 'a\\u20acb\\u0416', 'utf16le').toString('utf16le')",
  'two-byte pairs': "Buffer.alloc(100e6, '\\ud83d\\udc1f', 'utf16le').toString('utf16le')",
};
const ALLOWED = 16 << 20;

for (const [what, make] of Object.entries(LARGE)) {
  for (const [how, call] of Object.entries({
    'by path': "fs.writeFileSync(name, text)",
    'to a descriptor': "fs.writeFileSync(fd, text, 'utf8')",
    flushed: "fs.writeFileSync(name, text, { encoding: 'utf8', flush: true })",
  })) {
    testNeeding(needs.proc, `writing a flat ${what} string of 100 MB ${how} takes at most 16 MB more`, async (t) => {
      const name = path.join(directory, 'large');
      const script = path.join(directory, 'large.cjs');
      fs.writeFileSync(script, `
        const fs = require(${JSON.stringify(path.join(packageDirectory, 'dist/fs.js'))}), real = require('node:fs');
        const name = ${JSON.stringify(name)};
        const number = (key) => 1024 * Number(new RegExp(key + ':\\\\s+(\\\\d+)').exec(real.readFileSync('/proc/self/status', 'latin1'))[1]);
        let text = ${make};
        fs.writeFileSync(name, 'warm \\u20ac'); gc(); gc();
        const fd = real.openSync(name, 'w');
        // Makes the high-water mark of memory start from here.
        real.writeFileSync('/proc/self/clear_refs', '5');
        const before = number('VmRSS');
        ${call};
        const most = number('VmHWM');
        const bytes = real.statSync(name).size;
        console.log(JSON.stringify({ above: most - before, bytes, expected: Buffer.byteLength(text) }));`);
      const { stdout, stderr, code } = await runNode(['--expose-gc', script]);
      assert.strictEqual(code, 0, stderr);
      const { above, bytes, expected } = JSON.parse(stdout);
      t.diagnostic(`${(above / 2 ** 20).toFixed(1)} MiB above ${what}, ${how}`);
      assert.strictEqual(bytes, expected);
      assert.ok(above <= ALLOWED, `${(above / 2 ** 20).toFixed(1)} MiB above the string, ${ALLOWED / 2 ** 20} allowed`);
      fs.rmSync(name);
    });
  }
}

testNeeding(needs.proc, 'memory does not grow with the number of calls', async () => {
  const script = path.join(directory, 'many.cjs');
  fs.writeFileSync(path.join(directory, 'ten'), 'caf\u00e9 '.repeat(2000));
  fs.writeFileSync(script, `
    const fs = require(${JSON.stringify(path.join(packageDirectory, 'dist/fs.js'))}), real = require('node:fs');
    const rss = () => { gc(); gc(); return process.memoryUsage.rss(); };
    async function round(count) {
      for (let i = 0; i < count; i += 50) {
        const some = [];
        for (let j = 0; j < 50; j += 1) some.push(fs.promises.readFile('ten'), fs.promises.readFile('ten', 'utf8'), fs.promises.readFile('none').catch(() => {}));
        await Promise.all(some);
        fs.readFileSync('ten', 'utf8'); fs.writeFileSync('w', 'caf\\u00e9'.repeat(1000)); await fs.promises.writeFile('w', 'x'.repeat(9000));
      }
      await new Promise(setImmediate);
    }
    (async () => { await round(3000); const before = rss(); await round(12000); await new Promise(setImmediate); console.log(rss() - before); })();`);
  const { stdout, stderr } = await runNode(['--expose-gc', script], { cwd: directory });
  assert.ok(Number(stdout) < 48 << 20, `${stdout.trim()} bytes more after 36,000 calls. ${stderr}`);
});

testNeeding(needs.strace, 'a large file that is read again and again gets memory that was in use before', async (t) => {
  const name = path.join(directory, 'again');
  const [size, rounds] = [8_000_000, 40];
  fs.writeFileSync(name, Buffer.alloc(size, 'text'));
  const script = path.join(directory, 'again.cjs');
  fs.writeFileSync(script, `const functions = require(process.argv[2]);
    (async () => {
      for (let round = 0; round < ${rounds}; round += 1) {
        if ((await functions.promises.readFile(${JSON.stringify(name)})).length !== ${size}) process.exit(1);
        gc();
      }
    })();`);
  const mappings = async (functions) => {
    const trace = path.join(directory, 'again.trace');
    const { code, stderr } = await runNode(['-f', '-e', 'trace=mmap', '-o', trace, process.execPath, '--expose-gc', script, functions], { command: 'strace' });
    assert.strictEqual(code, 0, stderr);
    const sizes = [...fs.readFileSync(trace, 'latin1').matchAll(/mmap\(NULL, (\d+), PROT_READ\|PROT_WRITE, MAP_PRIVATE\|MAP_ANONYMOUS/g)];
    return sizes.filter(([, bytes]) => bytes >= size && bytes <= 2 * size).length;
  };
  const [real, ours] = [await mappings('node:fs'), await mappings(path.join(packageDirectory, 'dist/fs.js'))];
  t.diagnostic(`${ours} mappings, with node:fs ${real}`);
  // Some allocators map each large block anew, for node:fs too.
  assert.ok(ours <= real + rounds / 2, `${ours} mappings, with node:fs ${real}`);
});

testNeeding(needs.strace, 'a file of 100 MB is read in as few calls as by node:fs, and a few more', async (t) => {
  const [name, size] = [path.join(directory, 'large-and-sparse'), 100_000_000];
  fs.writeFileSync(name, '');
  fs.truncateSync(name, size);
  const script = path.join(directory, 'large-read.cjs');
  fs.writeFileSync(script, `const functions = require(process.argv[2]), name = ${JSON.stringify(name)};
    const check = ({ length }) => { if (length !== ${size}) process.exit(1); };
    if (process.argv[3] === 'sync') check(functions.readFileSync(name));
    else functions.promises.readFile(name).then(check);`);
  const reads = async (functions, form) => {
    const trace = path.join(directory, 'large-read.trace');
    const { code, stderr } = await runNode(['-f', '-y', '-e', 'trace=read,pread64', '-o', trace, process.execPath, script, functions, form], { command: 'strace' });
    assert.strictEqual(code, 0, stderr);
    return fs.readFileSync(trace, 'latin1').split('\n').filter((line) => line.includes(`<${name}>`)).length;
  };
  for (const form of ['sync', 'promise']) {
    const [real, ours] = [await reads('node:fs', form), await reads(path.join(packageDirectory, 'dist/fs.js'), form)];
    t.diagnostic(`${form}: ${ours} calls, with node:fs ${real}`);
    // The first read is of a size that suits small files.
    assert.ok(ours >= 1 && ours <= real + 3, `${form}: ${ours} calls, with node:fs ${real}`);
  }
  fs.rmSync(name);
});

// 5 MB in each round: 2 GB if nothing were collected, or kept for the next round.
const IN_ROUNDS = `
  const real = require('node:fs');
  const { readFiles } = require(${JSON.stringify(path.join(packageDirectory, 'dist/index.js'))});
  const number = (key) => 1024 * Number(new RegExp(key + ':\\\\s+(\\\\d+)').exec(real.readFileSync('/proc/self/status', 'latin1'))[1]);
  const paths = Array.from({ length: 500 }, (_, i) => 'file-' + i);
  for (const name of paths) real.writeFileSync(name, 'x'.repeat(10_000));
  const faults = () => process.resourceUsage().minorPageFault;
  async function rounds(count, encoding) {
    for (let round = 0; round < count; round += 1) {
      const all = await readFiles(paths, { encoding });
      if (all.length !== 500 || all.some((contents) => contents.length !== 10_000)) throw new Error('read wrongly');
    }
  }`;

for (const encoding of [null, 'utf8']) {
  const kind = encoding === null ? 'Buffers' : 'strings';
  testNeeding(needs.proc, `memory is flat while many files are read as ${kind} again and again, and goes back`, async (t) => {
    const own = fs.mkdtempSync(path.join(directory, 'rounds-'));
    const script = path.join(own, 'rounds.cjs');
    fs.writeFileSync(script, `${IN_ROUNDS}
      (async () => {
        const before = number('VmRSS');
        await rounds(100, ${JSON.stringify(encoding)});
        const start = faults();
        await rounds(300, ${JSON.stringify(encoding)});
        const perRound = (faults() - start) / 300;
        const peak = number('VmHWM') - before;
        // 20 s are far more than it takes.
        let left = Infinity;
        for (let i = 0; i < 2000 && left > 64 * 2 ** 20; i += 1) {
          gc();
          await new Promise((resolve) => setTimeout(resolve, 10));
          left = number('VmRSS') - before;
        }
        console.log(JSON.stringify({ peak, left, perRound }));
      })();`);
    const { stdout, stderr, code } = await runNode(['--expose-gc', script], { cwd: own });
    assert.strictEqual(code, 0, stderr);
    const { peak, left, perRound } = JSON.parse(stdout);
    t.diagnostic(`${kind}: peak ${(peak / 2 ** 20).toFixed(0)} MiB, ${(left / 2 ** 20).toFixed(0)} MiB left, ${perRound.toFixed(0)} page faults a round`);
    assert.ok(peak < 256 * 2 ** 20, `${(peak / 2 ** 20).toFixed(0)} MiB at most`);
    assert.ok(left <= 64 * 2 ** 20, `${(left / 2 ** 20).toFixed(0)} MiB are left`);
    // The contents of a round are 1,221 pages.
    assert.ok(perRound < 600, `${perRound.toFixed(0)} page faults a round`);
  });
}

testNeeding(needs.proc, 'V8 knows the memory of all results once a call is over, however it ends', async () => {
  const own = fs.mkdtempSync(path.join(directory, 'external-'));
  const script = path.join(own, 'external.cjs');
  fs.writeFileSync(script, `${IN_ROUNDS}
    const { readFilesSync } = require(${JSON.stringify(path.join(packageDirectory, 'dist/index.js'))});
    const external = async () => {
      for (let i = 0; i < 5; i += 1) { gc(); await new Promise(setImmediate); }
      return process.memoryUsage().external;
    };
    const calls = {
      Buffers: () => readFiles(paths),
      strings: () => readFiles(paths, 'utf8'),
      'Buffers, sync': () => readFilesSync(paths),
      'strings, sync': () => readFilesSync(paths, 'utf8'),
      'converted strings': () => readFiles(paths, 'hex'),
      'one fails': () => readFiles([...paths, 'none']).catch(() => undefined),
      aborted: () => {
        const controller = new AbortController();
        const onProgress = () => controller.abort();
        return readFiles(paths, { signal: controller.signal, onProgress }).catch(() => undefined);
      },
    };
    (async () => {
      const answer = {};
      await rounds(1);
      for (const [name, call] of Object.entries(calls)) {
        const before = await external();
        let all = await call();
        const during = (await external()) - before;
        const kept = all !== undefined && name !== 'converted strings';
        all = undefined;
        answer[name] = { kept, during, after: (await external()) - before };
      }
      console.log(JSON.stringify(answer));
    })();`);
  const { stdout, stderr, code } = await runNode(['--expose-gc', script], { cwd: own });
  assert.strictEqual(code, 0, stderr);
  for (const [name, { kept, during, after }] of Object.entries(JSON.parse(stdout))) {
    if (kept) assert.ok(during >= 5e6 && during < 6e6, `${name}: ${during} bytes are known while results are kept`);
    assert.ok(Math.abs(after) < 1e6, `${name}: ${after} bytes are left`);
  }
});
