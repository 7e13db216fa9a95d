// Guards against: a tree that is copied or removed in one call with the wrong options, errors that
// do not reach the caller, and calls that cannot be stopped.
//
// Why it was possible: the options cross into native code as bits, and threads of its own do the
// work.

/* global AbortController, AbortSignal */

import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';

import { bulk, makeDirectory, makeSmallTree, testOnUnix } from './support.mjs';

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

testOnUnix('calls for trees', 'copyTree copies a tree and tells what it copied', async () => {
  const dir = fresh();
  assert.deepStrictEqual(await copyTree(`${dir}/from`, `${dir}/to`), { files: 3, directories: 2, bytes: 6 });
  assert.strictEqual(fs.statSync(`${dir}/to/a`).ino, fs.statSync(`${dir}/to/sub/b`).ino);
  assert.strictEqual(fs.readlinkSync(`${dir}/to/link`), 'sub/b');
  const options = { hardLinks: false, links: 'absolute', createParents: true, times: true, threads: 2 };
  assert.deepStrictEqual(await copyTree(Buffer.from(`${dir}/from`), `${dir}/above/to`, options), { files: 3, directories: 2, bytes: 12 });
  assert.strictEqual(fs.readlinkSync(`${dir}/above/to/link`), `${dir}/from/sub/b`);
  assert.strictEqual(fs.statSync(`${dir}/above/to/a`).mtimeMs, fs.statSync(`${dir}/from/a`).mtimeMs);
});

testOnUnix('calls for trees', 'copyTree does with existing files what the option says', async () => {
  const dir = fresh();
  await copyTree(`${dir}/from`, `${dir}/to`, { hardLinks: false });
  fs.writeFileSync(`${dir}/to/a`, 'changed');
  await copyTree(`${dir}/from`, `${dir}/to`, { existing: 'keep' });
  assert.strictEqual(read(dir, 'to/a'), 'changed');
  await assert.rejects(copyTree(`${dir}/from`, `${dir}/to`, { existing: 'error', hardLinks: false }), (error) => {
    assert.strictEqual(error.code, 'EEXIST');
    assert.strictEqual(error.errors.length, 3);
    assert.deepStrictEqual(error.done, { files: 0, directories: 2, bytes: 0 });
    assert.match(error.stack, /copy-tree\.test/);
    return true;
  });
  await copyTree(`${dir}/from`, `${dir}/to`);
  assert.strictEqual(read(dir, 'to/a'), 'text a');
});

testOnUnix('calls for trees', 'removeTree removes a tree and tells what it removed', async () => {
  const dir = fresh();
  assert.deepStrictEqual(await removeTree(`${dir}/from`), { files: 3, directories: 2, bytes: 0 });
  await assert.rejects(removeTree(`${dir}/from`), { code: 'ENOENT', path: `${dir}/from` });
  assert.deepStrictEqual(await removeTree(`${dir}/from`, { force: true }), { files: 0, directories: 0, bytes: 0 });
  await assert.rejects(removeTree(`${dir}/.`), { code: 'ERR_SMALLFRY_REFUSED' });
  await assert.rejects(removeTree('/'), { code: 'ERR_SMALLFRY_REFUSED' });
  assert.ok(fs.existsSync(dir));
});

testOnUnix('calls for trees', 'a tree cannot be copied into itself', async () => {
  const dir = fresh();
  for (const to of ['from', 'from/sub/to']) await assert.rejects(copyTree(`${dir}/from`, `${dir}/${to}`), { code: 'ERR_SMALLFRY_REFUSED' });
  assert.deepStrictEqual(fs.readdirSync(`${dir}/from/sub`), ['b']);
});

testOnUnix('calls for trees', 'wrong arguments are refused before anything is done', async () => {
  const dir = fresh();
  for (const options of [
    { existing: 'no' }, { links: 'followed' }, { times: 1 }, { threads: 0 }, { signal: {} }, { onProgress: 1 }, { hardLinks: 'x' }, 1,
  ]) {
    await assert.rejects(copyTree(`${dir}/from`, `${dir}/to`, options), TypeError);
  }
  await assert.rejects(copyTree(1, `${dir}/to`), TypeError);
  await assert.rejects(removeTree(`${dir}/from`, { force: 1 }), TypeError);
  await assert.rejects(removeTree(`${dir}/from\0`), TypeError);
  assert.deepStrictEqual(fs.readdirSync(dir), ['from']);
});

testOnUnix('calls for trees', 'a signal stops a copy, and progress is reported', async () => {
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
