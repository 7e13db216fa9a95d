// Runs the examples in Node as a user would: with the package installed beside them.

import assert from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'smallfry-examples-'));
after(() => fs.rmSync(directory, { recursive: true, force: true }));
for (const name of ['site', 'watch', 'cache']) fs.cpSync(path.join(here, name), path.join(directory, name), { recursive: true });
fs.mkdirSync(path.join(directory, 'node_modules'));
fs.symlinkSync(path.join(here, '../bindings/node'), path.join(directory, 'node_modules/smallfry'));
const example = (file) => import(pathToFileURL(path.join(directory, file)));

const page = (index) => `# Page ${index}\n\nIt has <text> & more.\n\n- one\n- two\n`;

/** Makes so many pages, 100 to a directory. */
function makeContent(name, count) {
  const content = path.join(directory, name);
  for (let index = 0; index < count; index++) {
    const place = path.join(content, String(Math.floor(index / 100)));
    if (index % 100 === 0) fs.mkdirSync(place, { recursive: true });
    fs.writeFileSync(path.join(place, `${index}.md`), page(index));
  }
  return content;
}

test('site: 5,000 pages are built, and only what has changed is written again', async () => {
  const { build } = await example('site/build.mjs');
  const [content, site] = [makeContent('content', 5_000), path.join(directory, 'site-out')];
  assert.deepStrictEqual(await build(content, site), { pages: 5_000, written: 5_001 });
  assert.strictEqual(fs.readFileSync(path.join(site, '49/4999.html'), 'utf8'),
    '<!doctype html><meta charset="utf-8"><title>Page 4999</title>\n<h1>Page 4999</h1>\n<p>It has &lt;text> &amp; more.</p>\n<ul><li>one</li><li>two</li></ul>\n');
  assert.strictEqual((await build(content, site)).written, 0);
  fs.appendFileSync(path.join(content, '3/345.md'), '\nNew.\n');
  assert.strictEqual((await build(content, site)).written, 1);
  const told = spawnSync(process.execPath, ['site/build.mjs', content, site], { cwd: directory, encoding: 'utf8' });
  assert.strictEqual(told.stdout, '5000 pages, 0 files written\n');
  assert.strictEqual(spawnSync(process.execPath, ['site/build.mjs'], { cwd: directory }).status, 2);
});

const strace = spawnSync('strace', ['--version']).status === 0;
if (!strace && process.env.CI === 'true') throw new Error('strace is not installed');

test('site: what is published is flushed', { skip: !strace && 'strace is not installed' }, () => {
  const [content, calls] = [makeContent('flushed', 100), path.join(directory, 'calls')];
  const command = [process.execPath, 'site/build.mjs', content, path.join(directory, 'flushed-out')];
  const traced = ['-f', '-o', calls, '-e', 'trace=fsync,fdatasync,syncfs', ...command];
  assert.strictEqual(spawnSync('strace', traced, { cwd: directory, encoding: 'utf8' }).stdout, '100 pages, 101 files written\n');
  assert.match(fs.readFileSync(calls, 'utf8'), /sync(?:fs)?\(\d+\) += 0/);
});

test('watch: what is saved is built, and a pile of changes once', async () => {
  const { watch } = await example('watch/watch.mjs');
  const [content, site] = [makeContent('watched', 200), path.join(directory, 'watched-out')];
  const builds = [];
  const ending = new AbortController();
  const watching = watch(content, site, { signal: ending.signal, onBuilt: (built) => builds.push(built.written) });
  const until = async (holds) => {
    for (let turn = 0; turn < 500 && !holds(); turn++) await sleep(20);
    assert.ok(holds(), `builds: ${builds}`);
  };
  await until(() => builds.length === 1);
  assert.strictEqual(builds[0], 201);
  for (let index = 0; index < 50; index++) fs.appendFileSync(path.join(content, `0/${index}.md`), '\nSaved.\n');
  await until(() => builds.slice(1).reduce((sum, written) => sum + written, 0) === 50);
  ending.abort();
  await watching;
  const command = spawn(process.execPath, ['watch/watch.mjs', content, site], { cwd: directory });
  try {
    let told = '';
    command.stdout.setEncoding('utf8').on('data', (text) => { told += text; });
    await until(() => told === '200 pages, 0 files written\n');
  } finally {
    command.kill();
  }
  assert.strictEqual(spawnSync(process.execPath, ['watch/watch.mjs'], { cwd: directory }).status, 2);
});

test('cache: it is made once and restored, also where it is damaged', async () => {
  const { restore } = await example('cache/restore.mjs');
  const at = (name) => path.join(directory, name);
  fs.writeFileSync(at('package-lock.json'), '{"lockfileVersion":3}');
  let made = 0;
  const make = () => {
    made += 1;
    fs.mkdirSync(at('modules/left-pad/lib'), { recursive: true });
    fs.writeFileSync(at('modules/left-pad/lib/index.js'), 'module.exports = 1;');
    fs.symlinkSync('lib/index.js', at('modules/left-pad/main.js'));
  };
  const get = () => restore(at('package-lock.json'), at('modules'), at('archives'), make);
  assert.strictEqual(await get(), false);
  fs.rmSync(at('modules'), { recursive: true });
  assert.strictEqual(await get(), true);
  assert.strictEqual(fs.readFileSync(at('modules/left-pad/main.js'), 'utf8'), 'module.exports = 1;');
  const [archive] = fs.readdirSync(at('archives'));
  fs.truncateSync(path.join(at('archives'), archive), 40);
  assert.strictEqual(await get(), false);
  fs.writeFileSync(at('package-lock.json'), '{"lockfileVersion":4}');
  assert.strictEqual(await get(), false);
  assert.deepStrictEqual([made, fs.readdirSync(at('archives')).length], [3, 2]);
  const run = (...words) => spawnSync(process.execPath, ['cache/restore.mjs', ...words], { cwd: directory, encoding: 'utf8' });
  assert.strictEqual(run('package-lock.json', 'modules', 'archives', '--', 'false').stdout, 'modules restored\n');
  fs.writeFileSync(at('package-lock.json'), '{"lockfileVersion":5}');
  assert.match(run('package-lock.json', 'modules', 'archives', '--', 'false').stderr, /false ended with 1/);
  assert.strictEqual(run('package-lock.json', 'modules', 'archives', '--', 'mkdir', 'modules').stdout, 'modules made and kept\n');
  assert.strictEqual(run('package-lock.json').status, 2);
});
