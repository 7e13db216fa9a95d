// Guards against: a package that works only where a program is run as usual. Programs have values of
// other realms (node:vm, Jest), and Electron forbids Buffers over memory that is not V8's.

import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import vm from 'node:vm';

import { bulk, makeDirectory, packageDirectory, smallfry } from './support.mjs';

const directory = makeDirectory();
const realm = vm.createContext({});

test('data, options and lists of another realm are taken as those of this one', async () => {
  const file = path.join(directory, 'realm');
  realm.file = file;
  for (const [data, text] of [
    ['new Uint8Array([97, 98])', 'ab'], ['new DataView(new ArrayBuffer(2), 1)', '\0'], ['new Uint16Array([0x6161])', 'aa'],
    ['"é".repeat(3)', 'ééé'],
  ]) {
    smallfry.writeFileSync(file, vm.runInContext(data, realm), vm.runInContext('({ flag: "w" })', realm));
    assert.strictEqual(smallfry.readFileSync(file, vm.runInContext('({ encoding: "utf8" })', realm)), text);
    await smallfry.promises.writeFile(file, vm.runInContext(data, realm));
    assert.strictEqual(await smallfry.promises.readFile(file, 'utf8'), text);
  }
  await bulk.writeFiles(vm.runInContext('[[file, new Uint8Array([99])]]', realm), vm.runInContext('({ createParents: true })', realm));
  assert.deepStrictEqual(await bulk.readFiles(vm.runInContext('[file]', realm), vm.runInContext('({ encoding: "utf8" })', realm)), ['c']);
  await assert.rejects(bulk.writeFiles(vm.runInContext('[[file, {}]]', realm)), { code: 'ERR_INVALID_ARG_TYPE' });
});

test('an error is one of the realm that has loaded the package', async () => {
  realm.readFile = smallfry.promises.readFile;
  realm.missing = path.join(directory, 'missing');
  const found = await vm.runInContext('readFile(missing).catch((error) => error)', realm);
  assert.ok(found instanceof Error);
  assert.strictEqual(found.code, 'ENOENT');
});

test('where Electron is, no Buffer lies over memory of the addon', () => {
  const file = path.join(directory, 'large');
  fs.writeFileSync(file, Buffer.alloc(4 << 20, 97));
  const script = `
    Object.defineProperty(process.versions, 'electron', { value: '39.0.0' });
    const smallfry = require(process.argv[1]);
    const file = process.argv[2];
    const reads = [async () => smallfry.readFileSync(file), () => smallfry.promises.readFile(file), async () => (await smallfry.readFiles([file]))[0]];
    (async () => {
      for (const read of reads) {
        // V8 counts here what it has allocated itself.
        const before = process.memoryUsage().arrayBuffers;
        const { length } = await read();
        if (!smallfry.isNative() || process.memoryUsage().arrayBuffers - before < length) throw new Error(String(read));
      }
    })();`;
  const done = spawnSync(process.execPath, ['--eval', script, packageDirectory, file], { encoding: 'utf8' });
  assert.strictEqual(done.status, 0, done.stderr);
});
