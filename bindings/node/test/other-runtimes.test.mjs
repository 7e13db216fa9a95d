// Guards against: a package that works on Node alone. Bun and Deno run the same script; what they
// print is compared.

import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { makeDirectory, packageDirectory, testNeeding } from './support.mjs';

const modules = path.join(packageDirectory, 'test/runtimes/node_modules');
const RUNTIMES = [
  ['Bun', path.join(modules, 'bun/bin/bun'), []],
  ['Deno', path.join(modules, 'deno/deno'), ['run', '--allow-all']],
];

const directory = makeDirectory();
const script = path.join(directory, 'script.cjs');
fs.writeFileSync(script, `
const fs = require('node:fs');
const assert = require('node:assert');
const path = require('node:path');
const smallfry = require(${JSON.stringify(packageDirectory)});
const [directory] = process.argv.slice(-1);
const texts = Array.from({ length: 300 }, (_, i) => ['', 'plain ', 'caf\\u00e9 ', '\\u20ac\\ud83d\\ude00 '][i % 4].repeat(i * 7));
const names = texts.map((_, i) => path.join(directory, 'd' + (i % 5), String(i)));

async function main() {
  await smallfry.writeFiles(names.map((name, i) => [name, texts[i]]), { createParents: true });
  smallfry.writeFilesSync(names.map((name, i) => [name + '.sync', Buffer.from(texts[i])]));
  for (const suffix of ['', '.sync']) {
    const all = names.map((name) => name + suffix);
    assert.deepStrictEqual(all.map((name) => fs.readFileSync(name, 'utf8')), texts);
    assert.deepStrictEqual(await smallfry.readFiles(all, 'utf8'), texts);
    assert.deepStrictEqual(smallfry.readFilesSync(all, 'utf8'), texts);
    const buffers = await smallfry.readFiles(all);
    buffers.forEach((buffer, i) => {
      assert.ok(Buffer.isBuffer(buffer));
      assert.strictEqual(buffer.toString(), texts[i]);
      assert.strictEqual(Buffer.from(structuredClone(buffer)).toString(), texts[i]);
    });
  }
  const own = await smallfry.promises.readFile(names[299]);
  assert.strictEqual(own.toString(), texts[299]);
  assert.strictEqual(smallfry.readFileSync(names[298], 'utf8'), texts[298]);
  for (const data of ['plain ', 'caf\\u00e9', Buffer.from('bytes'), new DataView(new ArrayBuffer(3)), new Uint16Array(2)]) {
    const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const plain = path.join(directory, 'plain');
    smallfry.writeFileSync(plain, data);
    assert.deepStrictEqual(smallfry.readFileSync(plain), bytes);
    const fd = fs.openSync(plain, 'w+');
    smallfry.writeFileSync(fd, data);
    fs.closeSync(fd);
    assert.deepStrictEqual(await smallfry.promises.readFile(plain), bytes);
    fs.unlinkSync(plain);
  }
  const outcomes = await smallfry.readFiles([names[0], path.join(directory, 'missing')], { settle: true });
  assert.deepStrictEqual(outcomes.map(({ status }) => status), ['fulfilled', 'rejected']);
  assert.strictEqual(outcomes[1].reason.code, 'ENOENT');
  let streamed = 0;
  for await (const { contents } of smallfry.readFilesStream(names, 'utf8')) assert.strictEqual(contents, texts[streamed++]);
  assert.strictEqual(streamed, names.length);
  const tree = await smallfry.readTree(directory, { match: ['**/*.sync'] });
  assert.strictEqual(tree.length, names.length);
  const durable = path.join(directory, 'durable');
  fs.mkdirSync(durable);
  const at = (name) => path.join(durable, name);
  for (const options of [{ durability: 'data' }, { durability: 'full', replace: true }, { encoding: 'utf8', flush: true }, { durability: 'full', flag: 'w+' }]) {
    const added = options.flag ? { durability: 'full' } : options;
    smallfry.writeFileSync(at('a'), 'one', options);
    smallfry.appendFileSync(at('a'), ' two', added);
    await smallfry.promises.writeFile(at('b'), Buffer.from('one'), options);
    await smallfry.promises.appendFile(at('b'), ' two', added);
    await new Promise((resolve, reject) => smallfry.writeFile(at('c'), 'one two', options, (error) => (error ? reject(error) : resolve())));
    for (const name of ['a', 'b', 'c']) assert.strictEqual(fs.readFileSync(at(name), 'utf8'), 'one two');
  }
  await Promise.all(names.map((_, i) => smallfry.promises.writeFile(at('p' + i), texts[i], { durability: 'full', replace: true })));
  await smallfry.writeFiles(names.map((_, i) => [at('m' + i), texts[i]]), { durability: 'full', replace: true });
  smallfry.writeFilesSync(names.map((_, i) => [at('s' + i), texts[i]]), { durability: 'data' });
  for (const kind of ['p', 'm', 's']) assert.deepStrictEqual(names.map((_, i) => fs.readFileSync(at(kind + i), 'utf8')), texts);
  const controller = new AbortController();
  controller.abort();
  await assert.rejects(smallfry.promises.writeFile(at('never'), 'x', { durability: 'full', signal: controller.signal }), { name: 'AbortError' });
  assert.throws(() => smallfry.writeFileSync(at('never'), 'x', { durability: 'most' }), { code: 'ERR_INVALID_ARG_VALUE' });
  assert.throws(() => smallfry.writeFileSync(durable, 'x', { replace: true }), { code: 'EISDIR', path: durable });
  await smallfry.promises.writeFile(at('pieces'), (async function* () { yield 'one '; yield Buffer.from('two'); })(), { durability: 'data', replace: true });
  assert.strictEqual(fs.readFileSync(at('pieces'), 'utf8'), 'one two');
  await smallfry.flushDirectory(durable);
  smallfry.flushDirectorySync(durable);
  assert.deepStrictEqual(await smallfry.removeTemporaryFiles(durable, { unused: 0 }), []);
  assert.strictEqual(fs.readdirSync(durable).length, 3 * names.length + 4);
  console.log(JSON.stringify({ native: smallfry.isNative(), done: true }));
}
main();
`);

for (const [name, command, flags] of RUNTIMES) {
  const need = { there: fs.existsSync(command), missing: `${name} is not installed (npm ci in test/runtimes does it)` };
  testNeeding(need, `the package on ${name}`, () => {
    const output = fs.mkdtempSync(path.join(directory, 'files-'));
    // Deno takes compiled code from its cache even after the package was built anew.
    const env = { ...process.env, DENO_DIR: path.join(directory, 'deno') };
    const { status, stdout, stderr } = spawnSync(command, [...flags, script, output], { encoding: 'utf8', timeout: 60_000, env });
    assert.strictEqual(status, 0, stderr);
    assert.deepStrictEqual(JSON.parse(stdout), { native: true, done: true });
  });
}
