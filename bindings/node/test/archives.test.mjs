// Guards against: archives that other programs cannot read, entries that leave the directory they
// are unpacked into, calls that cannot be stopped, and half archives and files after that.
//
// Why it was possible: the options cross into native code as numbers and names, threads of its own
// do the work, and the bytes of an archive may be garbage when the call has begun.

/* global AbortController, AbortSignal, setImmediate */

import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import zlib from 'node:zlib';

import {
  bulk, isWindows, LINKS, makeDirectory, packageDirectory, program, runNode, runProgram, runScript, testNeeding, testOnUnix, turn, withoutAddon,
} from './support.mjs';

const { pack, unpack } = bulk;
const base = makeDirectory();
const FORMATS = ['tar', 'tar.gz', 'tar.zst', 'zip'];
let count = 0;
const links = LINKS === 1 ? ['link'] : [];

/** Makes a directory with a small tree in it. */
function fresh() {
  const dir = path.join(base, String(count++));
  fs.mkdirSync(path.join(dir, 'from/sub/empty'), { recursive: true });
  fs.writeFileSync(path.join(dir, 'from/a'), 'text a', { mode: 0o755 });
  fs.writeFileSync(path.join(dir, 'from/sub/ü.map'), Buffer.alloc(100_000, 'b'));
  if (LINKS === 1) fs.symlinkSync('sub/ü.map', path.join(dir, 'from/link'));
  fs.utimesSync(path.join(dir, 'from/a'), 1_000_000_000, 1_000_000_000);
  return dir;
}

/** Makes a tree of many files. */
function manyFiles(dir, files, size) {
  fs.mkdirSync(path.join(dir, 'from/many'));
  for (let index = 0; index < files; index += 1) fs.writeFileSync(path.join(dir, 'from/many', `${index}`), Buffer.alloc(size, `${index}`));
}

/** Describes all entries of a tree. */
function describe(root, below = '') {
  return fs.readdirSync(path.join(root, below)).sort().flatMap((name) => {
    const at = path.join(below, name);
    const full = path.join(root, at);
    const status = fs.lstatSync(full);
    if (status.isDirectory()) return [[at, 'directory', status.mode], ...describe(root, at)];
    if (status.isSymbolicLink()) return [[at, 'link', fs.readlinkSync(full)]];
    return [[at, status.mode, fs.readFileSync(full, 'latin1')]];
  });
}

/** Makes the tar header of a file or link, and its contents. */
function tarEntry(name, { type = '0', target = '', contents = '', prefix = 0 } = {}) {
  const header = Buffer.alloc(512);
  header.write(name, prefix);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${contents.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write(type, 156);
  header.write(target, 157);
  header.write('ustar\x0000', 257);
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padded = Buffer.alloc(Math.ceil(contents.length / 512) * 512);
  padded.write(contents);
  return Buffer.concat([header, padded]);
}

const tarOf = (...entries) => Buffer.concat([...entries, Buffer.alloc(1024)]);

test('unpack gives back what pack has packed, in each format', async () => {
  const dir = fresh();
  for (const format of FORMATS) {
    const archive = `${dir}/a.${format}`;
    assert.deepStrictEqual(await pack(`${dir}/from`, archive), { files: 2 + LINKS, directories: 2, bytes: 100_006 });
    const to = `${dir}/${format}`;
    assert.deepStrictEqual(await unpack(archive, to, { permissions: true }), { files: 2 + LINKS, directories: 2, bytes: 100_006 });
    assert.deepStrictEqual(describe(to), describe(`${dir}/from`), format);
    assert.strictEqual(fs.statSync(`${to}/a`).mtimeMs, fs.statSync(`${dir}/from/a`).mtimeMs, format);
  }
});

test('unpack takes a path, a URL, and bytes in any form', async () => {
  const dir = fresh();
  for (const format of ['tar.gz', 'zip']) {
    await pack(Buffer.from(`${dir}/from`), pathToFileURL(`${dir}/a.${format}`));
    const bytes = fs.readFileSync(`${dir}/a.${format}`);
    const copy = Uint8Array.from(bytes);
    for (const archive of [`${dir}/a.${format}`, pathToFileURL(`${dir}/a.${format}`), bytes, copy, new DataView(copy.buffer), copy.buffer]) {
      const to = `${dir}/${count++}`;
      const unpacked = unpack(archive, to);
      // The bytes are the caller's again.
      if (archive === copy.buffer) copy.fill(0);
      await unpacked;
      assert.deepStrictEqual(fs.readdirSync(to), ['a', ...links, 'sub'], format);
    }
  }
});

testNeeding(program('tar'), 'GNU tar and unpack read what the other has packed', async () => {
  const dir = fresh();
  await pack(`${dir}/from`, `${dir}/a.tgz`, { prefix: 'package' });
  fs.mkdirSync(`${dir}/tar`);
  runProgram('tar', ['xpzf', '../a.tgz', '--strip-components=1'], `${dir}/tar`);
  assert.deepStrictEqual(describe(`${dir}/tar`), describe(`${dir}/from`));
  runProgram('tar', ['czf', 'b.tar.gz', 'from'], dir);
  const { files } = await unpack(`${dir}/b.tar.gz`, `${dir}/to`, { stripComponents: 1, permissions: true });
  assert.strictEqual(files, 3);
  assert.deepStrictEqual(describe(`${dir}/to`), describe(`${dir}/from`));
});

testNeeding(program('unzip'), 'unzip reads what pack has packed', async () => {
  const dir = fresh();
  await pack(`${dir}/from`, `${dir}/a.zip`);
  runProgram('unzip', ['-q', 'a.zip', '-d', 'unzip'], dir);
  assert.deepStrictEqual(describe(`${dir}/unzip`), describe(`${dir}/from`));
});

testNeeding(program('zip'), 'unpack reads what zip has packed', async () => {
  const dir = fresh();
  runProgram('zip', ['-qry', '../b.zip', '.'], `${dir}/from`);
  await unpack(`${dir}/b.zip`, `${dir}/to`, { permissions: true });
  assert.deepStrictEqual(describe(`${dir}/to`), describe(`${dir}/from`));
});

testOnUnix('archives', 'entries that lead out are refused with their path, and the rest is unpacked', async () => {
  const dir = fresh();
  fs.mkdirSync(`${dir}/out`);
  const archive = tarOf(
    tarEntry('../out/x', { contents: 'x' }), tarEntry('/out/x', { contents: 'x' }), tarEntry('a/../../out/x', { contents: 'x' }),
    tarEntry('escape', { type: '2', target: '../out' }), tarEntry('device', { type: '3' }), tarEntry('good', { contents: 'y' }),
    tarEntry('good', { contents: 'z' }),
  );
  for (const bytes of [archive, zlib.gzipSync(archive)]) {
    fs.rmSync(`${dir}/to`, { recursive: true, force: true });
    await assert.rejects(unpack(bytes, `${dir}/to`), (error) => {
      const paths = ['../out/x', 'a/../../out/x', 'device', 'escape', 'good'].map((name) => `${dir}/to/${name}`);
      assert.deepStrictEqual(error.errors.map((one) => one.path).sort(), [...paths, '/out/x'].sort());
      for (const one of error.errors) assert.strictEqual(one.code, 'ERR_SMALLFRY_REFUSED');
      assert.strictEqual(error.errors[0], error);
      assert.deepStrictEqual(error.done, { files: 1, directories: 0, bytes: 1 });
      assert.match(error.stack, /archives\.test/);
      return true;
    });
    assert.deepStrictEqual(describe(`${dir}/to`).map(([name]) => name), ['good']);
    assert.deepStrictEqual(fs.readdirSync(`${dir}/out`), []);
  }
  await unpack(tarOf(tarEntry('escape', { type: '2', target: '../out' })), `${dir}/links`, { linksMayLeave: true });
  assert.strictEqual(fs.readlinkSync(`${dir}/links/escape`), '../out');
  await unpack(tarOf(tarEntry('a', { contents: '1' }), tarEntry('a', { contents: '2' })), `${dir}/last`, { lastWins: true });
  assert.strictEqual(fs.readFileSync(`${dir}/last/a`, 'utf8'), '2');
});

test('an archive that is damaged, cut off, unknown or missing is an error', async () => {
  const dir = fresh();
  await pack(`${dir}/from`, `${dir}/a.tar.gz`);
  const bytes = fs.readFileSync(`${dir}/a.tar.gz`);
  fs.writeFileSync(`${dir}/cut.tar.gz`, bytes.subarray(0, 150));
  await assert.rejects(unpack(`${dir}/cut.tar.gz`, `${dir}/to`), { code: 'ERR_SMALLFRY_REFUSED', path: path.join(dir, 'cut.tar.gz') });
  await assert.rejects(unpack(bytes.subarray(0, 150), `${dir}/to`), { code: 'ERR_SMALLFRY_REFUSED' });
  await assert.rejects(unpack(Buffer.from('text'), `${dir}/to`), { code: 'ERR_SMALLFRY_REFUSED' });
  await assert.rejects(unpack(Buffer.alloc(0), `${dir}/to`), /empty/);
  await assert.rejects(unpack(`${dir}/none.zip`, `${dir}/to`), { code: 'ENOENT', path: path.join(dir, 'none.zip'), syscall: 'open' });
});

test('limits stop an archive that grows', async () => {
  const dir = fresh();
  const archive = zlib.gzipSync(tarOf(tarEntry('zeros', { contents: '0'.repeat(3_000_000) }), tarEntry('a')));
  for (const limit of [{ maxBytes: 2_999_999 }, { maxEntries: 1 }, { maxRatio: 10 }]) {
    await assert.rejects(unpack(archive, `${dir}/to`, limit), { code: 'ERR_SMALLFRY_REFUSED' }, JSON.stringify(limit));
  }
  await unpack(archive, `${dir}/to`, { maxBytes: 3_000_000, maxEntries: 2, maxRatio: 5000 });
});

test('options of unpack reach native code', async () => {
  const dir = fresh();
  await pack(`${dir}/from`, `${dir}/a.tar`);
  const to = `${dir}/to`;
  await unpack(`${dir}/a.tar`, to, { exclude: ['*.map', '/link'], times: false, threads: 2 });
  assert.deepStrictEqual(describe(to).map(([name]) => name), ['a', 'sub', path.join('sub', 'empty')]);
  assert.notStrictEqual(fs.statSync(`${to}/a`).mtimeMs, fs.statSync(`${dir}/from/a`).mtimeMs);
  fs.writeFileSync(`${to}/a`, 'changed');
  await unpack(`${dir}/a.tar`, to, { existing: 'keep' });
  assert.strictEqual(fs.readFileSync(`${to}/a`, 'utf8'), 'changed');
  await assert.rejects(unpack(`${dir}/a.tar`, to, { existing: 'error' }), (error) => {
    assert.deepStrictEqual(error.errors.map((one) => one.code), Array(2 + LINKS).fill('EEXIST'));
    return true;
  });
  await unpack(`${dir}/a.tar`, to);
  assert.strictEqual(fs.readFileSync(`${to}/a`, 'utf8'), 'text a');
});

testOnUnix('archives', 'options of pack reach native code', async () => {
  const dir = fresh();
  await pack(`${dir}/from`, `${dir}/a`, { format: 'zip', exclude: ['sub/*.map'], prefix: 'p/q', threads: 2 });
  await unpack(`${dir}/a`, `${dir}/to`);
  assert.deepStrictEqual(describe(`${dir}/to`).map(([name]) => name), ['p', 'p/q', 'p/q/a', 'p/q/link', 'p/q/sub', 'p/q/sub/empty']);
  for (const format of FORMATS) {
    const made = [];
    for (const time of [1_000_000_000, 1_500_000_000]) {
      fs.utimesSync(`${dir}/from/a`, time, time);
      await pack(`${dir}/from`, `${dir}/r.${format}`, { reproducible: true });
      made.push(fs.readFileSync(`${dir}/r.${format}`));
    }
    assert.ok(made[0].equals(made[1]), format);
  }
  fs.writeFileSync(`${dir}/from/numbers`, Array.from({ length: 20_000 }, (_, index) => index).join());
  const [low, high] = await Promise.all([1, 9].map(async (level) => {
    await pack(`${dir}/from`, `${dir}/${level}.tgz`, { level });
    return fs.statSync(`${dir}/${level}.tgz`).size;
  }));
  assert.ok(high < low, `${high} ${low}`);
  await pack(`${dir}/from/a`, `${dir}/one.tar`);
  await unpack(`${dir}/one.tar`, `${dir}/one`);
  assert.deepStrictEqual(fs.readdirSync(`${dir}/one`), ['a']);
});

test('an old archive stays until the new one is whole', async () => {
  const dir = fresh();
  fs.writeFileSync(`${dir}/a.tar`, 'old');
  await assert.rejects(pack(`${dir}/none`, `${dir}/missing/a.tar`), { code: 'ENOENT' });
  fs.mkdirSync(`${dir}/from/unreadable.tar`);
  await assert.rejects(pack(`${dir}/from`, `${dir}/from/unreadable.tar`), (error) => error.code !== undefined);
  assert.strictEqual(fs.readFileSync(`${dir}/a.tar`, 'utf8'), 'old');
});

test('wrong arguments are refused before anything is done', async () => {
  const dir = fresh();
  fs.writeFileSync(`${dir}/a.tar`, tarOf(tarEntry('a')));
  const invalid = { name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' };
  const type = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
  for (const options of [
    { existing: 'no' }, { times: 1 }, { threads: 0 }, { stripComponents: -1 }, { stripComponents: 1.5 }, { maxBytes: 0 }, { exclude: [''] },
    { exclude: 1 }, { exclude: '[' }, { permissions: 'x' },
  ]) {
    await assert.rejects(unpack(`${dir}/a.tar`, `${dir}/to`, options), invalid, JSON.stringify(options));
  }
  for (const options of [{ format: 'rar' }, { level: 0 }, { level: 10 }, { prefix: '../x' }, { prefix: 1 }, { prefix: '/x' }, { exclude: '[' }]) {
    await assert.rejects(pack(`${dir}/from`, `${dir}/b.tar`, options), invalid, JSON.stringify(options));
  }
  await assert.rejects(pack(`${dir}/from`, `${dir}/b.rar`), { ...invalid, message: /"format"/ });
  for (const options of [{ signal: {} }, { onProgress: 1 }, 1]) {
    await assert.rejects(unpack(`${dir}/a.tar`, `${dir}/to`, options), type);
    await assert.rejects(pack(`${dir}/from`, `${dir}/b.tar`, options), type);
  }
  for (const archive of [undefined, 1, {}, [1]]) await assert.rejects(unpack(archive, `${dir}/to`), type);
  await assert.rejects(unpack(`${dir}/a.tar`, 1), type);
  await assert.rejects(pack(1, `${dir}/b.tar`), type);
  await assert.rejects(unpack(`${dir}/a.tar\0`, `${dir}/to`), invalid);
  assert.deepStrictEqual(fs.readdirSync(dir), ['a.tar', 'from']);
});

test('progress only grows, up to what was done', async () => {
  const dir = fresh();
  manyFiles(dir, 300, 300_000);
  for (const format of ['tar', 'zip']) {
    const seen = [];
    const options = { onProgress: (progress) => seen.push(progress) };
    const check = ({ files, directories, bytes }) => {
      const all = files + directories;
      assert.deepStrictEqual(seen.at(-1), { done: all, total: all, bytes });
      for (const [index, { done, bytes }] of seen.slice(1).entries()) assert.ok(done >= seen[index].done && bytes >= seen[index].bytes);
      seen.length = 0;
    };
    check(await pack(`${dir}/from`, `${dir}/a.${format}`, { ...options, level: 1 }));
    check(await unpack(`${dir}/a.${format}`, `${dir}/${format}`, options));
  }
  // Windows does not replace a file that is looked at all the time.
  if (isWindows) return;
  // The call ends while the program is busy. The next report is due before its result is looked at.
  fs.writeFileSync(`${dir}/b.zip`, 'old');
  const busy = () => {
    for (let end = Date.now() + 200; Date.now() < end;) if (fs.statSync(`${dir}/b.zip`).size === 3) end = Date.now() + 200;
  };
  const reports = [];
  const report = ({ done }) => {
    if (reports.length === 0) setImmediate(busy);
    reports.push(done);
  };
  await pack(`${dir}/from`, `${dir}/b.zip`, { onProgress: report });
  assert.deepStrictEqual(reports, reports.toSorted((a, b) => a - b));
});

test('a signal stops packing and unpacking, and nothing half is left', async () => {
  const dir = fresh();
  manyFiles(dir, 400, 500_000);
  await pack(`${dir}/from`, `${dir}/a.tar`);
  const signal = AbortSignal.abort(new Error('mine'));
  await assert.rejects(unpack(`${dir}/a.tar`, `${dir}/no`, { signal }), /mine/);
  await assert.rejects(pack(`${dir}/from`, `${dir}/no.tar`, { signal }), /mine/);
  assert.deepStrictEqual(fs.readdirSync(dir), ['a.tar', 'from']);
  for (const turns of [0, 1, 3]) {
    const controller = new AbortController();
    const calls = [unpack(`${dir}/a.tar`, `${dir}/part`, { signal: controller.signal }), pack(`${dir}/from`, `${dir}/b.zip`, { signal: controller.signal })];
    for (let index = 0; index < turns; index += 1) await turn();
    controller.abort();
    await Promise.all(calls.map((call) => assert.rejects(call, { name: 'AbortError' })));
    // No thread works on after that.
    const there = fs.existsSync(`${dir}/part/many`) ? fs.readdirSync(`${dir}/part/many`) : [];
    assert.ok(there.length < 400);
    for (const name of there) assert.strictEqual(fs.statSync(`${dir}/part/many/${name}`).size, 500_000);
    assert.deepStrictEqual(fs.readdirSync(dir).filter((name) => name !== 'part'), ['a.tar', 'from']);
    fs.rmSync(`${dir}/part`, { recursive: true, force: true });
  }
});

test('a worker may be terminated in the middle of a call', async () => {
  const dir = fresh();
  manyFiles(dir, 200, 100_000);
  await pack(`${dir}/from`, `${dir}/a.tar`);
  const { code, signal, stdout, stderr } = await runScript(dir, `
    const { Worker, isMainThread, parentPort } = require('node:worker_threads');
    if (!isMainThread) {
      (async () => {
        for (let i = 0; ; i += 1) {
          const bytes = fs.readFileSync(directory + '/a.tar');
          const calls = [bulk.unpack(bytes, directory + '/to'), bulk.pack(directory + '/from', directory + '/b.tgz'), bulk.hashTree(directory + '/from')];
          parentPort.postMessage(i);
          await Promise.all(calls);
        }
      })();
    } else (async () => {
      const { once } = require('node:events');
      for (let round = 0; round < 8; round += 1) {
        const worker = new Worker(__filename);
        await once(worker, 'message');
        await new Promise((resolve) => setTimeout(resolve, 3 * round));
        await worker.terminate();
      }
      console.log('alive', (await bulk.unpack(directory + '/a.tar', directory + '/last')).files);
    })();`);
  assert.deepStrictEqual([signal, stdout, code], [null, `alive ${202 + LINKS}\n`, 0], stderr);
  // On a busy machine each call may end before it has made the directory.
  const unpacked = fs.existsSync(`${dir}/to/many`) ? fs.readdirSync(`${dir}/to/many`) : [];
  for (const name of unpacked) assert.strictEqual(fs.statSync(`${dir}/to/many/${name}`).size, 100_000);
  assert.deepStrictEqual(fs.readdirSync(dir).filter((name) => !/^(?:a\.tar|b\.tgz|from|last|script.*|to)$/.test(name)), []);
});

test('a process that ends in the middle leaves no half file and no half archive', async () => {
  const dir = fresh();
  manyFiles(dir, isWindows ? 200 : 1000, 100_000);
  await pack(`${dir}/from`, `${dir}/a.tar`);
  const script = `
    const { pack, unpack } = require(process.argv[1]);
    const dir = process.argv[2];
    unpack(dir + '/a.tar', dir + '/to');
    pack(dir + '/from', dir + '/b.tgz');
    setTimeout(() => process.exit(), 15);`;
  const { code, stderr } = await runNode(['-e', script, path.join(packageDirectory, 'dist/index.js'), dir]);
  assert.deepStrictEqual([code, stderr], [0, '']);
  const there = fs.existsSync(`${dir}/to/many`) ? fs.readdirSync(`${dir}/to/many`) : [];
  for (const name of there) assert.strictEqual(fs.statSync(`${dir}/to/many/${name}`).size, 100_000);
  assert.deepStrictEqual(fs.readdirSync(dir).filter((name) => name !== 'to'), ['a.tar', 'from']);
});

test('without the addon archives are refused', async () => {
  const { pack, unpack } = withoutAddon(makeDirectory());
  for (const call of [pack('a', 'b.tar'), unpack('a.tar', 'b')]) await assert.rejects(call, { code: 'ERR_SMALLFRY_NOT_NATIVE' });
});
