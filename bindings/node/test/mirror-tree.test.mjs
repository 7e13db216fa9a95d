// Guards against: a mirror that is not the same as its source, options that are taken for others,
// a dry run that changes something or tells other changes than are done, and calls that cannot be
// stopped.
//
// Why it was possible: the options cross into native code as bits, and changes come from several
// threads.

/* global AbortController, AbortSignal */

import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { bulk, LINKS, makeDirectory, makeSmallTree, testOnUnix, testOnWindows, withoutAddon } from './support.mjs';

const { mirrorTree } = bulk;
const base = makeDirectory();
let count = 0;

/** Makes a directory with a small tree in it, and returns the paths of the tree and of a mirror. */
function fresh() {
  const dir = path.join(base, String(count++));
  makeSmallTree(path.join(dir, 'from'));
  fs.writeFileSync(path.join(dir, 'from/sub/c'), 'text');
  for (const name of ['from/sub/c', 'from/sub', 'from']) fs.utimesSync(path.join(dir, name), 1000, 2000);
  return [`${dir}/from`, `${dir}/to`];
}

/** Describes all entries of a tree: permissions, times, and contents or targets. */
function describeTree(at) {
  const found = {};
  for (const name of ['', ...fs.readdirSync(at, { recursive: true })].sort()) {
    const { mode, mtimeNs, nlink } = fs.lstatSync(path.join(at, name), { bigint: true });
    const isLink = (mode & 0o170000n) === 0o120000n;
    const isFile = (mode & 0o170000n) === 0o100000n;
    const text = isLink ? fs.readlinkSync(path.join(at, name)) : isFile && fs.readFileSync(path.join(at, name), 'utf8');
    found[name] = { mode, mtimeNs, names: isFile && nlink, text };
  }
  return found;
}

const links = LINKS === 1 ? ['link'] : [];

const sorted = (changes) => changes.map(({ change, path: name }) => `${change} ${name}`).sort();

test('mirrorTree makes the same tree, and then finds nothing to do', async () => {
  const [from, to] = fresh();
  assert.deepStrictEqual(await mirrorTree(from, to), { files: 3 + LINKS, directories: 2, bytes: 10, unchanged: 0, deleted: 0 });
  assert.deepStrictEqual(describeTree(to), describeTree(from));
  const again = await mirrorTree(Buffer.from(from), pathToFileURL(to), { threads: 2, mounts: false });
  assert.deepStrictEqual(again, { files: 0, directories: 0, bytes: 0, unchanged: 5 + LINKS, deleted: 0 });
  const apart = { hardLinks: false, clone: false };
  assert.strictEqual((await mirrorTree(from, `${to} apart`, apart)).bytes, 16);
  assert.strictEqual(fs.statSync(`${to} apart/a`).nlink, 1);
});

testOnUnix('mirrors', 'a dry run tells the changes that are then done', async () => {
  const [from, to] = fresh();
  const first = await mirrorTree(from, to, { dryRun: true });
  assert.deepStrictEqual(sorted(first.changes), ['create ', 'create a', 'create link', 'create sub', 'create sub/b', 'create sub/c']);
  assert.ok(!fs.existsSync(to));
  await mirrorTree(from, to);
  fs.writeFileSync(`${from}/sub/c`, 'longer text');
  fs.chmodSync(`${from}/sub`, 0o711);
  fs.mkdirSync(`${from}/new`);
  fs.writeFileSync(`${from}/new/\u00e4\u{1f41f}`, '');
  fs.utimesSync(from, 1000, 3000);
  fs.mkdirSync(`${to}/old`);
  fs.writeFileSync(`${to}/old/file`, '');
  const before = describeTree(to);
  const { changes, ...counts } = await mirrorTree(from, to, { delete: true, dryRun: true });
  assert.deepStrictEqual(describeTree(to), before);
  const created = changes.map(({ path: name }) => name);
  assert.ok(created.indexOf('new') < created.indexOf('new/\u00e4\u{1f41f}'));
  assert.ok(created.indexOf('old/file') < created.indexOf('old'));
  assert.deepStrictEqual(sorted(changes), [
    'create new', 'create new/\u00e4\u{1f41f}', 'delete old', 'delete old/file', 'set attributes ', 'set attributes sub', 'update sub/c',
  ]);
  assert.deepStrictEqual(await mirrorTree(from, to, { delete: true }), counts);
  assert.deepStrictEqual(describeTree(to), describeTree(from));
  assert.deepStrictEqual((await mirrorTree(from, to, { delete: true, dryRun: true })).changes, []);
});

test('files are compared by contents only if that is asked', async () => {
  const [from, to] = fresh();
  await mirrorTree(from, to);
  fs.writeFileSync(`${from}/sub/c`, 'TEXT');
  fs.utimesSync(`${from}/sub/c`, 1000, 2000);
  for (const compare of [undefined, 'time']) assert.strictEqual((await mirrorTree(from, to, { compare })).files, 0);
  assert.strictEqual(fs.readFileSync(`${to}/sub/c`, 'utf8'), 'text');
  assert.strictEqual((await mirrorTree(from, to, { compare: 'contents' })).files, 1);
  assert.strictEqual(fs.readFileSync(`${to}/sub/c`, 'utf8'), 'TEXT');
});

test('entries that are excluded are neither copied nor deleted', async () => {
  const [from, to] = fresh();
  fs.mkdirSync(to);
  fs.writeFileSync(`${to}/gone`, '');
  fs.writeFileSync(`${to}/kept.log`, '');
  await mirrorTree(from, to, { delete: true, exclude: ['*.log', 'sub/b'] });
  assert.deepStrictEqual(fs.readdirSync(to, { recursive: true }).sort(), ['a', 'kept.log', ...links, 'sub', path.join('sub', 'c')]);
  await mirrorTree(from, to, { delete: true, exclude: 'sub' });
  assert.deepStrictEqual(fs.readdirSync(to).sort(), ['a', ...links, 'sub']);
});

testOnUnix('mirrors', 'an entry that fails is an error, and the others are mirrored', async () => {
  const [from, to] = fresh();
  fs.mkdirSync(`${to}/a`, { recursive: true });
  fs.writeFileSync(`${to}/gone`, '');
  await assert.rejects(mirrorTree(from, to, { hardLinks: false }), (error) => {
    assert.deepStrictEqual([error.code, error.dest], ['EISDIR', `${to}/a`]);
    assert.strictEqual(error.errors.length, 1);
    assert.deepStrictEqual(error.done, { files: 3, directories: 2, bytes: 10, unchanged: 0, deleted: 0 });
    assert.match(error.stack, /mirror-tree\.test/);
    return true;
  });
  assert.strictEqual((await mirrorTree(from, to, { delete: true })).deleted, 2);
  assert.deepStrictEqual(describeTree(to), describeTree(from));
  await assert.rejects(mirrorTree(`${from}/missing`, to), { code: 'ENOENT', path: `${from}/missing` });
  for (const inside of [from, `${from}/sub/to`]) await assert.rejects(mirrorTree(from, inside), { code: 'ERR_SMALLFRY_REFUSED' });
});

testOnWindows('a dry run tells changes with the paths of Windows', async () => {
  const [from, to] = fresh();
  const { changes } = await mirrorTree(from, to, { dryRun: true });
  assert.deepStrictEqual(sorted(changes), ['create ', 'create a', 'create sub', 'create sub\\b', 'create sub\\c']);
  assert.ok(!fs.existsSync(to));
});

test('wrong arguments are refused before anything is done', async () => {
  const [from, to] = fresh();
  for (const options of [
    { delete: 1 }, { compare: 'size' }, { dryRun: 'yes' }, { exclude: '' }, { exclude: '[' }, { threads: 0 }, { clone: 'x' }, { signal: {} }, 1,
  ]) {
    await assert.rejects(mirrorTree(from, to, options), TypeError);
  }
  await assert.rejects(mirrorTree(from), TypeError);
  assert.ok(!fs.existsSync(to));
});

test('a signal stops a mirror, another one does the rest, and progress is reported', async () => {
  const [from, to] = fresh();
  for (let index = 0; index < 400; index += 1) fs.writeFileSync(`${from}/sub/${index}`, Buffer.alloc(200_000, index));
  await assert.rejects(mirrorTree(from, to, { signal: AbortSignal.abort(new Error('mine')) }), /mine/);
  assert.ok(!fs.existsSync(to));
  const controller = new AbortController();
  const mirrored = mirrorTree(from, to, { signal: controller.signal });
  controller.abort(new Error('stopped'));
  await assert.rejects(mirrored, /stopped/);
  const seen = [];
  const { unchanged, ...changed } = await mirrorTree(from, to, { onProgress: (progress) => seen.push(progress) });
  const total = changed.files + changed.directories + unchanged;
  assert.deepStrictEqual([total, seen.at(-1)], [405 + LINKS, { done: total, total, bytes: changed.bytes }]);
  assert.deepStrictEqual(describeTree(to), describeTree(from));
});

test('mirrorTree needs the addon', async () => {
  await assert.rejects(withoutAddon(makeDirectory()).mirrorTree('a', 'b'), { code: 'ERR_SMALLFRY_NOT_NATIVE' });
});
