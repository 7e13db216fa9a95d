// Guards against: files of a tree that are missed, given twice or in another order than that of
// their names, and options that are not understood but taken. What patterns and ignore files mean
// is tried in the core.

/* global AbortController, AbortSignal */

import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { bulk, isWindows, makeDirectory, packageDirectory, runNode, testNeeding, withoutAddon } from './support.mjs';

const directory = makeDirectory();
const root = path.join(directory, 'site');
const files = {
  'a.md': '# a', 'b.txt': 'b', 'posts/one.md': '\u20ac', 'posts/deep/two.md': 'two', 'posts/deep/two.html': '<p>', 'drafts/three.md': '3',
  '.hidden/four.md': '4', 'ignored.md': 'i', 'empty.md': '', 'latin.md': 'caf\u00e9',
};
for (const [name, contents] of Object.entries(files)) {
  fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
  fs.writeFileSync(path.join(root, name), contents);
}
fs.writeFileSync(path.join(root, '.ignore'), 'ignored.md\n');
const names = (found) => found.map(({ path: name }) => path.relative(root, name).replaceAll(path.sep, '/'));

test('readTree gives the files of a tree with their contents', async () => {
  const visible = Object.keys(files).filter((name) => !name.startsWith('.') && name !== 'ignored.md');
  const found = await bulk.readTree(root, 'utf8');
  assert.deepStrictEqual(names(found).sort(), visible.sort());
  for (const [index, { contents }] of found.entries()) assert.strictEqual(contents, files[names(found)[index]]);
  assert.deepStrictEqual(names(await bulk.readTree(root)), names(found), 'the same order again');
  for (const { path: name, contents } of await bulk.readTree(pathToFileURL(root))) assert.deepStrictEqual(contents, fs.readFileSync(name));
});

test('match, ignore, ignoreFiles, hidden and maxDepth select files', async () => {
  const read = async (options) => names(await bulk.readTree(root, options)).sort();
  assert.deepStrictEqual(await read({ match: '**/*.md', ignore: ['drafts', '*.txt'] }), ['a.md', 'empty.md', 'latin.md', 'posts/deep/two.md', 'posts/one.md']);
  assert.deepStrictEqual(await read({ match: ['*.txt', 'posts/**/*.html'] }), ['b.txt', 'posts/deep/two.html']);
  assert.ok((await read({ ignoreFiles: false })).includes('ignored.md'));
  assert.ok((await read({ hidden: true })).includes('.hidden/four.md'));
  assert.deepStrictEqual(await read({ maxDepth: 1, match: '*.md' }), ['a.md', 'empty.md', 'latin.md']);
  assert.deepStrictEqual(await read({ match: 'none' }), []);
});

test('settle, progress and signals work as in readFiles', async () => {
  if (!isWindows) fs.symlinkSync('nowhere', path.join(root, 'dangling.md'));
  const seen = [];
  const outcomes = await bulk.readTree(root, { settle: true, encoding: 'utf8', onProgress: (progress) => seen.push(progress) });
  for (const { status, value, reason } of outcomes) assert.ok(status === 'fulfilled' ? typeof value.contents === 'string' : reason.code === 'ENOENT');
  assert.strictEqual(seen.at(-1).done, outcomes.length);
  fs.rmSync(path.join(root, 'dangling.md'), { force: true });
  const reason = new Error('on purpose');
  await assert.rejects(bulk.readTree(root, { signal: AbortSignal.abort(reason) }), (error) => error === reason);
  const controller = new AbortController();
  const call = bulk.readTree(root, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(call, (error) => error === reason);
});

test('errors name their file', async () => {
  await assert.rejects(bulk.readTree(root, { maxFileSize: 2, match: 'posts/*.md' }), { code: 'ERR_FS_FILE_TOO_LARGE', path: path.join(root, 'posts/one.md'), message: /one\.md.* 3 .* 2/ });
  const [outcome] = await bulk.readTree(root, { maxFileSize: 2, match: 'posts/*.md', settle: true });
  assert.deepStrictEqual([outcome.reason.code, outcome.reason.path], ['ERR_FS_FILE_TOO_LARGE', path.join(root, 'posts/one.md')]);
  const file = path.join(root, 'a.md');
  const theirs = await fs.promises.readdir(file).catch((error) => error);
  const own = await bulk.readTree(file).catch((error) => error);
  for (const key of ['message', 'code', 'errno', 'syscall', 'path']) assert.strictEqual(own[key], theirs[key]);
});

test('a wrong root and wrong options reject', async () => {
  await assert.rejects(bulk.readTree(path.join(directory, 'none')), { code: 'ENOENT' });
  for (const [args, message] of [
    [[7], /A path must be/], [['a\0b'], /null bytes/], [[root, 7], /"options" argument/], [[root, { match: 7 }], /"match" option.*7/], [[root, { match: [''] }], /"match" option/],
    [[root, { ignore: [null] }], /"ignore" option/], [[root, { hidden: 1 }], /"hidden" option/], [[root, { maxDepth: 0 }], /"maxDepth" option/], [[root, { ignoreFiles: 'no' }], /"ignoreFiles" option/],
  ]) await assert.rejects(bulk.readTree(...args), { name: 'TypeError', message });
  await assert.rejects(bulk.readTree(root, { match: 'a{b' }), { code: 'ERR_SMALLFRY_REFUSED', path: root, message: /a\{b/ });
});

const limits = {
  there: process.platform === 'linux' && process.getuid() === 0 && spawnSync('prlimit', ['--version']).status === 0,
  missing: 'a limit on threads takes prlimit, and root to become a user whom it binds',
};
testNeeding(limits, 'without a thread readTree fails and the process ends; other calls are done by node:fs', async () => {
  const script = path.join(directory, 'no-thread.cjs');
  fs.chmodSync(directory, 0o755);
  fs.writeFileSync(script, `const bulk = require(${JSON.stringify(path.join(packageDirectory, 'dist/index.js'))}), fs = require('node:fs');
    const name = ${JSON.stringify(path.join(root, 'a.md'))};
    (async () => {
      await Promise.all(Array.from({ length: 8 }, () => fs.promises.readFile(name))); // begins Node's own threads
      process.setgid(65534); process.setuid(65534);
      const told = [await bulk.readTree(${JSON.stringify(root)}).catch((error) => error.code), ...(await bulk.readFiles([name], 'utf8'))];
      for await (const { contents } of bulk.readFilesStream([name], 'utf8')) told.push(contents);
      console.log(told.join());
    })();`);
  const { code, stdout, stderr } = await runNode(['--nproc=1', process.execPath, script], { command: 'prlimit' });
  assert.deepStrictEqual([stdout, code], ['ERR_SMALLFRY_NO_THREAD,# a,# a\n', 0], stderr);
});

test('without the addon readTree is refused', async () => {
  await assert.rejects(withoutAddon(directory).readTree(root), { code: 'ERR_SMALLFRY_NOT_NATIVE', message: /readTree needs smallfry's native addon, which did not load: there is no native addon: .+\. List the files by node:fs/ });
});
