// Guards against: a digest that is another one than other programs give, or that stands at another
// path's place, and calls that cannot be stopped.
//
// Why it was possible: the algorithm crosses into native code as a number, threads of its own hash
// the files in any order, and digests become values in several turns of the event loop.

/* global AbortController, AbortSignal, setTimeout */

import assert from 'node:assert';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { bulk, isWindows, makeDirectory, openDescriptors, runScript, testOnUnix, testOnWindows, withoutAddon } from './support.mjs';

const { hashFiles, hashTree } = bulk;
const directory = makeDirectory();
const at = (name) => path.join(directory, name);

/** Files of many sizes, some larger than the memory of a worker. */
const many = Array.from({ length: isWindows ? 600 : 3000 }, (_, index) => at(`file-${index}`));
for (const [index, name] of many.entries()) fs.writeFileSync(name, Buffer.alloc(index % 500 === 0 ? 200_000 + index : index % 97, `${index}`));

const node = (algorithm, name, encoding = 'hex') => crypto.createHash(algorithm).update(fs.readFileSync(name)).digest(encoding);

test('digests are those of node:crypto, in the order of paths, for any number of threads', async () => {
  for (const algorithm of ['sha256', 'sha1']) {
    const expected = many.map((name) => node(algorithm, name));
    for (const threads of [undefined, 1, 8]) {
      assert.deepStrictEqual(await hashFiles(many, { algorithm, threads }), expected);
    }
  }
});

test('blake3 is the default, and git names blobs as git does', async () => {
  fs.writeFileSync(at('abc'), 'abc');
  assert.deepStrictEqual(await hashFiles([at('abc')]), ['6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85']);
  assert.deepStrictEqual(await hashFiles([at('abc')], { algorithm: 'git' }), ['f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f']);
});

test('digests come in each encoding', async () => {
  for (const encoding of ['hex', 'base64', 'base64url']) {
    assert.deepStrictEqual(await hashFiles(many.slice(0, 100), { algorithm: 'sha256', encoding }), many.slice(0, 100).map((name) => node('sha256', name, encoding)));
  }
  const [digest] = await hashFiles([many[1]], { algorithm: 'sha1', encoding: 'buffer' });
  assert.ok(Buffer.isBuffer(digest));
  assert.deepStrictEqual(digest, node('sha1', many[1], 'buffer'));
});

test('paths may be any iterable of strings, URLs and Buffers, also an empty one', async () => {
  assert.deepStrictEqual(await hashFiles([]), []);
  const paths = function* paths() { yield many[1]; yield pathToFileURL(many[1]); yield Buffer.from(many[1]); };
  const digests = await hashFiles(paths(), { algorithm: 'sha1' });
  assert.deepStrictEqual(digests, Array(3).fill(node('sha1', many[1])));
});

test('a failed file rejects as in readFiles, or stands at its place with settle', async () => {
  const paths = [many[1], at('none'), many[2]];
  await assert.rejects(hashFiles(paths), { code: 'ENOENT', path: at('none'), syscall: 'open' });
  for (const encoding of ['hex', 'buffer']) {
    const settled = await hashFiles(paths, { settle: true, encoding, algorithm: 'sha1' });
    assert.deepStrictEqual(settled.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled']);
    assert.deepStrictEqual(settled[2].value, node('sha1', many[2], encoding === 'hex' ? 'hex' : 'buffer'));
    assert.strictEqual(settled[1].reason.code, 'ENOENT');
  }
  await assert.rejects(hashFiles([directory]), { code: 'EISDIR' });
});

test('progress only grows, up to the total', async () => {
  const seen = [];
  await hashFiles(many, { onProgress: (progress) => seen.push(progress) });
  const bytes = many.reduce((all, name) => all + fs.statSync(name).size, 0);
  assert.deepStrictEqual(seen.at(-1), { done: many.length, total: many.length, bytes });
  for (const [index, { done, bytes }] of seen.slice(1).entries()) assert.ok(done >= seen[index].done && bytes >= seen[index].bytes);
});

test('a signal aborts before and during the call, also in the middle of a file', async () => {
  await assert.rejects(hashFiles(many, { signal: AbortSignal.abort(new Error('mine')) }), /mine/);
  const controller = new AbortController();
  const hashed = hashFiles(many, { signal: controller.signal });
  controller.abort();
  await assert.rejects(hashed, { name: 'AbortError' });
  if (isWindows) return;
  // It has no end.
  for (const end of ['abort.abort()', 'process.exit(0)']) {
    const { code, stdout, stderr } = await runScript(directory, `
      const abort = new AbortController();
      bulk.hashFiles(['/dev/zero'], { signal: abort.signal }).catch((error) => console.log(error.name));
      setTimeout(() => { ${end}; }, 20);`);
    assert.deepStrictEqual([code, stdout], [0, end.includes('exit') ? '' : 'AbortError\n'], stderr);
  }
});

test('wrong arguments are refused', async () => {
  const invalid = { name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' };
  const type = { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' };
  for (const options of [{ algorithm: 'md5' }, { encoding: 'utf8' }, { threads: 0 }, { settle: 1 }]) {
    await assert.rejects(hashFiles(many, options), invalid, JSON.stringify(options));
  }
  for (const options of [{ signal: {} }, { onProgress: 1 }, 1]) await assert.rejects(hashFiles(many, options), type, JSON.stringify(options));
  for (const paths of [undefined, 'a', 1, [1]]) await assert.rejects(hashFiles(paths), type);
  for (const options of [{ algorithm: 'md5' }, { exclude: '[' }]) await assert.rejects(hashTree(directory, options), invalid);
});

test('hashTree gives the digest of docs/tree-digest.md and what it was made of', async () => {
  const tree = at('tree');
  fs.mkdirSync(path.join(tree, 'b'), { recursive: true });
  fs.writeFileSync(path.join(tree, 'a'), 'abc', { mode: 0o644 });
  const digest = 'b0f962387c9a09a587021582f77a6176fc45d2bdee318bdbc18eed510ec20e7a';
  assert.deepStrictEqual(await hashTree(tree), { digest, files: 1, directories: 2, bytes: 3 });
  fs.writeFileSync(path.join(tree, 'b/log'), 'x');
  assert.strictEqual((await hashTree(pathToFileURL(tree), { exclude: 'log', encoding: 'base64' })).digest, Buffer.from(digest, 'hex').toString('base64'));
  assert.notStrictEqual((await hashTree(tree)).digest, digest);
  assert.strictEqual((await hashTree(tree, { algorithm: 'sha1', encoding: 'buffer', threads: 2 })).digest.length, 20);
});

test('hashTree fails for what is missing, and stops', async () => {
  await assert.rejects(hashTree(at('missing')), (error) => {
    assert.strictEqual(error.code, 'ENOENT');
    assert.strictEqual(error.path, at('missing'));
    assert.deepStrictEqual(error.done, { files: 0, directories: 0, bytes: 0 });
    return true;
  });
  await assert.rejects(hashTree(directory, { signal: AbortSignal.abort() }), { name: 'AbortError' });
  const controller = new AbortController();
  const hashed = hashTree(directory, { signal: controller.signal });
  controller.abort();
  await assert.rejects(hashed, { name: 'AbortError' });
  const seen = [];
  const { files, directories, bytes } = await hashTree(directory, { onProgress: (progress) => seen.push(progress) });
  assert.deepStrictEqual(seen.at(-1), { done: files + directories, total: files + directories, bytes });
});

/** Makes files that were changed long enough ago to be kept in a cache. */
async function oldFiles(...names) {
  const dir = makeDirectory();
  const files = names.map((name) => path.join(dir, name));
  for (const file of files) fs.writeFileSync(file, `text of ${file}`);
  await new Promise((resolve) => setTimeout(resolve, 2100));
  return { dir, files };
}

testOnUnix('caches of digests', 'with a cache only files that have changed are read', async () => {
  const { dir, files } = await oldFiles('a', 'b');
  const cache = at('digests');
  const bytes = fs.statSync(files[0]).size + fs.statSync(files[1]).size;
  const tree = await hashTree(dir, { cache });
  assert.strictEqual(tree.bytes, bytes);
  assert.deepStrictEqual(await hashTree(dir, { cache: pathToFileURL(cache) }), { ...tree, bytes: 0 });
  // Of files and of trees the digests are the same ones.
  const seen = [];
  const plain = await hashFiles(files);
  assert.deepStrictEqual(await hashFiles(files, { cache, onProgress: (progress) => seen.push(progress) }), plain);
  assert.strictEqual(seen.at(-1).bytes, 0);
  const other = { algorithm: 'sha256', cache };
  for (let round = 0; round < 2; round += 1) assert.deepStrictEqual(await hashFiles(files, other), files.map((file) => node('sha256', file)));
  fs.writeFileSync(files[0], 'other');
  const digests = await hashFiles(files, { cache });
  assert.deepStrictEqual(digests, await hashFiles(files));
  assert.strictEqual((await hashTree(dir, { cache })).digest, (await hashTree(dir)).digest);
});

testOnUnix('caches of digests', 'a cache is saved after an error, too, and calls may use one at once', async () => {
  const { files } = await oldFiles('a', 'b');
  const cache = at('after-error');
  await assert.rejects(hashFiles([...files, at('none')], { cache, threads: 1 }), { code: 'ENOENT', path: at('none') });
  assert.ok(fs.statSync(cache).size > 100);
  await assert.rejects(hashTree(at('none'), { cache }), { code: 'ENOENT' });
  const expected = await hashFiles(files);
  const all = await Promise.all(Array.from({ length: 8 }, () => hashFiles(files, { cache })));
  for (const digests of all) assert.deepStrictEqual(digests, expected);
  const settled = await hashFiles([...files, at('none')], { cache, settle: true });
  assert.deepStrictEqual(settled.map(({ status }) => status), ['fulfilled', 'fulfilled', 'rejected']);
  const controller = new AbortController();
  const aborted = hashFiles(files, { cache: at('aborted'), signal: controller.signal });
  controller.abort(new Error('mine'));
  await assert.rejects(aborted, /mine/);
});

testOnUnix('caches of digests', 'errors of the cache reach the caller, and no other file is replaced', async () => {
  const { files: [file] } = await oldFiles('a');
  const text = at('text');
  fs.writeFileSync(text, 'no cache');
  for (const call of [() => hashFiles([file], { cache: text }), () => hashTree(file, { cache: text })]) {
    await assert.rejects(call(), (error) => {
      assert.deepStrictEqual([error.code, error.path], ['ERR_SMALLFRY_REFUSED', text]);
      assert.match(error.stack, /hash\.test/);
      return true;
    });
  }
  assert.strictEqual(fs.readFileSync(text, 'utf8'), 'no cache');
  await assert.rejects(hashFiles([file], { cache: directory }), { code: 'ERR_SMALLFRY_REFUSED', path: directory });
  const missing = at('missing/digests');
  for (const call of [() => hashFiles([file], { cache: missing }), () => hashTree(file, { cache: missing })]) {
    await assert.rejects(call(), { code: 'ENOENT', path: missing });
  }
  for (const cache of [1, null, '', 'a\0b']) await assert.rejects(hashFiles([file], { cache }), (error) => error.code !== undefined, String(cache));
});

testOnWindows('a cache of digests is refused', async () => {
  for (const call of [() => hashFiles(many, { cache: at('digests') }), () => hashTree(directory, { cache: at('digests') })]) {
    await assert.rejects(call(), { code: 'ERR_SMALLFRY_REFUSED' });
  }
});

test('a worker that hashes may be terminated at any moment', async () => {
  const { code, signal, stdout, stderr } = await runScript(directory, `
    const { Worker, isMainThread, parentPort } = require('node:worker_threads');
    const paths = ${JSON.stringify(many)};
    if (!isMainThread) {
      (async () => { for (let i = 0; ; i += 1) { const all = bulk.hashFiles(paths); parentPort.postMessage(i); await all; } })();
    } else (async () => {
      const { once } = require('node:events');
      for (let round = 0; round < 8; round += 1) {
        const worker = new Worker(__filename);
        await once(worker, 'message');
        await new Promise((resolve) => setTimeout(resolve, round));
        await worker.terminate();
      }
      console.log('alive', (await bulk.hashFiles(paths)).length);
    })();`);
  assert.deepStrictEqual([signal, stdout, code], [null, `alive ${many.length}\n`, 0], stderr);
});

test('no file stays open', async () => {
  const before = openDescriptors();
  await hashFiles(many, { settle: true });
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(openDescriptors() <= before + 1);
});

test('without the addon hashing is refused', async () => {
  const { hashFiles, hashTree } = withoutAddon(makeDirectory());
  for (const call of [hashFiles([]), hashTree('.')]) await assert.rejects(call, { code: 'ERR_SMALLFRY_NOT_NATIVE' });
});
