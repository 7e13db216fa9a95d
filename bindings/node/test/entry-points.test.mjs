// Guards against: an entry point that lacks what node:fs has, a registered function that some way
// of importing node:fs does not see, another package's patch that is overwritten, and a program
// that breaks - or silently runs without the native addon - where it cannot be used.
//
// Why it was possible: node:fs is reached in five ways (require, its default export, named imports,
// fs.promises and fs/promises), each bound at another time; package managers, mocks and tracers
// patch the same functions; and the addon may be missing, broken, or forbidden by the permission
// model.

import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { mock, test } from 'node:test';

import { installPackage, isWindows, major, makeDirectory, needs, packageDirectory, runNode, smallfry, testNeeding } from './support.mjs';

const directory = makeDirectory();
installPackage(directory);
fs.writeFileSync(path.join(directory, 'data.txt'), 'some text');
fs.writeFileSync(path.join(directory, 'load.cjs'), "exports.before = require('module')._load;");

let count = 0;
/** Runs a script in the directory; `kind` is mjs or cjs. */
function run(kind, source, { flags = [], env = {}, cwd = directory } = {}) {
  const name = path.join(cwd, `entry-${count++}.${kind}`);
  fs.writeFileSync(name, source);
  return runNode([...flags, name], { cwd, env });
}

async function expectOutput(kind, source, expected, options) {
  const { stdout, stderr, code } = await run(kind, source, options);
  assert.strictEqual(stderr, '');
  assert.strictEqual(stdout.trimEnd(), expected);
  assert.strictEqual(code, 0);
}

const SIX = ['readFile', 'readFileSync', 'writeFile', 'writeFileSync', 'appendFile', 'appendFileSync'];
const THREE = ['readFile', 'writeFile', 'appendFile'];

test('require and named imports give the same functions', async () => {
  await expectOutput('cjs',
    `const s = require('smallfry'); s.writeFileSync('a', 'x'); s.appendFileSync('a', 'y'); console.log(s.readFileSync('a', 'utf8'), s.isNative());` +
    `console.log(Object.keys(s).sort().join());`,
    'xy true\nappendFile,appendFileSync,copyTree,drainCloses,drainClosesSync,flushDirectory,flushDirectorySync,hashFiles,hashTree,isNative,mirrorTree,pack,promises,readFile,' +
      'readFileSync,readFiles,readFilesStream,readFilesSync,readTree,removeTemporaryFiles,removeTree,setClosePolicy,unpack,' +
    'writeFile,writeFileSync,writeFiles,writeFilesSync');
  await expectOutput('mjs',
    `import { writeFileSync, readFileSync, appendFile, promises, isNative } from 'smallfry'; writeFileSync('a', 'x');` +
    `await promises.appendFile('a', 'y'); appendFile('a', 'z', () => console.log(readFileSync('a', 'utf8'), isNative()));`,
    'xyz true');
});

testNeeding(needs.proc, 'loading makes no thread, and neither does a call that needs none', async () => {
  const source = `const fs = require('node:fs');
    const count = () => fs.readdirSync('/proc/self/task').length;
    const loaded = count();
    fs.writeFileSync('one', fs.readFileSync('data.txt', {}));
    console.log(loaded, count());`;
  const [plain, loaded] = [await run('cjs', source), await run('cjs', source, { flags: ['--require', 'smallfry/register'] })];
  assert.strictEqual(loaded.stdout, plain.stdout);
});

const addon = path.join(packageDirectory, 'smallfry.linux-x64-gnu.node');
testNeeding({ there: fs.existsSync(addon), missing: 'only on Linux with glibc' }, 'the debug information of the addon is in a file beside it', () => {
  const hasSection = (file, name) => fs.readFileSync(file).includes(`\0${name}\0`);
  assert.ok(hasSection(addon, '.gnu_debuglink'));
  assert.ok(!hasSection(addon, '.debug_info'));
  assert.ok(hasSection(`${addon}.debug`, '.debug_info'));
});

test('smallfry/fs and smallfry/fs/promises can be required and imported', async () => {
  await expectOutput('mjs',
    `import fs, { writeFileSync, promises, existsSync, Stats } from 'smallfry/fs'; import fsp, { readFile, stat } from 'smallfry/fs/promises';` +
    `import real from 'node:fs';` +
    `fs.writeFileSync('b', 'x'); writeFileSync('b', 'y');` +
    `console.log(await fsp.readFile('b', 'utf8'), await readFile('b', 'utf8'), await promises.readFile('b', 'utf8'),` +
    ` existsSync('b'), (await stat('b')).size, fs.statSync('b') instanceof Stats, fs.writeFileSync === writeFileSync,` +
    ` fs.promises.readFile === readFile, fs.promises === promises, real.writeFileSync === writeFileSync);`,
    'y y y true 1 true true true true false');
  await expectOutput('cjs',
    `const fs = require('smallfry/fs'), fsp = require('smallfry/fs/promises');` +
    `fs.writeFileSync('c', 'x'); fsp.readFile('c', 'utf8').then((text) => console.log(text, fs.promises === fsp, fs.statSync('c').size));`,
    'x true 1');
});

test('smallfry/fs has every name of node:fs, with values of the same kind', async () => {
  await expectOutput('mjs',
    `import * as real from 'node:fs'; import * as own from 'smallfry/fs'; import * as realp from 'node:fs/promises'; import * as ownp from 'smallfry/fs/promises';
    import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);
    const lacks = (a, b) => Object.keys(a).filter((name) => name !== 'default' && (!(name in b) || typeof a[name] !== typeof b[name]));
    console.log(JSON.stringify([lacks(real, own), lacks(realp, ownp), lacks(real.default, own.default), lacks(realp.default, ownp.default),
      lacks(real, require('smallfry/fs')), lacks(realp, require('smallfry/fs/promises')), lacks(real.promises, own.promises)]));`,
    '[[],[],[],[],[],[],[]]');
  for (const name of Object.getOwnPropertyNames(fs)) {
    assert.ok(Object.hasOwn(smallfry, name), name);
    const [theirs, ours] = [fs, smallfry].map((side) => Object.getOwnPropertyDescriptor(side, name).enumerable);
    assert.strictEqual(ours, theirs, `${name} enumerable`);
  }
});

test('function names and lengths are those of node:fs', () => {
  for (const name of SIX) {
    assert.strictEqual(smallfry[name].name, fs[name].name);
    assert.strictEqual(smallfry[name].length, fs[name].length, name);
  }
  for (const name of THREE) {
    assert.strictEqual(smallfry.promises[name].name, fs.promises[name].name);
    assert.strictEqual(smallfry.promises[name].length, fs.promises[name].length, `promises.${name}`);
  }
});

test('the functions work with util.promisify and without this', async () => {
  const { promisify } = await import('node:util');
  const { readFile, readFileSync, writeFileSync } = smallfry;
  assert.strictEqual(await promisify(readFile)(path.join(directory, 'data.txt'), 'utf8'), 'some text');
  writeFileSync(path.join(directory, 'free'), 'x');
  assert.strictEqual(readFileSync(path.join(directory, 'free'), 'utf8'), 'x');
});

const SEEN = `
const list = [
  fs.readFileSync, fs.writeFileSync, fs.appendFileSync, fs.readFile, fs.writeFile, fs.appendFile,
  fs.promises.readFile, fs.promises.writeFile, fs.promises.appendFile,
];
const ownList = [
  own.readFileSync, own.writeFileSync, own.appendFileSync, own.readFile, own.writeFile, own.appendFile,
  own.promises.readFile, own.promises.writeFile, own.promises.appendFile,
];
`;

for (const [how, options] of Object.entries({
  '--require': { flags: ['--require', 'smallfry/register'] },
  '--import': { flags: ['--import', 'smallfry/register'] },
  'NODE_OPTIONS --require': { env: { NODE_OPTIONS: '--require smallfry/register' } },
  'NODE_OPTIONS --import': { env: { NODE_OPTIONS: '--import smallfry/register' } },
})) {
  test(`register by ${how} is seen by require, imports, fs.promises and fs/promises`, async () => {
    await expectOutput('cjs', `const fs = require('fs'), own = require('smallfry'); ${SEEN}
      console.log(list.every((f, i) => f === ownList[i]), require('node:fs/promises').readFile === own.promises.readFile,
        require('node:fs').promises.writeFile === own.promises.writeFile);
      fs.writeFileSync('d', 'x'); console.log(fs.readFileSync('d', 'utf8'));`, 'true true true\nx', options);
    await expectOutput('mjs', `import def, * as ns from 'node:fs'; import { readFileSync, writeFile, promises } from 'fs';
      import { readFile as later } from 'node:fs/promises'; import pdef from 'fs/promises'; import own from 'smallfry';
      import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);
      for (const fs of [def, ns, require('fs')]) { ${SEEN} console.log(list.every((f, i) => f === ownList[i])); }
      console.log(readFileSync === own.readFileSync, writeFile === own.writeFile, promises.readFile === own.promises.readFile,
        later === own.promises.readFile, pdef.appendFile === own.promises.appendFile);`,
      'true\ntrue\ntrue\ntrue true true true true', options);
  });
}

const LOADED = `const loaded = () => [Object.keys(require.cache).some((file) => /dist.core\\.js$/.test(file)),
  process.moduleLoadList.includes('NativeModule internal/fs/promises')].join();`;

test('a program that reads no files loads neither the core nor the promises', async () => {
  await expectOutput('cjs', `${LOADED} console.log(loaded());`, 'false,false', { flags: ['--require', 'smallfry/register'] });
  await expectOutput('cjs', `${LOADED} require('smallfry'); require('smallfry/fs'); console.log(loaded());`, 'false,false');
});

test('the first blocking calls of a registered program go to node:fs, unless they have options', async () => {
  const flags = ['--require', 'smallfry/register'];
  await expectOutput('cjs', `const fs = require('fs'); ${LOADED}
    for (let i = 0; i < 400; i++) fs.readFileSync('data.txt', 'utf8');
    console.log(loaded()); for (let i = 0; i < 200; i++) fs.readFileSync('data.txt'); console.log(loaded());`, 'false,false\ntrue,false', { flags });
  for (const call of ["fs.readFileSync('data.txt', {})", "fs.readFile('data.txt', () => {})"]) {
    await expectOutput('cjs', `const fs = require('fs'); ${LOADED} ${call}; console.log(loaded());`, 'true,false', { flags });
  }
});

for (const [how, get] of Object.entries({
  'fs.promises': "Promise.resolve(require('fs').promises)",
  require: "Promise.resolve(require('fs/promises'))",
  'require with the scheme': "Promise.resolve(require('node:fs/promises'))",
  'an import': "import('node:fs/promises')",
  'an import of node:fs': "import('node:fs').then((fs) => fs.promises)",
})) {
  test(`a registered program gets the promises by ${how}`, async () => {
    await expectOutput('cjs', `${get}.then(({ readFile }) => console.log(readFile === require('smallfry').promises.readFile));`, 'true',
      { flags: ['--require', 'smallfry/register'] });
  });
}

test('register leaves require as it was once the promises are used', async () => {
  await expectOutput('cjs', `const { before } = require('./load.cjs'); const Module = require('module');
    const during = Module._load !== before; require('fs/promises'); console.log(during, Module._load === before);`,
    'true true', { flags: ['--require', './load.cjs', '--require', 'smallfry/register'] });
});

test('register keeps the names and lengths of functions', async () => {
  const source = `const fs = require('fs'); const show = (o, l) => l.map((n) => n + o[n].name + o[n].length).join();
    console.log(show(fs, ${JSON.stringify(SIX)}), show(fs.promises, ${JSON.stringify(THREE)}), Object.keys(fs).join());`;
  const plain = await run('cjs', source);
  const registered = await run('cjs', source, { flags: ['--require', 'smallfry/register'] });
  assert.strictEqual(registered.stdout, plain.stdout);
});

test('register by NODE_OPTIONS reaches child processes and workers', async () => {
  const env = { NODE_OPTIONS: '--require smallfry/register' };
  const tell = "console.log(require('fs').readFileSync === require('smallfry').readFileSync)";
  fs.writeFileSync(path.join(directory, 'child.cjs'), tell);
  await expectOutput('cjs', `${tell}; console.log(String(require('child_process').execFileSync(process.execPath, ['child.cjs'])).trim());
    const { Worker } = require('worker_threads'); new Worker('./child.cjs');`, 'true\ntrue\ntrue', { env });
  await expectOutput('cjs', `const { Worker } = require('worker_threads'); new Worker('./child.cjs');`, 'true', { flags: ['--require', 'smallfry/register'] });
});

test("register does not disturb Node's own loaders", async () => {
  fs.mkdirSync(path.join(directory, 'node_modules', 'some'), { recursive: true });
  fs.writeFileSync(path.join(directory, 'node_modules', 'some', 'package.json'), '{"name":"some","main":"main.js"}');
  fs.writeFileSync(path.join(directory, 'node_modules', 'some', 'main.js'), 'exports.value = "\u20ac";');
  fs.writeFileSync(path.join(directory, 'plain.json'), '\ufeff{"a":1}');
  fs.writeFileSync(path.join(directory, 'other.mjs'), 'export const other = "\u00e9";');
  await expectOutput('cjs', `console.log(require('some').value, require('./plain.json').a);
    try { require('./none.cjs'); } catch (e) { console.log(e.code); }
    try { require(process.cwd()); } catch (e) { console.log(e.code); }
    import('./other.mjs').then((m) => { console.log(m.other); return import('./none.mjs'); }).catch((e) => console.log(e.code));`,
    '\u20ac 1\nMODULE_NOT_FOUND\nMODULE_NOT_FOUND\n\u00e9\nERR_MODULE_NOT_FOUND', { flags: ['--require', 'smallfry/register'] });
});

test('register may be loaded twice, and after smallfry/fs', async () => {
  await expectOutput('cjs', `const own = require('smallfry/fs'); require('smallfry/register'); require('smallfry/register');
    delete require.cache[require.resolve('smallfry/register')]; require('smallfry/register');
    const fs = require('fs'); fs.writeFileSync('e', 'x', { flag: 'w', signal: undefined }); fs.readFile('e', 'utf8', (error, text) => console.log(text, fs.readFileSync === own.readFileSync));`,
    'x true');
});

test('smallfry/fs leaves node:fs alone', async () => {
  await expectOutput('cjs', `const fs = require('fs'); const before = { ...fs }, later = { ...fs.promises }; require('smallfry/fs'); require('smallfry');
    console.log(Object.keys(before).every((n) => before[n] === fs[n]), Object.keys(later).every((n) => later[n] === fs.promises[n]));`, 'true true');
});

// -------------------------------------------------------------------------------------------------

const PATCHES = {
  'a function assigned in place': `const before = fs.readFileSync; fs.readFileSync = function readFileSync(path, options) { return before.call(this, path, options); };`,
  'an arrow function': `const before = fs.readFileSync; fs.readFileSync = (...args) => before(...args);`,
  'a proxy': `fs.readFileSync = new Proxy(fs.readFileSync, {});`,
  'a bound function': `fs.readFileSync = fs.readFileSync.bind(fs);`,
  "node:test's mock.method": `require('node:test').mock.method(fs, 'readFileSync');`,
  'a wrapper that names its arguments as Node does': `const before = fs.readFileSync; fs.readFileSync = function readFileSync(path, options) { options = getOptions(options, { flag: 'r' }); return before(path, options); }; function getOptions(o) { return o; }`,
};

for (const [name, patch] of Object.entries(PATCHES)) {
  test(`register leaves ${name} in place and says nothing`, async () => {
    fs.writeFileSync(path.join(directory, 'patch.cjs'), `const fs = require('fs'); ${patch} globalThis.patched = fs.readFileSync;`);
    await expectOutput('cjs', `const fs = require('fs'), own = require('smallfry');
      console.log(fs.readFileSync === patched, fs.writeFileSync === own.writeFileSync, fs.promises.readFile === own.promises.readFile, fs.readFileSync('data.txt', 'utf8'));`,
      'true true true some text', { flags: ['--require', './patch.cjs', '--require', 'smallfry/register'] });
  });
}

test('register leaves patches of later calls and of promises in place', async () => {
  fs.writeFileSync(path.join(directory, 'patch.cjs'), `const fs = require('fs'); const { readFile, writeFile } = fs, later = fs.promises.readFile;
    // Tries again when there are too many open files, as graceful-fs does.
    fs.readFile = function readFile_(path, options, cb) { if (typeof options === 'function') cb = options, options = null; return go(path, options, cb);
      function go(path, options, cb) { return readFile(path, options, function (err) { if (err && err.code === 'EMFILE') setTimeout(go, 5, path, options, cb); else cb.apply(this, arguments); }); } };
    fs.writeFile = function writeFile_(path, data, options, cb) { return writeFile(path, data, options, cb); };
    fs.promises.readFile = async function readFile(...args) { return later(...args); };
    globalThis.patched = [fs.readFile, fs.writeFile, fs.promises.readFile];`);
  await expectOutput('cjs', `const fs = require('fs'), own = require('smallfry');
    console.log(patched[0] === fs.readFile, patched[1] === fs.writeFile, patched[2] === fs.promises.readFile, fs.readFileSync === own.readFileSync, fs.appendFile === own.appendFile);
    fs.readFile('data.txt', 'utf8', (error, text) => console.log(text));`,
    // Node's own appendFile calls fs.writeFile, which must be heard.
    'true true true true false\nsome text', { flags: ['--require', './patch.cjs', '--require', 'smallfry/register'] });
});

test('register leaves patches of functions that remove, and functions that need not wait, in place', async () => {
  fs.writeFileSync(path.join(directory, 'patch.cjs'), `const fs = require('fs'); globalThis.before = { ...fs, promises: { ...fs.promises } };
    const { unlink, rmdir, rmSync } = fs, later = fs.promises.rm;
    fs.unlink = function unlink_(...args) { return unlink.apply(this, args); };
    fs.rmdir = function rmdir(...args) { return before.rmdir.apply(this, args); };
    fs.rmSync = new Proxy(rmSync, {});
    fs.promises.rm = async function rm(...args) { return later(...args); };
    globalThis.patched = [fs.unlink, fs.rmdir, fs.rmSync, fs.promises.rm];`);
  await expectOutput('cjs', `const fs = require('fs'), later = fs.promises;
    console.log([fs.unlink, fs.rmdir, fs.rmSync, later.rm].every((own, index) => own === patched[index]));
    console.log([[fs, 'rm'], [fs, 'rmdirSync'], [later, 'rmdir']].every(([from, name]) => from[name] !== (from === fs ? before : before.promises)[name]));
    console.log([[fs, 'unlinkSync'], [later, 'unlink']]
      .every(([from, name]) => from[name] === (from === fs ? before : before.promises)[name]));`,
    `true\ntrue\n${!isWindows}`, { flags: ['--require', './patch.cjs', '--require', 'smallfry/register'] });
});

test('patches made after register see the calls and can be undone', async () => {
  await expectOutput('cjs', `const fs = require('fs'); const { mock } = require('node:test'); const own = fs.writeFileSync;
    const spy = mock.method(fs, 'writeFileSync'); fs.writeFileSync('f', 'x'); console.log(spy.mock.callCount()); spy.mock.restore();
    console.log(fs.writeFileSync === own, fs.readFileSync('f', 'utf8'));`, '1\ntrue x', { flags: ['--require', 'smallfry/register'] });
});

// -------------------------------------------------------------------------------------------------

/** A copy of the package whose addon is what `make` makes of it. */
function copyPackage(name, make) {
  const home = path.join(directory, name);
  const copy = path.join(home, 'node_modules', 'smallfry');
  fs.mkdirSync(copy, { recursive: true });
  for (const part of ['dist', 'esm', 'package.json']) fs.cpSync(path.join(packageDirectory, part), path.join(copy, part), { recursive: true });
  for (const addon of fs.readdirSync(packageDirectory).filter((file) => file.endsWith('.node'))) make(copy, addon);
  fs.writeFileSync(path.join(home, 'data.txt'), 'some text');
  return home;
}

const BROKEN = {
  missing: () => {},
  'a text file': (copy, addon) => fs.writeFileSync(path.join(copy, addon), 'this is no shared library\n'),
  empty: (copy, addon) => fs.writeFileSync(path.join(copy, addon), ''),
  'cut short': (copy, addon) => fs.writeFileSync(path.join(copy, addon), fs.readFileSync(path.join(packageDirectory, addon)).subarray(0, 40)),
};

// The addon is loaded by the first call, and only then known to be missing.
const UNCHANGED = `const fs = require('fs'); fs.readFileSync('data.txt', {}); const plain = (f) => !require('util').types.isProxy(f) && /getOptions\\(/.test(f);
  console.log([fs.readFileSync, fs.writeFileSync, fs.readFile, fs.promises.readFile, fs.promises.writeFile].every(plain), fs.readFileSync('data.txt', 'utf8'));`;

/** One line of warning, naming what is wrong, and Node's own hint on how to trace it. */
function expectOneLine(stderr, pattern) {
  const lines = stderr.split('\n').filter((line) => line && !/^\(Use `.*--trace-warnings/.test(line) && !/^\s/.test(line));
  const ours = lines.filter((line) => line.includes('smallfry'));
  assert.strictEqual(ours.length, 1, stderr);
  assert.match(ours[0], pattern);
  assert.match(ours[0], /node:fs/);
}

for (const [what, make] of Object.entries(BROKEN)) {
  test(`with addon ${what}, the first call warns once and puts node:fs back`, async () => {
    const cwd = copyPackage(`broken-${what.replaceAll(' ', '-')}`, make);
    for (const flags of [['--require', 'smallfry/register'], ['--import', 'smallfry/register']]) {
      const { stdout, stderr, code } = await run('cjs', UNCHANGED, { flags, cwd });
      assert.strictEqual(stdout, 'true some text\n');
      assert.strictEqual(code, 0);
      expectOneLine(stderr, /\.node/);
    }
    const twice = await run('cjs', `require('smallfry/register'); require('smallfry/fs'); require('smallfry');
      require('smallfry').isNative();
      const { Worker } = require('worker_threads'); new Worker("require('smallfry/register'); require('smallfry').isNative()", { eval: true });`, { cwd });
    expectOneLine(twice.stderr, /\.node/);
    assert.strictEqual(twice.code, 0);
  });

  test(`with addon ${what}, smallfry works by node:fs`, async () => {
    const cwd = copyPackage(`fallback-${what.replaceAll(' ', '-')}`, make);
    const { stdout, code, stderr } = await run('mjs', `import { isNative, readFileSync, writeFileSync, appendFileSync, readFile, writeFile, appendFile, promises } from 'smallfry';
      import fs from 'smallfry/fs'; import fsp from 'smallfry/fs/promises';
      writeFileSync('g', 'a'); writeFileSync('g', 'b', { encoding: 'utf8', flush: true }); appendFileSync('g', Buffer.from('c'));
      const wait = (call) => new Promise((resolve, reject) => call((error, value) => (error ? reject(error) : resolve(value))));
      await wait((done) => appendFile('g', 'd', done)); await promises.appendFile('g', 'e'); await fsp.appendFile('g', 'f', 'utf8');
      console.log(isNative(), readFileSync('g', 'utf8'), await fsp.readFile('g', 'latin1'), await wait((done) => readFile('g', 'utf8', done)), String(fs.readFileSync('g')));
      await wait((done) => writeFile('g', 'x', done)); await promises.writeFile('g', 'y'); console.log(String(await promises.readFile('g')));
      for (const call of [() => readFileSync('none'), () => writeFileSync('none/none', 'x'), () => writeFileSync('g', {})]) try { call(); } catch (e) { console.log(e.code, Object.keys(e).join()); }
      await promises.readFile('none').catch((e) => console.log(e.code, Object.keys(e).join()));`, { cwd });
    assert.strictEqual(stdout,
      'false bcdef bcdef bcdef bcdef\ny\nENOENT errno,code,syscall,path\nENOENT errno,code,syscall,path\nERR_INVALID_ARG_TYPE code\nENOENT errno,code,syscall,path\n');
    assert.strictEqual(code, 0);
    expectOneLine(stderr, /\.node/);
  });
}

test('under the permission model register warns once and leaves node:fs as it was', async () => {
  const permission = major >= 22 ? '--permission' : '--experimental-permission';
  const allowed = ['--allow-fs-read=*', '--allow-addons'];
  for (const more of [allowed, ['--allow-fs-read=*']]) {
    const { stdout, stderr, code } = await run('cjs', `${UNCHANGED} try { fs.writeFileSync('forbidden', 'x'); } catch (e) { console.log(e.code); }
      try { require('smallfry').writeFileSync('forbidden', 'x'); } catch (e) { console.log(e.code); }`,
      { flags: [permission, ...(major < 22 && more.length === 2 ? ['--allow-fs-read=*'] : more), '--require', 'smallfry/register'] });
    assert.strictEqual(stdout, 'true some text\nERR_ACCESS_DENIED\nERR_ACCESS_DENIED\n', stderr);
    assert.strictEqual(code, 0);
    expectOneLine(stderr, /permission/);
    assert.ok(!fs.existsSync(path.join(directory, 'forbidden')));
  }
});

const virtual = { there: major >= 26, missing: 'node:vfs came with Node 26' };
(virtual.there ? test : (name, body) => test(name, { skip: virtual.missing }, body))(
  'files of a mounted node:vfs are seen',
  async () => {
    const { stdout, stderr } = await run('mjs', `import vfs from 'node:vfs'; import own from 'smallfry/fs'; import fs from 'node:fs';
      import { formats, moduleFormats, nearestType } from 'smallfry/package-json';
      const files = vfs.create(); files.writeFileSync('/in.txt', 'virtual'); const at = files.mount();
      const seen = [];
      for (const side of [fs, own]) {
        seen.push(side.readFileSync(at + '/in.txt', 'utf8'), String(side.readFileSync(at + '/in.txt')), await side.promises.readFile(at + '/in.txt', 'utf8'),
          await new Promise((resolve) => side.readFile(at + '/in.txt', 'utf8', (error, text) => resolve(error?.code ?? text))));
        side.writeFileSync(at + '/out.txt', 'written'); await side.promises.appendFile(at + '/out.txt', ' more');
        seen.push(fs.readFileSync(at + '/out.txt', 'utf8'));
      }
      seen.push(own.readFileSync('data.txt', 'utf8'));
      fs.writeFileSync(at + '/package.json', '{"type":"module"}');
      seen.push(nearestType(at + '/a.js'), formats[moduleFormats([at + '/a.js'])[0]]);
      console.log(JSON.stringify(seen));`, { flags: ['--experimental-vfs'] });
    assert.notStrictEqual(stdout, '', stderr);
    const seen = JSON.parse(stdout);
    assert.deepStrictEqual(seen.slice(5, 10), seen.slice(0, 5));
    assert.ok(seen.includes('virtual'));
    assert.deepStrictEqual(seen.slice(-2), ['module', 'module']);
  },
);

test('readTree refuses to run while node:vfs is used', { skip: !virtual.there && virtual.missing }, async () => {
  const { stdout, stderr } = await run('mjs', `import vfs from 'node:vfs'; import { readTree } from 'smallfry';
    vfs.create().mount();
    console.log(await readTree('.').catch((error) => error.code + ' ' + error.message));`, { flags: ['--experimental-vfs'] });
  assert.match(stdout, /^ERR_SMALLFRY_NOT_NATIVE readTree needs smallfry's native addon, which cannot be used: .*node:vfs/, stderr);
});

test('replace is refused while node:vfs is used', { skip: !virtual.there && virtual.missing }, async () => {
  const { stdout, stderr } = await run('mjs', `import vfs from 'node:vfs'; import { readFileSync, writeFileSync } from 'smallfry';
    vfs.create().mount();
    try { writeFileSync('data.txt', 'x', { replace: true }); } catch (error) { console.log(error.code, error.message, readFileSync('data.txt', 'utf8')); }`,
    { flags: ['--experimental-vfs'] });
  assert.match(stdout, /^ERR_SMALLFRY_NOT_NATIVE replace: true needs smallfry's native addon, which cannot be used: .*node:vfs.* some text$/m, stderr);
});

test('registered functions see files of a node:vfs mounted later', { skip: !virtual.there && virtual.missing }, async () => {
  const { stdout, stderr } = await run('mjs', `import fs from 'node:fs'; fs.readFileSync('data.txt');
    const { default: vfs } = await import('node:vfs'); const files = vfs.create(); files.writeFileSync('/in.txt', 'virtual');
    const at = files.mount(); console.log(fs.readFileSync(at + '/in.txt', 'utf8'), await fs.promises.readFile(at + '/in.txt', 'utf8'));`,
    { flags: ['--experimental-vfs', '--require', 'smallfry/register'] });
  assert.strictEqual(stdout, 'virtual virtual\n', stderr);
});

// -------------------------------------------------------------------------------------------------

test('without flush, or with flush false, fs.fsyncSync is not called', () => {
  const spy = mock.method(fs, 'fsyncSync');
  try {
    for (const options of [undefined, 'utf8', {}, { flush: false }, { flush: undefined }, { flush: null }]) {
      smallfry.writeFileSync(path.join(directory, 'flushed'), 'x', options);
      smallfry.appendFileSync(path.join(directory, 'flushed'), 'x', options);
    }
    assert.strictEqual(spy.mock.callCount(), 0);
  } finally {
    spy.mock.restore();
  }
});

testNeeding(needs.strace, '{flush: true} makes an fsync of the file in each form of call', async () => {
  const trace = path.join(directory, 'trace');
  const script = path.join(directory, 'flush.cjs');
  fs.writeFileSync(script, `const own = require('smallfry/fs');
    own.writeFileSync('flush-s', 'x', { encoding: 'utf8', flush: true });
    own.appendFileSync('flush-a', 'x', { flush: true });
    own.writeFile('flush-c', 'x', { flush: true }, () => own.promises.writeFile('flush-p', Buffer.from('x'), { flush: true }));`);
  const { code, stderr } = await runNode(['-f', '-y', '-e', 'trace=fsync,fdatasync', '-o', trace, process.execPath, script], { cwd: directory, command: 'strace' });
  assert.strictEqual(code, 0, stderr);
  const text = fs.readFileSync(trace, 'utf8');
  for (const name of ['flush-s', 'flush-a', 'flush-c', 'flush-p']) {
    assert.match(text, new RegExp(`f(data)?sync\\(\\d+<[^>]*${name}>`), name);
  }
});
