// Guards against: a recursive `readdir` that differs from that of node:fs: other entries, another
// order, another class or path of an entry, another error, or another moment of the callback.
//
// Why it was possible: each version of Node goes through a tree in its own way. Some forms follow
// links, some go into depth first, and paths are joined and resolved in JavaScript. Native code
// lists the whole tree in one call.

import assert from 'node:assert';
import { AsyncLocalStorage } from 'node:async_hooks';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { describeError, difference, expectNone, quiet, same } from './outcomes.mjs';
import { chance, makeDirectory, major, native, needs, packageDirectory, runNode, runScript, seed, smallfry, testNeeding, testOnUnix } from './support.mjs';

const base = fs.realpathSync(makeDirectory());
const TREES = Math.ceil(Number(process.env.SMALLFRY_TEST_CASES ?? 600) / 60);
const FORMS = ['sync', 'callback', 'promise'];
const reference = { ...fs, promises: { ...fs.promises } };
const asNobody = { there: process.platform === 'linux' && process.getuid() === 0, missing: 'to become another user needs root' };

const NAMES = ['a', 'b', 'B', '10', '9', '.hidden', '..x', 'with space', 'line\nbreak', '\u00e4', '\u20ac', '\u{1f41f}', '\ufffd', 'n'.repeat(200)];
const OPTIONS = [
  { recursive: true }, { recursive: true, withFileTypes: true }, { recursive: true, withFileTypes: 1 }, { recursive: true, encoding: 'utf8' },
  { recursive: true, encoding: 'UTF-8', withFileTypes: true }, { recursive: true, encoding: null }, { recursive: true, encoding: 'latin1' },
  { recursive: true, encoding: 'hex', withFileTypes: true }, { recursive: true, encoding: 'buffer' },
  { recursive: true, encoding: 'buffer', withFileTypes: true }, { recursive: true, encoding: 'nope' }, { recursive: true, encoding: 1 },
  { recursive: true, signal: 'x' }, { recursive: true, signal: undefined }, { recursive: false }, { recursive: 1 }, { recursive: 'x' },
  { recursive: null }, Object.create({ recursive: true }), undefined, null, 'utf8', [],
];
const USUAL = OPTIONS.slice(0, 2);

/** Spellings of the path of a tree, which is in `root` below the working directory. */
const SPELLINGS = {
  absolute: (root) => root,
  'slash at the end': (root) => `${root}/`,
  'slashes and dots': (root) => `${path.dirname(root)}//./${path.basename(root)}//.//`,
  'a name and back': (root) => `${root}/../${path.basename(root)}`,
  'two slashes before': (root) => `/${root}`,
  relative: (root) => path.basename(root),
  'relative with dot': (root) => `./${path.basename(root)}/`,
  'relative and back': (root) => `../${path.basename(path.dirname(root))}/${path.basename(root)}`,
  'far back': (root) => `${'../'.repeat(50)}${root.slice(1)}`,
  'a link': (root) => `${root} link`,
  'a link with a slash': (root) => `${root} link/`,
  'a link and back': (root) => `${root} link/..`,
  Buffer: (root) => Buffer.from(root),
  URL: (root) => pathToFileURL(root),
};

/** Fills a directory by chance. Links to directories lead to such without links. */
function fill(directory, random, depth) {
  const names = new Set(Array.from({ length: random.below(6) }, () => random.pick(NAMES)));
  for (const name of names) {
    const entry = path.join(directory, name);
    const kind = random.below(10);
    if (kind < 4 && depth < 5) {
      fs.mkdirSync(entry);
      fill(entry, random, depth + 1);
    } else if (kind < 5) {
      fs.symlinkSync(random.pick(['nowhere', entry, '/dev/null', '.hidden', `${base}/leaf`, `${base}/leaf/file`, `${base}/leaf/deep/`]), entry);
    } else {
      fs.writeFileSync(entry, '');
    }
  }
}

const describeValue = (value) => {
  if (Buffer.isBuffer(value)) return `buffer ${value.toString('hex')}`;
  if (!(value instanceof fs.Dirent)) return value;
  const is = Object.getOwnPropertyNames(fs.Dirent.prototype).filter((name) => name.startsWith('is') && value[name]());
  const { name, parentPath, path: there } = value;
  return {
    is: is.join(), name: describeValue(name), parentPath: describeValue(parentPath), path: major < 24 && describeValue(there),
    isSame: Object.getPrototypeOf(value) === fs.Dirent.prototype, keys: Reflect.ownKeys(value).map(String).join(),
  };
};

async function outcomeOf(calls, form, target, options) {
  const { how, count, value, error } = await quiet(calls, form, 'readdir', [target, options]);
  return {
    how, count,
    value: Array.isArray(value) ? value.map(describeValue) : value,
    error: error instanceof Error ? describeError(error, base) : String(error),
  };
}

/** Node 22 and 24 cannot join Buffers. With a callback that is an uncaught exception. */
const isUncaught = (form, target, options) =>
  major < 26 && form === 'callback' && (Buffer.isBuffer(target) || options?.encoding === 'buffer');

/** Compares the outcomes of all forms. */
async function compare(name, target, all) {
  const mismatches = [];
  for (const form of FORMS) {
    for (const options of all) {
      if (isUncaught(form, target, options)) continue;
      const theirs = await outcomeOf(reference, form, target, options);
      const ours = await outcomeOf(smallfry, form, target, options);
      if (!same(ours, theirs)) mismatches.push(`  ${form}: ${name}, ${JSON.stringify(options)}\n${difference(ours, theirs)}`);
    }
  }
  return mismatches;
}

const make = (name, write) => {
  const root = path.join(base, name);
  fs.mkdirSync(root);
  write(root);
  fs.symlinkSync(root, `${root} link`);
  return root;
};

fs.mkdirSync(path.join(base, 'leaf/deep'), { recursive: true });
fs.writeFileSync(path.join(base, 'leaf/file'), '');
fs.writeFileSync(path.join(base, 'leaf/deep/file'), '');
process.chdir(base);

testOnUnix('native listings', `${TREES} trees are listed as by node:fs, by all kinds of paths`, async () => {
  const mismatches = [];
  for (let count = 0; count < TREES; count += 1) {
    const root = make(`tree ${count}`, (at) => fill(at, chance(seed + count), 0));
    for (const [name, spell] of Object.entries(SPELLINGS)) {
      // This is the directory of all trees.
      if (name === 'a link and back' && count > 2) continue;
      mismatches.push(...await compare(`tree ${count}, ${name}`, spell(root), USUAL));
    }
  }
  expectNone(mismatches, TREES * Object.keys(SPELLINGS).length * FORMS.length * USUAL.length);
});

testOnUnix('native listings', 'all kinds of options are taken as by node:fs', async () => {
  const root = make('options', (at) => fill(at, chance(7), 0));
  fs.mkdirSync(path.join(root, 'sub/sub'), { recursive: true });
  const mismatches = [...await compare('a tree', root, OPTIONS), ...await compare('nothing', path.join(root, 'none'), OPTIONS)];
  expectNone(mismatches, 2 * OPTIONS.length * FORMS.length);
});

/** Trees and paths that are special. */
const SPECIAL = {
  empty: () => make('empty', () => undefined),
  'a tiny directory': () => make('tiny', (at) => fs.writeFileSync(`${at}/file`, '')),
  missing: () => path.join(base, 'none'),
  'missing with a slash': () => `${base}/none/`,
  'a file': () => path.join(base, 'leaf/file'),
  'below a file': () => path.join(base, 'leaf/file/x'),
  'a broken link': () => (fs.symlinkSync('gone', `${base}/broken`), `${base}/broken`),
  'a link to itself': () => (fs.symlinkSync('itself', `${base}/itself`), `${base}/itself`),
  nothing: () => '',
  'with NUL': () => `${base}\0`,
  'with a lone surrogate': () => (fs.mkdirSync(`${base}/a\ufffdb/sub`, { recursive: true }), fs.writeFileSync(`${base}/a\ufffdb/sub/file`, ''), `${base}/a\ud800b`),
  'too long': () => `${base}/${'./'.repeat(3000)}`,
  'nearly too long': () => `${base}/${'./'.repeat(2000)}leaf`,
  undefined: () => undefined,
  'a number': () => 0,
  'a directory that contains itself': () => make('cycle', (at) => {
    fs.mkdirSync(`${at}/sub`);
    fs.writeFileSync(`${at}/sub/file`, '');
    fs.symlinkSync('../sub', `${at}/sub/again`);
  }),
  'two directories that contain each other': () => make('two', (at) => {
    fs.mkdirSync(`${at}/one`);
    fs.mkdirSync(`${at}/two`);
    fs.symlinkSync('../two', `${at}/one/link`);
    fs.symlinkSync('../one', `${at}/two/link`);
  }),
  'names that are not UTF-8': () => make('bytes', (at) => {
    fs.mkdirSync(`${at}/sub/deep`, { recursive: true });
    fs.writeFileSync(Buffer.concat([Buffer.from(`${at}/sub/x`), Buffer.from([0xff])]), '');
  }),
  'a directory whose name is not UTF-8': () => make('bytes in the middle', (at) => {
    fs.mkdirSync(Buffer.concat([Buffer.from(`${at}/x`), Buffer.from([0xc3, 0x28])]));
    fs.writeFileSync(Buffer.concat([Buffer.from(`${at}/x`), Buffer.from([0xc3, 0x28]), Buffer.from('/file')]), '');
  }),
  'sockets and pipes': () => make('kinds', (at) => {
    execFileSync('mkfifo', [`${at}/pipe`]);
    fs.symlinkSync('pipe', `${at}/link`);
  }),
};

for (const [name, build] of Object.entries(SPECIAL)) {
  if (name === 'sockets and pipes' && !needs.mkfifo.there) continue;
  testOnUnix('native listings', `it is as with node:fs: ${name}`, async () => {
    expectNone(await compare(name, build(), USUAL), FORMS.length * USUAL.length);
  });
}

testOnUnix('native listings', 'the directory itself may be the working directory or one above it', async () => {
  const root = make('working', (at) => fs.mkdirSync(`${at}/sub/deep`, { recursive: true }));
  const mismatches = [];
  for (const [where, target] of [['', '.'], ['', './'], ['', './/.'], ['sub', '..'], ['sub', '../'], ['sub/deep', '../..'], ['sub', '../sub'], ['sub', './../sub/deep/..']]) {
    process.chdir(path.join(root, where));
    mismatches.push(...await compare(`${target} in ${where}`, target, USUAL));
  }
  process.chdir(base);
  expectNone(mismatches, 8 * FORMS.length * USUAL.length);
});

/** Compares all forms in a process of its own, which `before` prepares. */
async function compareInProcess(root, before) {
  const source = `
    ${before}
    const { describeError } = await import(${JSON.stringify(path.join(packageDirectory, 'test/outcomes.mjs'))});
    const all = [];
    for (const calls of [reference, smallfry]) {
      for (const withFileTypes of [false, true]) {
        const options = { recursive: true, withFileTypes };
        const settled = [
          await new Promise((resolve) => resolve(calls.readdirSync(root, options))).catch((error) => error),
          await new Promise((resolve, reject) => calls.readdir(root, options, (error, value) => (error ? reject(error) : resolve(value)))).catch((error) => error),
          await calls.promises.readdir(root, options).catch((error) => error),
        ];
        const described = settled.map((one) => (one instanceof Error ? describeError(one, root) : one.map((entry) => entry.parentPath + entry.name + entry)));
        all.push(described);
      }
    }
    const { deepStrictEqual } = await import('node:assert');
    deepStrictEqual(all[2], all[0], 'names');
    deepStrictEqual(all[3], all[1], 'types');
    console.log(all.slice(0, 2).flat().map((one) => (Array.isArray(one) ? 'list' : one.message.split(',')[0])).join());`;
  const script = `const reference = { ...fs, promises: { ...fs.promises } }, root = ${JSON.stringify(root)}; (async () => {${source}})();`;
  return runScript(base, script);
}

testNeeding(asNobody, 'directories that may not be read or entered fail as with node:fs', async () => {
  const root = make('locked', (at) => {
    for (const [name, mode] of [['a', 0o755], ['b', 0o000], ['c', 0o755]]) {
      fs.mkdirSync(`${at}/${name}/sub`, { recursive: true });
      fs.chmodSync(`${at}/${name}`, mode);
    }
  });
  fs.chmodSync(base, 0o755);
  for (const mode of [0o000, 0o444, 0o111]) {
    fs.chmodSync(`${root}/b`, mode);
    const { stdout, stderr } = await compareInProcess(root, 'await smallfry.promises.readdir("/"); process.seteuid(65534);');
    assert.match(stdout, /EACCES/, `${mode}: ${stderr}`);
  }
  fs.chmodSync(root, 0o000);
  const { stdout, stderr } = await compareInProcess(root, 'await smallfry.promises.readdir("/"); process.seteuid(65534);');
  assert.match(stdout, /^(?:EACCES: permission denied,?){6}\n$/, stderr);
  fs.chmodSync(root, 0o755);
});

testOnUnix('native listings', 'a tree with paths that are too long ends as with node:fs', async () => {
  const root = make('deep', () => undefined);
  try {
    const build = `process.chdir(root);
      for (let level = 0; level < 300; level += 1) { fs.mkdirSync('directory'.repeat(5)); process.chdir('directory'.repeat(5)); }
      process.chdir('/');`;
    const { stdout, stderr } = await compareInProcess(root, build);
    assert.match(stdout, /ENAMETOOLONG|list/, stderr);
  } finally {
    execFileSync('rm', ['-rf', root]);
  }
});

testOnUnix('native listings', 'a working directory that is gone is as with node:fs', async () => {
  const root = make('gone', (at) => fs.mkdirSync(`${at}/sub/sub`, { recursive: true }));
  for (const [inside, target] of [['sub', '.'], ['sub', '..'], ['sub/sub', '../..']]) {
    fs.mkdirSync(path.join(root, inside), { recursive: true });
    const before = `process.chdir(root + '/${inside}'); fs.rmSync(root + '/${inside}', { recursive: true }); root = '${target}';`;
    const { stdout, stderr } = await compareInProcess(root, before.replace('root =', 'globalThis.unused ='));
    assert.notStrictEqual(stdout, '', stderr);
  }
});

testOnUnix('native listings', 'directories that vanish meanwhile give an error of node:fs, or are left out', async () => {
  const root = make('vanishing', () => undefined);
  for (let round = 0; round < 20; round += 1) {
    for (let index = 0; index < 100; index += 1) fs.mkdirSync(`${root}/${round}/${index}/sub`, { recursive: true });
    const listings = USUAL.map((options) => smallfry.promises.readdir(root, options).catch((error) => error));
    await fs.promises.rm(`${root}/${round}`, { recursive: true });
    for (const value of await Promise.all(listings)) {
      if (Array.isArray(value)) continue;
      assert.strictEqual(value.code, 'ENOENT');
      assert.strictEqual(value.syscall, 'scandir');
    }
  }
});

testOnUnix('native listings', 'many listings at once do not mix', async () => {
  const roots = Array.from({ length: 100 }, (_, index) => make(`many ${index}`, (at) => fs.mkdirSync(`${at}/${index}/sub`, { recursive: true })));
  const found = await Promise.all(roots.map((root) => smallfry.promises.readdir(root, { recursive: true })));
  assert.deepStrictEqual(found, roots.map((_, index) => [`${index}`, `${index}/sub`]));
});

testOnUnix('native listings', 'the callback runs in the asynchronous context of the call', async () => {
  const storage = new AsyncLocalStorage();
  const seen = await storage.run('context', () => new Promise((resolve) => smallfry.readdir(`${base}/leaf`, { recursive: true }, () => resolve(storage.getStore()))));
  assert.strictEqual(seen, 'context');
});

testOnUnix('native listings', 'what a callback throws goes the way of node:fs', async () => {
  const run = (calls) => runScript(base, `
    process.on('uncaughtException', (error) => console.log('uncaught', error.message));
    try {
      ${calls}.readdir(directory + '/leaf', { recursive: true }, () => { throw new Error('thrown'); });
    } catch (error) {
      console.log('caught', error.message);
    }`);
  const [ours, theirs] = [await run('smallfry'), await run('fs')];
  assert.strictEqual(ours.stdout, theirs.stdout, ours.stderr);
});

testOnUnix('native listings', 'a callback that is missing or misplaced is refused as by node:fs', () => {
  const describe = (calls, args) => {
    try {
      return String(calls.readdir(...args));
    } catch (error) {
      return describeError(error, base);
    }
  };
  const options = { recursive: true };
  for (const args of [[], [base], [base, options], [base, options, undefined], [base, options, {}], [base, undefined, options], [undefined, options, () => undefined]]) {
    assert.deepStrictEqual(describe(smallfry, args), describe(reference, args));
  }
});

testOnUnix('native listings', 'options that change after the call do not matter', async () => {
  const options = { recursive: true, withFileTypes: true };
  const promise = smallfry.promises.readdir(`${base}/leaf`, options);
  options.withFileTypes = false;
  assert.ok((await promise).every((entry) => entry instanceof fs.Dirent));
});

testOnUnix('native listings', `${major < 26 ? 'all forms are' : 'no form is'} native on Node ${major}`, async () => {
  const count = { listAll: 0, listAllSync: 0 };
  const own = { listAll: native.listAll, listAllSync: native.listAllSync };
  for (const name of Object.keys(own)) native[name] = (...args) => ((count[name] += 1), own[name](...args));
  try {
    for (const form of FORMS) await outcomeOf(smallfry, form, `${base}/leaf`, { recursive: true });
    // Node 20 calls back at once.
    assert.deepStrictEqual(count, major >= 26 ? { listAll: 0, listAllSync: 0 } : major === 20 ? { listAll: 1, listAllSync: 2 } : { listAll: 2, listAllSync: 1 });
  } finally {
    Object.assign(native, own);
  }
});

testOnUnix('native listings', 'a process may end, and so may a worker, while a listing is made', async () => {
  const loop = make('endless', (at) => {
    fs.mkdirSync(`${at}/sub`);
    for (const name of ['one', 'two', 'three']) fs.symlinkSync('..', `${at}/sub/${name}`);
  });
  const source = `const { Worker, isMainThread, parentPort } = require('node:worker_threads');
    smallfry.promises.readdir(${JSON.stringify(loop)}, { recursive: true });
    if (isMainThread) {
      const worker = new Worker(__filename);
      worker.on('message', async () => { await worker.terminate(); console.log('terminated'); process.exit(); });
    } else {
      setTimeout(() => parentPort.postMessage('begun'), 50);
    }`;
  if (major >= 26) return;
  const { stdout, stderr } = await runScript(base, source);
  assert.strictEqual(stdout, 'terminated\n', stderr);
});

testOnUnix('native listings', 'register leaves a readdir that somebody has replaced', async () => {
  const source = `const fs = require('node:fs'); const own = fs.readdirSync; let heard = 0;
    fs.readdirSync = (...args) => ((heard += 1), own(...args));
    require(${JSON.stringify(path.join(packageDirectory, 'dist/register.js'))});
    fs.readdirSync('.', { recursive: true });
    console.log(heard);`;
  const { stdout, stderr } = await runNode(['-e', source], { cwd: path.join(base, 'leaf') });
  assert.strictEqual(stdout, '1\n', stderr);
});
