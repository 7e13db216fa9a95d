// Reads and writes by calls for one file and for many, and checks that native code does it.

/* global Buffer, console, process, structuredClone */

const assert = require('node:assert');
const fs = require('node:fs');
const smallfry = require('smallfry');

// Strings that V8 holds in one byte and in two bytes a unit, whole and as ropes.
const texts = Array.from({ length: 80 }, (_, index) => ['plain ', 'é ', '漢 ', '😀 '][index % 4].repeat(index * 9) + index);
const names = texts.map((_, index) => `out/${index}`);

async function main() {
  assert.ok(smallfry.isNative());
  await smallfry.writeFiles(names.map((name, index) => [name, texts[index]]), { createParents: true });
  assert.deepStrictEqual(await smallfry.readFiles(names, 'utf8'), texts);
  for (const [index, name] of names.entries()) {
    assert.strictEqual(fs.readFileSync(name, 'utf8'), texts[index]);
    smallfry.writeFileSync(name, texts[index]);
    assert.strictEqual(smallfry.readFileSync(name, 'utf8'), texts[index]);
    await smallfry.promises.writeFile(name, texts[index]);
    assert.strictEqual(String(await smallfry.promises.readFile(name)), texts[index]);
  }
  // Buffers over the addon's memory, of which the engine frees most and one is moved.
  const large = names.slice(0, 20).map((name) => `${name}.large`);
  await smallfry.writeFiles(large.map((name, index) => [name, Buffer.alloc(100_000, index)]));
  for (let round = 0; round < 50; round++) {
    const buffers = await smallfry.readFiles(large);
    for (const [index, buffer] of buffers.entries()) assert.ok(buffer.every((byte) => byte === index));
    // Bun refuses to move memory that is not its own.
    const moved = structuredClone(buffers[7], { transfer: process.versions.bun ? [] : [buffers[7].buffer] });
    assert.strictEqual(moved[99_999], 7);
  }
  const { digest } = await smallfry.hashTree('out');
  await smallfry.pack('out', 'out.tgz');
  await smallfry.unpack('out.tgz', 'again');
  assert.strictEqual((await smallfry.hashTree('again')).digest, digest);
  for (const made of ['out', 'again', 'out.tgz']) await smallfry.removeTree(made);
  console.log('good');
}

main();
