// Guards against: a tree that is copied or removed in one call with the wrong options, errors that
// do not reach the caller, and calls that cannot be stopped.
//
// Why it was possible: the options cross into native code as bits, and threads of its own do the
// work.

/* global AbortController, AbortSignal */

import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import {
  bulk, LINKS, makeDirectory, makeSmallTree, needs, program, runProgram, testNeeding, testOnUnix, testOnWindows,
} from './support.mjs';

const { copyTree, removeTree } = bulk;
const base = makeDirectory();
let count = 0;

/** Makes a directory with a small tree in it. */
function fresh() {
  const dir = path.join(base, String(count++));
  makeSmallTree(path.join(dir, 'from'));
  return dir;
}

const read = (...parts) => fs.readFileSync(path.join(...parts), 'utf8');

test('copyTree copies a tree and tells what it copied', async () => {
  const dir = fresh();
  assert.deepStrictEqual(await copyTree(`${dir}/from`, `${dir}/to`), { files: 2 + LINKS, directories: 2, bytes: 6 });
  assert.strictEqual(fs.statSync(`${dir}/to/a`).ino, fs.statSync(`${dir}/to/sub/b`).ino);
  const options = { hardLinks: false, links: 'absolute', createParents: true, times: true, threads: 2 };
  const counts = { files: 2 + LINKS, directories: 2, bytes: 12 };
  assert.deepStrictEqual(await copyTree(Buffer.from(`${dir}/from`), `${dir}/above/to`, options), counts);
  if (LINKS === 1) {
    assert.strictEqual(fs.readlinkSync(`${dir}/to/link`), 'sub/b');
    assert.strictEqual(fs.readlinkSync(`${dir}/above/to/link`), `${dir}/from/sub/b`);
  }
  assert.strictEqual(fs.statSync(`${dir}/above/to/a`).mtimeMs, fs.statSync(`${dir}/from/a`).mtimeMs);
});

test('copyTree does with existing files what the option says', async () => {
  const dir = fresh();
  await copyTree(`${dir}/from`, `${dir}/to`, { hardLinks: false });
  fs.writeFileSync(`${dir}/to/a`, 'changed');
  await copyTree(`${dir}/from`, `${dir}/to`, { existing: 'keep' });
  assert.strictEqual(read(dir, 'to/a'), 'changed');
  await assert.rejects(copyTree(`${dir}/from`, `${dir}/to`, { existing: 'error', hardLinks: false }), (error) => {
    assert.strictEqual(error.code, 'EEXIST');
    assert.strictEqual(error.errors.length, 2 + LINKS);
    assert.deepStrictEqual(error.done, { files: 0, directories: 2, bytes: 0 });
    assert.match(error.stack, /copy-tree\.test/);
    return true;
  });
  await copyTree(`${dir}/from`, `${dir}/to`);
  assert.strictEqual(read(dir, 'to/a'), 'text a');
});

testOnUnix('calls for trees', 'copyTree follows links if that is asked', async () => {
  const dir = fresh();
  fs.symlinkSync('../from/sub', `${dir}/from/directory`);
  const { files, directories } = await copyTree(`${dir}/from`, `${dir}/to`, { links: 'follow' });
  assert.deepStrictEqual([files, directories], [4, 3]);
  for (const name of ['link', 'directory/b']) assert.ok(fs.lstatSync(`${dir}/to/${name}`).isFile());
  fs.symlinkSync('nothing', `${dir}/from/dangling`);
  await assert.rejects(copyTree(`${dir}/from`, `${dir}/again`, { links: 'follow' }), { code: 'ERR_SMALLFRY_REFUSED', path: `${dir}/from/dangling` });
});

test('copyTree makes further names of files if that is asked', async () => {
  const dir = fresh();
  assert.strictEqual((await copyTree(`${dir}/from`, `${dir}/to`, { method: 'hard-link' })).files, 2 + LINKS);
  assert.strictEqual(fs.statSync(`${dir}/to/sub/b`).ino, fs.statSync(`${dir}/from/a`).ino);
  await copyTree(`${dir}/from`, `${dir}/copied`, { method: 'copy' });
  assert.notStrictEqual(fs.statSync(`${dir}/copied/sub/b`).ino, fs.statSync(`${dir}/from/a`).ino);
});

test('copyTree leaves out what is excluded', async () => {
  const dir = fresh();
  fs.writeFileSync(`${dir}/from/sub/app.js.map`, '');
  fs.mkdirSync(`${dir}/from/sub/deep`);
  fs.writeFileSync(`${dir}/from/sub/deep/a`, '');
  await copyTree(`${dir}/from`, `${dir}/to`, { exclude: ['*.map', '/a', 'link', 'sub/de*'] });
  assert.deepStrictEqual(fs.readdirSync(`${dir}/to`, { recursive: true }).sort(), ['sub', path.join('sub', 'b')]);
  await copyTree(`${dir}/from`, `${dir}/other`, { exclude: 'sub' });
  assert.ok(!fs.existsSync(`${dir}/other/sub`));
});

testNeeding(needs.mkfifo, 'copyTree refuses special files, or leaves them out', async () => {
  const dir = fresh();
  execFileSync('mkfifo', [`${dir}/from/pipe`]);
  await assert.rejects(copyTree(`${dir}/from`, `${dir}/to`), { code: 'ERR_SMALLFRY_REFUSED', path: `${dir}/from/pipe` });
  const { files } = await copyTree(`${dir}/from`, `${dir}/without`, { skipSpecial: true });
  assert.strictEqual(files, 2 + LINKS);
  assert.ok(!fs.existsSync(`${dir}/without/pipe`));
  await assert.rejects(copyTree(`${dir}/from`, `${dir}/other`, { skipSpecial: 1 }), { code: 'ERR_INVALID_ARG_VALUE' });
});

testOnUnix('owners', 'copyTree keeps owners only if that is asked', async () => {
  const dir = fresh();
  // Another user than root has a file of its own anyway.
  if (process.getuid() === 0) fs.chownSync(`${dir}/from/a`, 12, 34);
  const { uid, gid } = fs.statSync(`${dir}/from/a`);
  await copyTree(`${dir}/from`, `${dir}/to`, { owner: true });
  const copy = fs.statSync(`${dir}/to/a`);
  assert.deepStrictEqual([copy.uid, copy.gid], [uid, gid]);
  await copyTree(`${dir}/from`, `${dir}/own`);
  assert.strictEqual(fs.statSync(`${dir}/own/a`).uid, process.getuid());
});

/** Runs an expression of Python's module `os`, and returns what it prints of it. */
const python = (expression, ...args) => runProgram('python3', ['-c', `import os, sys; print(${expression})`, ...args]).trim();

testNeeding(program('python3'), 'copyTree keeps extended attributes only if that is asked', async () => {
  const dir = fresh();
  python('os.setxattr(sys.argv[1], "user.smallfry", b"kept")', `${dir}/from/a`);
  const names = (at) => python('os.listxattr(sys.argv[1])', at);
  await copyTree(`${dir}/from`, `${dir}/to`, { attributes: true });
  await copyTree(`${dir}/from`, `${dir}/without`);
  assert.deepStrictEqual([names(`${dir}/to/a`), names(`${dir}/without/a`)], ["['user.smallfry']", '[]']);
});

testNeeding(program('setfacl'), 'copyTree keeps access control lists only if that is asked', async () => {
  const dir = fresh();
  runProgram('setfacl', ['-m', 'u:99:r-x', `${dir}/from/a`]);
  const list = (at) => runProgram('getfacl', ['-cp', at]);
  await copyTree(`${dir}/from`, `${dir}/to`, { accessLists: true });
  await copyTree(`${dir}/from`, `${dir}/without`);
  assert.strictEqual(list(`${dir}/to/a`), list(`${dir}/from/a`));
  assert.ok(!list(`${dir}/without/a`).includes('99'));
});

testOnWindows('copyTree refuses what Windows does not keep, and copies nothing', async () => {
  const dir = fresh();
  for (const options of [{ owner: true }, { accessLists: true }, { attributes: true }, { links: 'follow' }]) {
    await assert.rejects(copyTree(`${dir}/from`, `${dir}/to`, options), { code: 'ERR_SMALLFRY_REFUSED' }, JSON.stringify(options));
  }
  assert.deepStrictEqual(fs.readdirSync(dir), ['from']);
});

testOnWindows('errors have the paths and codes of Windows', async () => {
  const dir = fresh();
  const missing = path.join(dir, 'missing');
  await assert.rejects(removeTree(`${dir}/missing`), { code: 'ENOENT', path: missing });
  await assert.rejects(copyTree(`${dir}/missing`, `${dir}/to`), { code: 'ENOENT', path: missing, dest: path.join(dir, 'to') });
  await assert.rejects(removeTree('C:'), { code: 'ERR_SMALLFRY_REFUSED' });
  fs.chmodSync(`${dir}/from/a`, 0o444);
  await copyTree(`${dir}/from`, `${dir}/to`);
  assert.strictEqual(fs.statSync(`${dir}/to/a`).mode & 0o222, 0);
  await removeTree(dir);
  assert.ok(!fs.existsSync(dir));
});

test('removeTree removes a tree and tells what it removed', async () => {
  const dir = fresh();
  assert.deepStrictEqual(await removeTree(`${dir}/from`), { files: 2 + LINKS, directories: 2, bytes: 0 });
  await assert.rejects(removeTree(`${dir}/from`), { code: 'ENOENT', path: path.join(dir, 'from') });
  assert.deepStrictEqual(await removeTree(`${dir}/from`, { force: true }), { files: 0, directories: 0, bytes: 0 });
  await assert.rejects(removeTree(`${dir}/.`), { code: 'ERR_SMALLFRY_REFUSED' });
  await assert.rejects(removeTree('/'), { code: 'ERR_SMALLFRY_REFUSED' });
  assert.ok(fs.existsSync(dir));
});

test('a tree cannot be copied into itself', async () => {
  const dir = fresh();
  for (const to of ['from', 'from/sub/to']) await assert.rejects(copyTree(`${dir}/from`, `${dir}/${to}`), { code: 'ERR_SMALLFRY_REFUSED' });
  assert.deepStrictEqual(fs.readdirSync(`${dir}/from/sub`), ['b']);
});

test('unchanged files stay, and a copy can be flushed', async () => {
  const dir = fresh();
  const options = { times: true, onlyIfChanged: true, durability: 'full' };
  const { files } = await copyTree(`${dir}/from`, `${dir}/to`, options);
  fs.appendFileSync(`${dir}/from/sub/b`, 'more');
  // `a` is another name of it. A link is the same.
  assert.strictEqual((await copyTree(`${dir}/from`, `${dir}/to`, options)).files, 2);
  assert.strictEqual(files, 2 + LINKS);
  assert.strictEqual(read(dir, 'to/sub/b'), read(dir, 'from/sub/b'));
});

test('wrong arguments are refused before anything is done', async () => {
  const dir = fresh();
  for (const options of [
    { existing: 'no' }, { links: 'followed' }, { times: 1 }, { threads: 0 }, { signal: {} }, { onProgress: 1 }, { hardLinks: 'x' }, 1,
    { method: 'link' }, { onlyIfChanged: 1 }, { durability: 'flush' }, { exclude: '[' }, { exclude: [''] }, { owner: 1 }, { accessLists: 'x' }, { attributes: 0 },
  ]) {
    await assert.rejects(copyTree(`${dir}/from`, `${dir}/to`, options), TypeError);
  }
  await assert.rejects(copyTree(1, `${dir}/to`), TypeError);
  await assert.rejects(removeTree(`${dir}/from`, { force: 1 }), TypeError);
  await assert.rejects(removeTree(`${dir}/from\0`), TypeError);
  assert.deepStrictEqual(fs.readdirSync(dir), ['from']);
});

test('a signal stops a copy, and progress is reported', async () => {
  const dir = fresh();
  for (let index = 0; index < 400; index += 1) fs.writeFileSync(`${dir}/from/sub/${index}`, Buffer.alloc(500_000, index));
  const seen = [];
  const { files, directories, bytes } = await copyTree(`${dir}/from`, `${dir}/to`, { onProgress: (progress) => seen.push(progress) });
  assert.deepStrictEqual(seen.at(-1), { done: files + directories, total: files + directories, bytes });
  await assert.rejects(copyTree(`${dir}/from`, `${dir}/no`, { signal: AbortSignal.abort(new Error('mine')) }), /mine/);
  assert.ok(!fs.existsSync(`${dir}/no`));
  const controller = new AbortController();
  const copied = copyTree(`${dir}/from`, `${dir}/part`, { signal: controller.signal });
  controller.abort(new Error('stopped'));
  await assert.rejects(copied, /stopped/);
  // No thread works on after that.
  const there = fs.existsSync(`${dir}/part/sub`) ? fs.readdirSync(`${dir}/part/sub`) : [];
  assert.ok(there.length < 400);
  for (const name of there) assert.strictEqual(fs.statSync(`${dir}/part/sub/${name}`).size, fs.statSync(`${dir}/from/sub/${name}`).size);
});
