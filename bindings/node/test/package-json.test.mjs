// The package.json that decides for a file: the answers, by every call and policy, with and without
// the addon; Node's own functions as judges; what reaches other workers; what wrong arguments and
// wrong files come to.

import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import nodeModule from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import url from 'node:url';
import { Worker } from 'node:worker_threads';

import * as esm from '../dist/package-json/index.js';
import { isWindows, makeDirectory, major, require, testOnUnix, withoutAddon } from './support.mjs';

const own = require('../dist/package-json/index.js');
const root = fs.realpathSync.native(makeDirectory());
const plain = (withoutAddon(path.join(root, 'plain')), require(path.join(root, 'plain/without-addon/dist/package-json/index.js')));

let directories = 0;

/** A directory with these files; those between are made. */
function tree(files) {
  const dir = path.join(root, `tree${directories++}`);
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(dir, name)), { recursive: true });
    fs.writeFileSync(path.join(dir, name), text);
  }
  return dir;
}

/** The functions under each policy, of the package with its addon and without. */
function* ways() {
  for (const [name, functions] of Object.entries({ native: own, 'without addon': plain })) {
    for (const policy of ['never', 'on-change', { after: 60_000 }, { after: 0 }]) {
      yield [`${name}, ${JSON.stringify(policy)}`, functions.revalidating(policy), functions];
    }
  }
}

const MODULE = '{"type":"module","name":"m"}';
const COMMON = '{"type":"commonjs"}';

test('import and require give the same functions', () => {
  for (const name of ['nearest', 'nearestType', 'scope', 'moduleFormat', 'moduleFormats', 'revalidating', 'fileURLToPath', 'clear', 'invalidate', 'findPackageJSON', 'formats']) {
    assert.strictEqual(esm[name], own[name], name);
    assert.ok(own[name] !== undefined, name);
  }
  assert.deepStrictEqual(own.formats, ['unknown', 'commonjs', 'module', 'json', 'wasm', 'addon']);
});

test('the nearest package.json decides', () => {
  const dir = tree({
    'package.json': '{"name":"top","type":"module","main":"./a.js","exports":{".":"./x.js"},"imports":{"#a":"./b.js"},"version":"1.0.0"}',
    'lib/package.json': '{"type":"commonjs","main":1,"exports":"./only.js","imports":["./a"]}',
    'none/package.json': '{"type":"esm"}',
    'node_modules/p/package.json': COMMON,
  });
  const cases = [
    ['a.js', 'package.json', 'module'], ['src/x/a.js', 'package.json', 'module'], ['lib/a.js', 'lib/package.json', 'commonjs'],
    ['lib', 'package.json', 'module'], ['lib/', 'lib/package.json', 'commonjs'], ['lib/.', 'lib/package.json', 'commonjs'],
    ['lib/x/..', 'lib/package.json', 'commonjs'], ['lib/../a.js', 'package.json', 'module'], ['lib/.a', 'lib/package.json', 'commonjs'],
    ['none/a.js', 'none/package.json', 'none'], ['node_modules/a.js', undefined, 'none'], ['node_modules/p/a.js', 'node_modules/p/package.json', 'commonjs'],
    ['node_modules/q/a.js', undefined, 'none'],
  ];
  for (const [which, { nearest, nearestType, scope, moduleFormat, moduleFormats }] of ways()) {
    for (let round = 0; round < 3; round++) {
      for (const [name, expected, type] of cases) {
        const at = `${dir}/${name}`;
        const found = nearest(at);
        const where = expected && path.join(dir, expected);
        assert.strictEqual(found?.path, where, `${which}: ${name}`);
        assert.strictEqual(found?.type ?? 'none', type);
        assert.strictEqual(nearestType(at), type, `${which}: ${name}`);
        const href = url.pathToFileURL(dir).href + `/${name}`;
        // A URL knows no dots.
        const dots = /\/\.{1,2}$/.test(name);
        if (!dots) for (const named of [href, new URL(href)]) assert.strictEqual(nearestType(named), type, href);
        const { exists, path: end, package: its } = scope(at);
        assert.deepStrictEqual([exists, its?.path], [where !== undefined, where]);
        assert.strictEqual(end, where ?? path.join(dir, 'node_modules/package.json'));
        if (name.endsWith('.js')) assert.strictEqual(moduleFormat(at), type === 'module' ? 'module' : 'commonjs');
      }
      const paths = cases.map(([name]) => `${dir}/${name}`).filter((name) => name.endsWith('.js'));
      assert.deepStrictEqual([...moduleFormats(paths)].map((code) => own.formats[code]), paths.map((name) => moduleFormat(name)), which);
    }
    const top = nearest(`${dir}/a.js`);
    assert.deepStrictEqual([top.name, top.main, top.exports, top.imports], ['top', './a.js', { '.': './x.js' }, { '#a': './b.js' }]);
    assert.strictEqual(top.exports, top.exports);
    const lib = nearest(`${dir}/lib/a.js`);
    assert.deepStrictEqual([lib.name, lib.main, lib.exports, lib.imports], [undefined, undefined, './only.js', ['./a']]);
  }
});

test('moduleFormat gives the format that Node loads', () => {
  const dir = tree({ 'm/package.json': MODULE, 'c/package.json': COMMON, 'n/package.json': '{}' });
  const cases = [
    ['m/a.js', 'module'], ['c/a.js', 'commonjs'], ['n/a.js', 'commonjs'], ['m/a', 'module'], ['m/.js', 'module'], ['c/.mjs', 'commonjs'], ['c/a.mjs', 'module'],
    ['m/a.cjs', 'commonjs'], ['m/a.json', 'json'], ['m/a.wasm', 'wasm'], ['m/a.node', 'addon'], ['m/a.ts', 'unknown', 'module'], ['c/a.ts', 'unknown', 'commonjs'],
    ['c/a.mts', 'unknown', 'module'], ['m/a.cts', 'unknown', 'commonjs'], ['m/a.tsx', 'unknown'], ['m/a.JS', 'unknown'], ['m/a.', 'unknown'], ['m/x.njs', 'unknown'], ['m/js', 'module'],
  ];
  const paths = cases.map(([name]) => path.join(dir, name));
  for (const [which, { moduleFormat, moduleFormats }] of ways()) {
    for (const typescript of [false, true]) {
      const expected = cases.map(([, format, typed]) => (typescript ? typed ?? format : format));
      assert.deepStrictEqual(paths.map((name) => moduleFormat(name, { typescript })), expected, which);
      assert.deepStrictEqual([...moduleFormats(paths, { typescript })].map((code) => own.formats[code]), expected, which);
      const urls = paths.map((name, i) => (i % 2 ? url.pathToFileURL(name) : `${url.pathToFileURL(name).href}?a=/b.mjs#c.cjs`));
      assert.deepStrictEqual([...moduleFormats(urls, { typescript })].map((code) => own.formats[code]), expected, which);
    }
    assert.deepStrictEqual(moduleFormats([]), new Uint8Array(0));
  }
});

test('a change is noticed as the policy says', () => {
  for (const [which, functions, { invalidate, clear }] of ways()) {
    const dir = tree({ 'package.json': MODULE, 'p/a.js': '' });
    const file = path.join(dir, 'p/a.js');
    const kept = which.includes('never') || (which.startsWith('native') && which.includes('60000'));
    const all = () => {
      const [type, ...others] = [
        functions.nearestType(file), functions.nearest(file)?.type, functions.scope(file).package?.type, functions.scope(url.pathToFileURL(file)).package?.type,
        functions.moduleFormat(file), own.formats[functions.moduleFormats([file])[0]],
      ];
      for (const other of others) assert.strictEqual(other, type, which);
      return type;
    };
    assert.strictEqual(all(), 'module', which);
    fs.writeFileSync(path.join(dir, 'p/package.json'), COMMON);
    assert.strictEqual(all(), kept ? 'module' : 'commonjs', which);
    (which.includes('60000') ? clear : () => invalidate(dir))();
    assert.strictEqual(all(), 'commonjs', which);
    fs.rmSync(path.join(dir, 'p/package.json'));
    invalidate(url.pathToFileURL(path.join(dir, 'p/package.json')));
    assert.strictEqual(all(), 'module', which);
  }
});

test('no answer is older than its policy allows', async () => {
  const dir = tree({ 'package.json': MODULE, 'p/a.js': '', 'q/a.js': '' });
  const files = ['p/a.js', 'q/a.js'].map((name) => path.join(dir, name));
  const types = ({ nearestType, nearest, scope, moduleFormats }) => {
    const of = (file) => [nearestType(file), nearest(file).type, scope(file).package.type];
    return [...files.flatMap(of), ...[...moduleFormats(files)].map((code) => own.formats[code])];
  };
  assert.deepStrictEqual(new Set(types(own.revalidating({ after: 1_000 }))), new Set(['module']));
  fs.writeFileSync(path.join(dir, 'package.json'), COMMON);
  const late = own.revalidating({ after: 1_000 });
  await delay(600);
  // Mostly what native code has known for so long.
  types(late);
  await delay(600);
  assert.deepStrictEqual(new Set(types(late)), new Set(['commonjs']));
});

test('known answers take no native call', (t) => {
  const { native } = require('../dist/core.js');
  const dir = tree({ 'package.json': MODULE, 'p/package.json': COMMON });
  const files = ['a.js', 'b.js', 'p/a.js'].map((name) => path.join(dir, name));
  const calls = ['packageType', 'packageTypes', 'packageFormats', 'packageNearest', 'packageScope'].map((name) => t.mock.method(native, name).mock);
  const crossings = (call) => {
    for (const mock of calls) mock.resetCalls();
    call();
    return calls.reduce((sum, mock) => sum + mock.callCount(), 0);
  };
  let now = 0;
  t.mock.method(globalThis.performance, 'now', () => now);
  const [never, after, onChange] = ['never', { after: 60_000 }, 'on-change'].map((policy) => own.revalidating(policy));
  const forms = (functions) => [
    () => functions.nearestType(files[0]), () => functions.nearest(files[0]), () => functions.scope(files[0]), () => functions.moduleFormat(files[2]),
    () => functions.moduleFormats(files),
  ];
  for (const functions of [never, after]) {
    for (const call of forms(functions)) call();
    const url1 = url.pathToFileURL(files[1]);
    for (const call of [...forms(functions), () => functions.nearestType(url1), () => functions.nearest(url1.href), () => functions.scope(url1)]) {
      assert.strictEqual(crossings(call), 0, String(call));
    }
  }
  for (const call of forms(onChange)) for (let round = 0; round < 2; round++) assert.strictEqual(crossings(call), 1, String(call));
  // Too old now: once more each, and not a second time.
  now = 70_000;
  for (const call of forms(never)) assert.strictEqual(crossings(call), 0);
  assert.strictEqual(crossings(() => after.nearestType(files[0])), 1);
  assert.strictEqual(crossings(() => after.nearestType(files[1])), 0);
  assert.strictEqual(crossings(() => after.moduleFormats(files)), 1);
  assert.strictEqual(crossings(() => after.moduleFormats(files)), 0);
});

test('clear() and invalidate() reach all workers', async () => {
  const dir = tree({ 'package.json': MODULE });
  const file = path.join(dir, 'a.js');
  const { nearestType, moduleFormats } = own.revalidating('never');
  const worker = new Worker(`
    const { parentPort, workerData } = require('node:worker_threads');
    const own = require(workerData.module);
    const { nearestType, moduleFormats } = own.revalidating('never');
    parentPort.on('message', (what) => {
      if (what === 'clear') own.clear();
      parentPort.postMessage([nearestType(workerData.file), moduleFormats([workerData.file])[0]]);
    });`, { eval: true, workerData: { module: require.resolve('../dist/package-json/index.js'), file } });
  const ask = (what) => new Promise((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
    worker.postMessage(what);
  });
  assert.deepStrictEqual(await ask('type'), ['module', 2]);
  assert.deepStrictEqual([nearestType(file), moduleFormats([file])[0]], ['module', 2]);
  fs.writeFileSync(path.join(dir, 'package.json'), COMMON);
  assert.deepStrictEqual(await ask('type'), ['module', 2]);
  own.invalidate(dir);
  assert.deepStrictEqual(await ask('type'), ['commonjs', 1]);
  assert.deepStrictEqual([nearestType(file), moduleFormats([file])[0]], ['commonjs', 1]);
  fs.writeFileSync(path.join(dir, 'package.json'), MODULE);
  assert.deepStrictEqual(await ask('clear'), ['module', 2]);
  assert.deepStrictEqual([nearestType(file), moduleFormats([file])[0]], ['module', 2]);
  await worker.terminate();
  own.clear();
  assert.strictEqual(nearestType(file), 'module');
});

test('an invalid package.json gives an error with its place at each call, and is not remembered', () => {
  const dir = tree({ 'p/a.js': '' });
  const config = path.join(dir, 'package.json');
  const file = path.join(dir, 'p/a.js');
  for (const [which, { nearest, nearestType, scope, moduleFormat, moduleFormats }] of ways()) {
    fs.writeFileSync(config, '{\n "a": 1,\n  "type": 7\n}');
    for (const call of [nearest, nearestType, scope, moduleFormat, (name) => moduleFormats([name])]) {
      assert.throws(() => call(file), (error) => {
        assert.ok(error instanceof Error);
        assert.strictEqual(error.code, 'ERR_INVALID_PACKAGE_CONFIG', which);
        assert.strictEqual(error.message, `Invalid package config ${config}.`);
        assert.strictEqual(error.path, config);
        assert.ok(error.stack.includes('package-json.test.mjs') && !error.stack.includes('lookups'), error.stack);
        if (which.startsWith('native')) assert.deepStrictEqual([error.line, error.column, error.reason], [3, 11, 'a string is expected']);
        return true;
      });
    }
    assert.strictEqual(moduleFormat(path.join(dir, 'p/a.mjs')), 'module');
    fs.writeFileSync(config, MODULE);
    assert.strictEqual(nearestType(file), 'module', which);
    own.clear();
    plain.clear();
  }
  fs.writeFileSync(config, '{"exports": {"a": tru} }');
  assert.throws(() => own.nearest(file).exports, { code: 'ERR_INVALID_PACKAGE_CONFIG', message: `Invalid package config ${config}.` });
});

testOnUnix('links in a circle', 'an unreadable package.json gives Node\'s error; a pipe is not waited for', () => {
  const dir = tree({ 'loop/a.js': '', 'pipe/a.js': '', 'directory/package.json/x': '', 'package.json': MODULE });
  fs.symlinkSync('package.json', path.join(dir, 'loop/package.json'));
  spawnSync('mkfifo', [path.join(dir, 'pipe/package.json')]);
  const told = (name) => `Cannot read package config ${path.join(dir, name, 'package.json')}`;
  assert.throws(() => own.nearestType(path.join(dir, 'loop/a.js')), { code: 'ERR_INVALID_PACKAGE_CONFIG', errno: -40, message: `${told('loop')}: too many symbolic links encountered.` });
  assert.throws(() => own.nearestType(path.join(dir, 'pipe/a.js')), { code: 'ERR_INVALID_PACKAGE_CONFIG', message: `${told('pipe')}: neither a file nor a directory.` });
  const long = `/${'a'.repeat(300)}/b.js`;
  assert.throws(() => own.nearestType(long), { code: 'ERR_INVALID_PACKAGE_CONFIG', errno: -36, message: /^Cannot read package config .*: name too long\.$/ });
  assert.throws(() => own.nearestType(`${'/a'.repeat(5000)}/b.js`), { code: 'ERR_INVALID_PACKAGE_CONFIG', errno: -36, message: /: name too long\.$/ });
  assert.strictEqual(own.nearestType(path.join(dir, 'directory/a.js')), 'module');
});

test('wrong arguments are refused', () => {
  for (const [which, functions] of ways()) {
    for (const wrong of [undefined, null, 7, {}, Buffer.from('a')]) {
      for (const name of ['nearest', 'nearestType', 'scope', 'moduleFormat']) {
        assert.throws(() => functions[name](wrong), { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' }, `${which} ${name}`);
      }
      assert.throws(() => functions.moduleFormats([wrong]), { name: 'TypeError', code: 'ERR_INVALID_ARG_TYPE' });
    }
    for (const [href, code] of [['file:///a%2Fb.js', 'ERR_INVALID_FILE_URL_PATH'], ['file:x:y//', undefined]]) {
      if (code !== undefined) assert.throws(() => functions.nearestType(href), { code });
    }
    assert.throws(() => functions.nearestType(new URL('https://a/b.js')), { code: 'ERR_INVALID_URL_SCHEME' });
    if (!isWindows) assert.throws(() => functions.nearestType('file://host/b.js'), { code: 'ERR_INVALID_FILE_URL_HOST' });
  }
  const dir = tree({ 'package.json': MODULE });
  for (const [which, functions, { invalidate }] of ways()) {
    const asks = [...['nearest', 'nearestType', 'scope', 'moduleFormat'].map((name) => functions[name]), (file) => functions.moduleFormats([file])];
    for (const ask of [...asks, invalidate]) {
      assert.throws(() => ask('/a\0b/c.js'), { name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE', message: /null byte/ }, which);
    }
    for (const ask of asks) {
      // Nor is it taken for a neighbour of one that is known.
      ask(path.join(dir, 'a.js'));
      assert.throws(() => ask(path.join(dir, 'b\0.js')), { code: 'ERR_INVALID_ARG_VALUE', message: /null byte/ }, which);
      assert.throws(() => ask(''), { code: 'ERR_INVALID_ARG_VALUE', message: /empty/ }, which);
    }
  }
  for (const wrong of ['always', 7, null, { after: -1 }, { after: '1' }, {}]) assert.throws(() => own.revalidating(wrong), { code: 'ERR_INVALID_ARG_VALUE' });
});

test('fileURLToPath does as node:url\'s', () => {
  const urls = [
    '/a/b.js', '/a/b%20c.js', '/a//b', '/a/./b', '/a/../b', '/a/.b', '/a/..b/c', '/a?b#c', '/a#c', '/a%2fb', '/%C3%BC', '/ü', '/a\\b', '/a b', '/a|b/c', '/C|/b', '/a\tb', '/%', '/%FF', '',
    '/', '//', '/a/', '/a/%2e%2e/b', '/a/.', '/a/..', '/~!@$&\'()*+,;=:-_', '/<>"`{}^[]',
  ].flatMap((rest) => [`file://${rest}`, `file:${rest}`, `FILE://${rest}`, `file://localhost${rest}`, `file://host${rest}`, ` file://${rest} `]).concat(['http://a/b', 'a', '', 'file:']);
  const outcome = (call) => {
    try {
      return call();
    } catch ({ code, message }) {
      return { code, message };
    }
  };
  for (const href of urls) assert.deepStrictEqual(outcome(() => own.fileURLToPath(href)), outcome(() => url.fileURLToPath(href)), href);
});

const theirs = nodeModule.findPackageJSON;

test('findPackageJSON does as node:module\'s', { skip: theirs === undefined && 'this Node has none' }, () => {
  const files = {
    'package.json': '{"name":"self","exports":"./a.js"}', 'a.js': '', 'lib/package.json': COMMON, 'lib/a.js': '', 'lib/x/y.js': '',
    'node_modules/p/package.json': '{"name":"p"}', 'node_modules/p/i/a.js': '', 'node_modules/@s/q/package.json': '{}', 'node_modules/bare/a.js': '', 'bad/package.json': '{', 'bad/a.js': '',
  };
  // Without any package.json, Node 24 and 26 return the file itself.
  const inside = Object.entries(files).map(([name, text]) => [`in/${name}`, text]);
  const dir = path.join(tree({ 'package.json': '{}', ...Object.fromEntries(inside) }), 'in');
  if (!isWindows) fs.symlinkSync(path.join(dir, 'lib/x'), path.join(dir, 'linked'));
  const base = path.join(dir, 'lib/a.js');
  const href = url.pathToFileURL(base).href;
  const cases = [];
  for (const specifier of ['./a.js', '../a.js', '..', '.', './x/y.js', './none.js', '../linked/y.js', '../bad/a.js', 'p', 'p/i/a.js', '@s/q', 'bare', 'self', 'none', 'fs', 'node:fs', href, new URL(href), url.pathToFileURL(dir).href, `${url.pathToFileURL(dir).href}/`, base, '']) {
    for (const from of [base, href, new URL(href)]) cases.push([specifier, from]);
  }
  cases.push([href], [new URL(href)], [], [7, base], ['./a.js', 7], ['./a.js', 'relative'], ['p', undefined], ['./a.js']);
  const outcome = (call, args) => {
    try {
      // Node 22 shows what it hands to Windows.
      return call(...args)?.replace(/^\\\\\?\\/, '');
    } catch ({ code, name }) {
      return { code, name };
    }
  };
  for (const args of cases) assert.deepStrictEqual(outcome(own.findPackageJSON, args), outcome(theirs, args), `${args}`);
});

test('Node\'s own function gives the same for all installed packages', { skip: major < 24 && 'only Node 24 and later have it as it is now' }, () => {
  const dir = fs.realpathSync.native(path.join(import.meta.dirname, '../node_modules'));
  const files = fs.readdirSync(dir, { recursive: true }).filter((name) => /\.[cm]?js$/.test(name)).slice(0, 3000).map((name) => path.join(dir, name));
  const script = `
    const { getNearestParentPackageJSON } = require('internal/test/binding').internalBinding('modules');
    const files = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
    console.log(JSON.stringify(files.map((file) => getNearestParentPackageJSON(file) ?? null)));`;
  const { stdout } = spawnSync(process.execPath, ['--expose-internals', '--no-warnings', '-e', script], { input: JSON.stringify(files), encoding: 'utf8', maxBuffer: 1 << 28 });
  const parsed = (raw) => (typeof raw === 'string' && /^[[{]/.test(raw) ? JSON.parse(raw) : raw) ?? undefined;
  JSON.parse(stdout).forEach((expected, index) => {
    for (const functions of [own, plain]) {
      const found = functions.nearest(files[index]);
      if (expected === null) assert.strictEqual(found, undefined);
      else {
        const [name, main, type, imports, exports, where] = expected;
        assert.deepStrictEqual([found.name, found.main, found.type, found.imports, found.exports, found.path], [name ?? undefined, main ?? undefined, type ?? 'none', parsed(imports), parsed(exports), where]);
      }
    }
  });
});
