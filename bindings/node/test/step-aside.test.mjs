// Guards against: a mock, a tracer or a queue for open files that replaces a function of node:fs
// and is not called, because native code does the work of the function that would have called it.
//
// Why it was possible: Node's own functions call other public ones (`fs.writeFile` calls `fs.open`,
// `fs.write` and `fs.close`), and native code does not. What is heard here must be the same as
// without smallfry.

import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { isWindows, makeDirectory, packageDirectory, runNode } from './support.mjs';

const directory = makeDirectory();
const register = path.join(packageDirectory, 'dist/register.js');
fs.writeFileSync(path.join(directory, 'small'), 'some text');
if (!isWindows) fs.symlinkSync('small', path.join(directory, 'link'));
fs.mkdirSync(path.join(directory, 'listed/sub/deep'), { recursive: true });
fs.writeFileSync(path.join(directory, 'large'), Buffer.alloc(3 << 20, 'text'));

const INNER = ['open', 'write', 'close', 'fsync', 'openSync', 'readSync', 'writeSync', 'closeSync', 'fsyncSync', 'writeFile', 'writeFileSync', ...(isWindows ? [] : ['lstat', 'stat', 'readlink', 'access', 'lstatSync'])];
// Only the functions of some versions call these.
const INNER_OF_SOME = isWindows ? [] : [
  'chmodSync', 'copyFileSync', 'existsSync', 'mkdirSync', 'opendirSync', 'readdirSync', 'readlinkSync', 'rmdirSync', 'statSync', 'symlinkSync',
  'unlinkSync',
  // No function calls it.
  'read',
];
const INNER_OF_ANY = [...INNER, ...INNER_OF_SOME];
const METHODS = ['appendFile', 'chmod', 'datasync', 'read', 'readFile', 'stat', 'sync', 'truncate', 'write', 'writeFile'];
// Node's `rm` and `cp` keep the functions that they find when they are called first.
const KEPT = isWindows ? [] : ['chmod', 'readdir', 'rmdir', 'unlink'];
const KEPT_PROMISES = isWindows ? [] : ['chmod', 'copyFile', 'lstat', 'mkdir', 'opendir', 'readlink', 'stat', 'symlink', 'unlink', 'utimes'];

// Replaces functions, and counts their calls in `heard`.
fs.writeFileSync(path.join(directory, 'replace.cjs'), `
  const heard = {};
  function replace(how, holder, name) {
    const own = holder[name];
    const counted = (...args) => { heard[name] = (heard[name] ?? 0) + 1; return Reflect.apply(own, holder, args); };
    if (how !== 'mock.method') { holder[name] = counted; return () => { holder[name] = own; }; }
    const { mock } = require('node:test');
    const made = mock.method(holder, name, function (...args) { return counted.apply(this, args); });
    return () => made.mock.restore();
  }
  // A method needs the object as \`this\`.
  function replaceMethod(how, methods, name) {
    const own = methods[name];
    const counted = function (...args) { heard[name] = (heard[name] ?? 0) + 1; return Reflect.apply(own, this, args); };
    if (how !== 'mock.method') { methods[name] = counted; return () => { methods[name] = own; }; }
    const made = require('node:test').mock.method(methods, name, counted);
    return () => made.mock.restore();
  }
  module.exports = { heard, replace, replaceMethod };`);

const CALLS = `
  const fs = require('node:fs'), { heard, replace, replaceMethod } = require('./replace.cjs');
  const called = (name, ...args) => new Promise((resolve, reject) => fs[name](...args, (error) => (error ? reject(error) : resolve())));
  const bytes = Buffer.from('bytes');
  const nodes = { ...fs };
  let copies = 0;
  function tree(name) {
    nodes.mkdirSync(name + '/sub', { recursive: true });
    nodes.writeFileSync(name + '/sub/file', 'text');
    if (!nodes.existsSync(name + '/link')) nodes.symlinkSync('sub/file', name + '/link');
    return name;
  }
  const CALLS = {
    'readFile': () => called('readFile', 'small'),
    'readFile, large': () => called('readFile', 'large'),
    'readFileSync': () => fs.readFileSync('small'),
    'readFileSync, utf8': () => fs.readFileSync('small', 'utf8'),
    'readFileSync, latin1': () => fs.readFileSync('small', { encoding: 'latin1' }),
    'writeFile': () => called('writeFile', 'out', 'text'),
    'writeFile, flushed': () => called('writeFile', 'out', bytes, { flush: true }),
    'appendFile': () => called('appendFile', 'out', 'text'),
    'writeFileSync': () => fs.writeFileSync('out', 'text'),
    'writeFileSync, bytes': () => fs.writeFileSync('out', bytes),
    'writeFileSync, latin1': () => fs.writeFileSync('out', 'text', 'latin1'),
    'writeFileSync, flushed': () => fs.writeFileSync('out', bytes, { flush: true }),
    'appendFile, flushed': () => called('appendFile', 'out', 'text', { flush: true }),
    'appendFileSync': () => fs.appendFileSync('out', 'text'),
    'appendFileSync, bytes': () => fs.appendFileSync('out', bytes),
    ${isWindows ? '' : `'realpath': () => called('realpath', 'link'),
    'realpath.native': () => new Promise((resolve) => fs.realpath.native('link', resolve)),
    'exists': () => new Promise((resolve) => fs.exists('small', resolve)),
    'readdir': () => called('readdir', '.', { withFileTypes: true }),
    'readdir, recursive': () => called('readdir', 'listed', { recursive: true }),
    'readdirSync, recursive': () => fs.readdirSync('listed', { recursive: true }),
    'readdirSync, recursive, types': () => fs.readdirSync('listed', { recursive: true, withFileTypes: true }),
    'mkdir': () => called('mkdir', 'one/two', { recursive: true }),
    'rm': () => called('rm', tree('tree'), { recursive: true }),
    'rmSync': () => fs.rmSync(tree('tree'), { recursive: true }),
    'cp': () => called('cp', tree('tree'), 'copy ' + ++copies, { recursive: true }),
    'cpSync': () => fs.cpSync(tree('tree'), 'copy ' + ++copies, { recursive: true }),
    'cpSync, filter': () => fs.cpSync(tree('tree'), 'copy ' + ++copies, { recursive: true, filter: () => true }),
    'cpSync, links followed': () => fs.cpSync(tree('tree'), 'copy ' + ++copies, { recursive: true, dereference: true }),
    'cp, links followed': () => called('cp', tree('tree'), 'copy ' + ++copies, { recursive: true, dereference: true }),
    'cp, over others': () => called('cp', tree('tree'), tree('copy'), { recursive: true, filter: (from) => !from.endsWith('link') }),
    'cp, times': () => called('cp', tree('tree'), 'copy ' + ++copies, { recursive: true, preserveTimestamps: true }),
    'promises.rm': () => fs.promises.rm(tree('tree'), { recursive: true }),
    'promises.cp': () => fs.promises.cp(tree('tree'), 'copy ' + ++copies, { recursive: true }),
    'promises.cp, filter': () => fs.promises.cp(tree('tree'), 'copy ' + ++copies, { recursive: true, filter: () => true }),
    'promises.realpath': () => fs.promises.realpath('link'),
    'promises.readdir': () => fs.promises.readdir('.', { withFileTypes: true }),
    'promises.readdir, recursive': () => fs.promises.readdir('listed', { recursive: true }),
    'promises.mkdir': () => fs.promises.mkdir('one/two', { recursive: true }),`}
    'promises.readFile': () => fs.promises.readFile('small'),
    'promises.readFile, signal': () => fs.promises.readFile('small', { signal: new AbortController().signal }),
    'promises.readFile, large': () => fs.promises.readFile('large'),
    'promises.writeFile': () => fs.promises.writeFile('out', 'text'),
    'promises.writeFile, flushed': () => fs.promises.writeFile('out', 'text', { flush: true }),
    'promises.appendFile': () => fs.promises.appendFile('out', 'text'),
  };
  async function hear() {
    const all = {};
    for (const [name, call] of Object.entries(CALLS)) {
      for (const key of Object.keys(heard)) delete heard[key];
      await call();
      if (Object.keys(heard).length > 0) all[name] = { ...heard };
    }
    return all;
  }`;

let count = 0;
async function run(source, flags) {
  const script = path.join(directory, `script-${count++}.cjs`);
  fs.writeFileSync(script, CALLS + source);
  for (const name of fs.readdirSync(directory)) if (/^(?:copy|tree)/.test(name)) fs.rmSync(path.join(directory, name), { recursive: true });
  const { stdout, stderr, code } = await runNode([...flags, script], { cwd: directory });
  assert.strictEqual(stderr, '');
  assert.strictEqual(code, 0);
  return JSON.parse(stdout);
}

for (const how of ['an assignment', 'mock.method']) {
  test(`functions that ${how} replaces in a running program are called as without smallfry`, async () => {
    // The first call with options loads all of smallfry.
    const source = `(async () => {
      fs.readFileSync('small', {});
      const all = {};
      for (const name of ${JSON.stringify(INNER_OF_ANY)}) {
        const restore = replace(${JSON.stringify(how)}, fs, name);
        all[name] = await hear();
        restore();
        all[name + ', restored'] = await hear();
      }
      console.log(JSON.stringify(all));
    })();`;
    const plain = await run(source, []);
    assert.ok(INNER.every((name) => Object.keys(plain[name]).length > 0));
    assert.ok(INNER_OF_ANY.every((name) => Object.keys(plain[name + ', restored']).length === 0));
    assert.deepStrictEqual(await run(source, ['--require', register]), plain);
  });

  test(`methods of FileHandle that ${how} replaces are called as without smallfry`, async () => {
    const source = `(async () => {
      const handle = await fs.promises.open('small');
      const methods = Object.getPrototypeOf(handle);
      await handle.close();
      const all = {};
      for (const name of ${JSON.stringify(METHODS)}) {
        const restore = replaceMethod(${JSON.stringify(how)}, methods, name);
        all[name] = await hear();
        restore();
      }
      console.log(JSON.stringify(all));
    })();`;
    const plain = await run(source, []);
    assert.deepStrictEqual(plain.sync, { 'promises.writeFile, flushed': { sync: 1 } });
    assert.deepStrictEqual(await run(source, ['--require', register]), plain);
  });

  test(`methods of FileHandle that ${how} has replaced before register are called as without smallfry`, async () => {
    const patch = path.join(directory, `patch-handles-${count++}.cjs`);
    fs.writeFileSync(patch, `
      const { replaceMethod } = require('./replace.cjs');
      globalThis.isReplaced = require('node:fs').promises.open(__filename).then((handle) => {
        replaceMethod(${JSON.stringify(how)}, Object.getPrototypeOf(handle), 'sync');
        return handle.close();
      });`);
    const source = `isReplaced.then(async () => {
      const all = [await hear(), await hear()];
      console.log(JSON.stringify(all));
    });`;
    const plain = await run(source, ['--require', patch]);
    assert.strictEqual(plain[0]['promises.writeFile, flushed'].sync, 1);
    assert.deepStrictEqual(await run(source, ['--require', patch, '--require', register]), plain);
  });

  test(`functions that ${how} has replaced before register are called as without smallfry`, async () => {
    for (const name of INNER_OF_ANY) {
      const patch = path.join(directory, `patch-${name}-${count++}.cjs`);
      fs.writeFileSync(patch, `require('./replace.cjs').replace(${JSON.stringify(how)}, require('node:fs'), ${JSON.stringify(name)});`);
      const source = 'hear().then((all) => console.log(JSON.stringify(all)));';
      const plain = await run(source, ['--require', patch]);
      assert.deepStrictEqual(await run(source, ['--require', patch, '--require', register]), plain, name);
    }
  });
}

for (const [holder, name] of [['fs', 'existsSync'], ['fs.promises', 'open']]) {
  test(`${holder}.${name} does not hear how smallfry is loaded`, async () => {
    const patch = path.join(directory, `patch-${name}-${count++}.cjs`);
    fs.writeFileSync(patch, `const fs = require('node:fs'); require('./replace.cjs').replace('an assignment', ${holder}, '${name}');`);
    const source = 'hear().then((all) => console.log(JSON.stringify(all)));';
    const plain = await run(source, ['--require', patch]);
    for (const flags of [['--require', patch, '--require', register], ['--require', register, '--require', patch]]) {
      assert.deepStrictEqual(await run(source, flags), plain);
    }
  });
}

test('promised flushes are native, also if smallfry is loaded late', async () => {
  // Node's own call makes requests of its own, and native code one resource.
  const source = `const types = [];
    require('node:async_hooks').createHook({ init: (_id, type) => { types.push(type); } }).enable();
    require(${JSON.stringify(register)});
    (async () => {
      const write = () => fs.promises.writeFile('out', 'text', { flush: true });
      let isNative = false;
      for (let tries = 0; !isNative && tries < 1000; tries += 1) {
        types.length = 0;
        await write();
        isNative = !types.includes('FSREQPROMISE');
      }
      console.log(JSON.stringify([isNative]));
    })();`;
  for (const flags of [[], ['--require', register]]) assert.deepStrictEqual(await run(source, flags), [true]);
});

/**
 * Replaces a function before register, before the first call of `call`, and after it. Node keeps
 * what it has found at its first call, also a mock that is gone. So what is heard after that is not
 * compared.
 */
function testReplaced(name, holder, call) {
  for (const how of ['an assignment', 'mock.method']) {
    test(`${call} calls ${holder}.${name} as without smallfry if ${how} replaces that`, async () => {
      for (const isFirst of [true, false]) {
        const source = `(async () => {
          fs.readFileSync('small', {});
          ${isFirst ? '' : `await ${call};`}
          const restore = replace('${how}', ${holder}, '${name}');
          const during = await hear();
          restore();
          console.log(JSON.stringify([during, ${isFirst} || await hear()]));
        })();`;
        assert.deepStrictEqual(await run(source, ['--require', register]), await run(source, []), String(isFirst));
      }
      const patch = path.join(directory, `patch-kept-${count++}.cjs`);
      fs.writeFileSync(patch, `const fs = require('node:fs'); require('./replace.cjs').replace('${how}', ${holder}, '${name}');`);
      const source = 'hear().then((all) => console.log(JSON.stringify(all)));';
      const plain = await run(source, ['--require', patch]);
      assert.deepStrictEqual(await run(source, ['--require', patch, '--require', register]), plain);
    });
  }
}

for (const name of KEPT) testReplaced(name, 'fs', "fs.promises.rm(tree('tree'), { recursive: true })");
for (const name of KEPT_PROMISES) testReplaced(name, 'fs.promises', "fs.promises.cp(tree('tree'), 'copy 0', { recursive: true })");

for (const name of isWindows ? [] : ['join', 'relative']) {
  test(`a recursive readdir calls path.${name} as without smallfry if that is replaced`, async () => {
    const source = `(async () => {
      fs.readFileSync('small', {});
      const restore = replace('an assignment', require('node:path'), '${name}');
      const during = await hear();
      restore();
      const found = [during, await hear()].map((all) => Object.entries(all).filter(([call]) => call.includes('recursive')));
      console.log(JSON.stringify(found));
    })();`;
    assert.deepStrictEqual(await run(source, ['--require', register]), await run(source, []));
  });
}

test('calls are native again once a replaced function is back', async () => {
  // A native call has one asynchronous resource, that of its callback; Node's own has more.
  const source = `const types = [];
    require('node:async_hooks').createHook({ init: (_id, type) => { types.push(type); } }).enable();
    const isNative = () => { types.length = 0; fs.writeFile('out', 'text', () => undefined); return types.join() === 'SMALLFRY'; };
    const restore = replace('an assignment', fs, 'close');
    const during = isNative();
    restore();
    console.log(JSON.stringify([during, isNative()]));`;
  assert.deepStrictEqual(await run(source, ['--require', register]), [false, true]);
});

test('a program that can replace the internals of Node is left to node:fs', async () => {
  const source = `const { readFile } = require('node:fs/promises');
    const { FileHandle } = require('internal/fs/promises');
    const own = Object.getOwnPropertyDescriptor(FileHandle.prototype, 'fd');
    Object.defineProperty(FileHandle.prototype, 'fd', { get() { heard.fd = (heard.fd ?? 0) + 1; return own.get.call(this); } });
    fs.promises.writeFile('out', 'text', { flush: true }).then(() => readFile('small')).then(() => console.log(JSON.stringify(heard)));`;
  const plain = await run(source, ['--expose-internals']);
  assert.deepStrictEqual(await run(source, ['--expose-internals', '--require', register]), plain);
});
