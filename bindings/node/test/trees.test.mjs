// Guards against: a copy or a removal of a tree that differs from that of node:fs, which native
// code does: another copy, error, order of calls of the filter, or what is left of it.
//
// Why it was possible: node:fs goes through the tree in JavaScript, one entry at a time. Native
// code goes through it on several threads, and node:fs repeats what fails in an unusual way.

/* global setImmediate */

import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { describeError, difference, expectNone, quiet, same } from './outcomes.mjs';
import { makeDirectory, needs, packageDirectory, runNode, smallfry, testNeeding, testOnUnix } from './support.mjs';

const base = makeDirectory();
const FORMS = ['callback', 'promise', 'sync'];
// The functions of node:fs, also if others are put in their places later.
const reference = { ...fs, promises: { ...fs.promises } };

/** Makes a tree of all kinds of entries. Its links are relative, absolute and broken. */
function makeTree(at) {
  fs.mkdirSync(path.join(at, 'sub/deep/empty'), { recursive: true });
  fs.mkdirSync(path.join(at, 'private'), { mode: 0o750 });
  for (const [name, size] of [['empty', 0], ['small', 10], ['sub/a b', 5000], ['sub/\u00e4\u{1f41f}', 1], ['sub/line\nbreak', 7], ['sub/deep/large', 700_000]]) {
    fs.writeFileSync(path.join(at, name), Buffer.alloc(size, name));
  }
  fs.chmodSync(path.join(at, 'small'), 0o640);
  fs.writeFileSync(path.join(at, 'program'), '#!/bin/sh', { mode: 0o755 });
  fs.writeFileSync(path.join(at, 'readonly'), 'text', { mode: 0o444 });
  fs.linkSync(path.join(at, 'small'), path.join(at, 'sub/name'));
  fs.symlinkSync('../small', path.join(at, 'sub/to file'));
  fs.symlinkSync('deep', path.join(at, 'sub/to directory'));
  fs.symlinkSync('./sub/../sub//deep/', path.join(at, 'to deep'));
  fs.symlinkSync('nowhere/at all', path.join(at, 'broken'));
  fs.symlinkSync('/dev/null', path.join(at, 'absolute'));
  fs.utimesSync(path.join(at, 'small'), 1000, 2000);
  fs.chmodSync(path.join(at, 'sub/deep'), 0o2775);
}

/**
 * Describes a tree: the kind, permissions and contents of each entry, and whether files have the
 * times of those at `source`.
 */
function describeTree(at, dir, source) {
  const found = {};
  const walk = (full, below) => {
    const status = fs.lstatSync(full);
    const entry = { mode: status.mode.toString(8) };
    const from = source && fs.existsSync(source + below) && fs.lstatSync(source + below);
    if (from && from.isFile()) entry.hasTime = Math.abs(status.mtimeMs - from.mtimeMs) < 2; // node:fs rounds times.
    // Node 26 keeps a slash at the end of a target that it makes absolute.
    if (status.isSymbolicLink()) entry.target = fs.readlinkSync(full).replaceAll(dir, '<dir>').replace(/\/$/, '');
    if (status.isFile()) entry.bytes = `${status.size} ${fs.readFileSync(full, 'latin1').slice(0, 20)}`;
    found[below] = entry;
    if (status.isDirectory()) for (const name of fs.readdirSync(full).sort()) walk(path.join(full, name), `${below}/${name}`);
  };
  if (fs.existsSync(at)) walk(at, '');
  return found;
}

let count = 0;
/** Makes an empty directory. All of them have names of the same length. */
function fresh() {
  count += 1;
  const dir = path.join(base, `case-${String(count).padStart(6, '0')}`);
  fs.mkdirSync(dir);
  return dir;
}

/** The entries that are there before a tree is copied: its destination, and what makes them. */
const DESTINATIONS = {
  nothing: ['to', () => undefined],
  'nothing, not above it either': ['above/it/to', () => undefined],
  'a directory': ['to', (dir) => { fs.mkdirSync(path.join(dir, 'to'), { mode: 0o711 }); }],
  'some of it': ['to', (dir) => {
    fs.mkdirSync(path.join(dir, 'to/sub'), { recursive: true });
    fs.writeFileSync(path.join(dir, 'to/small'), 'other and longer than before');
    fs.writeFileSync(path.join(dir, 'to/sub/a b'), 'other');
    fs.writeFileSync(path.join(dir, 'to/more'), 'more');
  }],
  'a link in place of a file': ['to', (dir) => {
    fs.mkdirSync(path.join(dir, 'to'));
    fs.writeFileSync(path.join(dir, 'elsewhere'), 'stays');
    fs.symlinkSync('../elsewhere', path.join(dir, 'to/small'));
  }],
  'a file in place of a directory': ['to', (dir) => {
    fs.mkdirSync(path.join(dir, 'to'));
    fs.writeFileSync(path.join(dir, 'to/sub'), 'file');
  }],
  'a directory in place of a file': ['to', (dir) => { fs.mkdirSync(path.join(dir, 'to/small/x'), { recursive: true }); }],
  'its copy': ['to', (dir) => { reference.cpSync(path.join(dir, 'from'), path.join(dir, 'to'), { recursive: true }); }],
  'a file where a link goes': ['to', (dir) => {
    fs.mkdirSync(path.join(dir, 'to/sub'), { recursive: true });
    fs.writeFileSync(path.join(dir, 'to/sub/to directory'), 'file');
  }],
  'other links': ['to', (dir) => {
    fs.mkdirSync(path.join(dir, 'to/sub'), { recursive: true });
    for (const name of ['broken', 'to deep']) fs.symlinkSync('elsewhere', path.join(dir, 'to', name));
  }],
  'a link to the source': ['to', (dir) => {
    fs.mkdirSync(path.join(dir, 'to/sub'), { recursive: true });
    fs.symlinkSync(path.join(dir, 'from'), path.join(dir, 'to/sub/to directory'));
  }],
  'a file': ['to', (dir) => { fs.writeFileSync(path.join(dir, 'to'), 'file'); }],
  'a link to a directory': ['to', (dir) => {
    fs.mkdirSync(path.join(dir, 'real'));
    fs.symlinkSync('real', path.join(dir, 'to'));
  }],
  'the source': ['from', () => undefined],
  'in the source': ['from/sub/to', () => undefined],
  'in the source by a link': ['link/sub/to', (dir) => { fs.symlinkSync('from', path.join(dir, 'link')); }],
  'below a file': ['from/small/to', () => undefined],
};

const SOURCES = {
  tree: 'from',
  'with a slash': 'from/',
  'with dots': 'from/sub/../../from',
  file: 'from/small',
  link: 'from/to deep',
  'link with a slash': 'from/to deep/',
  missing: 'from/missing',
  'missing beside': 'missing',
};

/** A filter that leaves out some entries, and notes its calls in `calls`. */
const filter = (dir, calls, isLater) => (from, to) => {
  calls.push([from, to].map((one) => one.replaceAll(dir, '<dir>')));
  const isWanted = !/deep|broken/.test(from.slice(dir.length));
  return isLater ? new Promise((resolve) => { setImmediate(resolve, isWanted); }) : isWanted;
};

const COPY_OPTIONS = {
  'recursive': { recursive: true },
  'links as they are': { recursive: true, verbatimSymlinks: true },
  'with times': { recursive: true, preserveTimestamps: true, verbatimSymlinks: true },
  'not over others': { recursive: true, force: false },
  'not over others, filter': { recursive: true, force: false, filter: 'now' },
  'error on others': { recursive: true, force: false, errorOnExist: true },
  'error on others, force': { recursive: true, errorOnExist: true },
  'links followed': { recursive: true, dereference: true },
  'not recursive': {},
  'no options': undefined,
  'wrong options': { recursive: true, force: 1 },
  'undefined option': { recursive: true, verbatimSymlinks: undefined },
  'incompatible options': { recursive: true, dereference: true, verbatimSymlinks: true },
  'clone': { recursive: true, mode: fs.constants.COPYFILE_FICLONE },
  'filter': { recursive: true, filter: 'now' },
  'filter that answers later': { recursive: true, filter: 'later' },
  'filter that wants nothing': { recursive: true, filter: () => false },
  'filter that throws': { recursive: true, filter: (from) => { if (from.endsWith('deep')) throw new Error('no'); return true; } },
  'filter that is none': { recursive: true, filter: 1 },
};

const FEW_OPTIONS = ['recursive', 'no options', 'wrong options', 'filter that answers later', 'filter that throws'];

async function copy(functions, form, { source, destination, options, how: named }) {
  const dir = fresh();
  // Some of these copies are in the source.
  const isInside = DESTINATIONS[destination][0] !== 'to';
  if (isInside) makeTree(path.join(dir, 'from'));
  else fs.renameSync(commonTree, path.join(dir, 'from'));
  const [to, prepare] = DESTINATIONS[destination];
  prepare(dir);
  const calls = [];
  const given = { ...COPY_OPTIONS[options] };
  if (given.filter === 'now' || given.filter === 'later') given.filter = filter(dir, calls, given.filter === 'later' && form !== 'sync');
  let paths = [SOURCES[source], to];
  if (named === 'relative') process.chdir(dir);
  else paths = paths.map((one) => `${dir}/${one}`);
  if (named === 'url') paths = paths.map((one) => pathToFileURL(one));
  const args = COPY_OPTIONS[options] === undefined ? paths : [...paths, given];
  const { how, error, value, count: results } = await quiet(functions, form, 'cp', args);
  process.chdir(base);
  const outcome = {
    how, results, value,
    error: error && describeError(error, dir),
    calls,
    tree: describeTree(path.join(dir, to), dir, given.preserveTimestamps && path.join(dir, 'from')),
    source: describeTree(path.join(dir, 'from'), dir),
    elsewhere: fs.readdirSync(dir),
  };
  if (!isInside) fs.renameSync(path.join(dir, 'from'), commonTree);
  reference.rmSync(dir, { recursive: true });
  return outcome;
}

/** The source of most copies, which move it to their directory. */
const commonTree = path.join(base, 'tree');

// Node stops at the first error, at any place. Of what it copied until then nothing is promised.
const withoutRest = ({ how, results, error, source }) => ({ how, results, error, source });

testOnUnix('native copies of trees', 'cp copies the same tree as node:fs, and fails with the same errors', async () => {
  makeTree(commonTree);
  const mismatches = [];
  let total = 0;
  // Node's cpSync gives directories the permissions that new ones have.
  const withoutModes = (outcome) => {
    for (const entry of Object.values(outcome.tree)) if (entry.mode.startsWith('4')) delete entry.mode;
    return outcome;
  };
  const compare = async (form, given) => {
    // Node 24 ends the process here, with an exception of C++.
    if (form === 'sync' && /in place of a (?:file|directory)|by a link/.test(given.destination)) return;
    // The filter is asked before files are copied, so it throws before that fails.
    if (given.options === 'filter that throws' && /in place of|its copy|other links/.test(given.destination)) return;
    total += 1;
    let [ours, theirs] = [await copy(smallfry, form, given), await copy(reference, form, given)];
    // Several links fail there. Which one is first depends on the order of the directory.
    if ((given.destination === 'its copy' || given.options === 'links followed') && ours.error !== undefined && theirs.error !== undefined) return;
    if (form === 'sync') [ours, theirs] = [ours, theirs].map(withoutModes);
    if (ours.error !== undefined && theirs.error !== undefined) [ours, theirs] = [ours, theirs].map(withoutRest);
    if (!same(ours, theirs)) mismatches.push(`${form} ${JSON.stringify(given)}\n${difference(ours, theirs)}`);
  };
  for (const form of FORMS) {
    // Callbacks and promises differ in how results come, not in what is copied.
    for (const options of form === 'callback' ? FEW_OPTIONS : Object.keys(COPY_OPTIONS)) {
      for (const destination of Object.keys(DESTINATIONS)) await compare(form, { source: 'tree', destination, options });
    }
    for (const source of Object.keys(SOURCES)) {
      for (const destination of ['nothing', 'a directory', 'a file']) {
        for (const how of [source === 'tree' ? 'url' : 'absolute', 'relative']) {
          for (const options of ['recursive', 'filter', 'links followed']) await compare(form, { source, destination, options, how });
        }
      }
    }
  }
  expectNone(mismatches, total);
});

/** Makes a tree whose links lead to files and directories, one of them above it. */
function makeLinkedTree(at) {
  fs.mkdirSync(path.join(at, 'sub/deep'), { recursive: true });
  fs.mkdirSync(path.join(at, 'private'), { mode: 0o750 });
  fs.writeFileSync(path.join(at, 'sub/deep/file'), 'text', { mode: 0o640 });
  // A copy that keeps no times must not have this one by chance.
  fs.utimesSync(path.join(at, 'sub/deep/file'), 1e9, 1e9);
  fs.linkSync(path.join(at, 'sub/deep/file'), path.join(at, 'name'));
  fs.symlinkSync('../sub/deep', path.join(at, 'private/to directory'));
  fs.symlinkSync('private/to directory/file', path.join(at, 'to file'));
  fs.symlinkSync(path.join(at, 'private'), path.join(at, 'sub/absolute'));
}

const LINKED = {
  'as it is': () => undefined,
  'broken': (from) => fs.symlinkSync('nowhere', path.join(from, 'sub/broken')),
  'endless': (from) => fs.symlinkSync('..', path.join(from, 'sub/endless')),
  'a device': (from) => fs.symlinkSync('/dev/null', path.join(from, 'device')),
  'broken links there': (from, to) => { fs.mkdirSync(to); fs.symlinkSync('elsewhere', path.join(to, 'name')); },
  'links to directories there': (from, to) => { fs.mkdirSync(to); fs.symlinkSync(path.dirname(to), path.join(to, 'sub')); },
};

testOnUnix('native copies of trees', 'cp follows links as node:fs does', async () => {
  const mismatches = [];
  let total = 0;
  const copyLinked = async (functions, form, make, options) => {
    const dir = fresh();
    const [from, to] = ['from', 'to'].map((name) => path.join(dir, name));
    makeLinkedTree(from);
    make(from, to);
    const { how, error, value, count: results } = await quiet(functions, form, 'cp', [from, to, options]);
    const tree = describeTree(to, dir, options.preserveTimestamps && from);
    const others = fs.readdirSync(dir);
    reference.rmSync(dir, { recursive: true });
    return { how, results, value, error: error && describeError(error, dir), tree: error === undefined ? tree : {}, others };
  };
  for (const form of FORMS) {
    for (const [name, make] of Object.entries(LINKED)) {
      for (const options of [{}, { preserveTimestamps: true }, { mode: fs.constants.COPYFILE_FICLONE }, { filter: () => true }]) {
        // Without an end, Node's cpSync ends the process.
        if (form === 'sync' && name === 'endless') continue;
        total += 1;
        const given = { recursive: true, dereference: true, ...options };
        const [ours, theirs] = [await copyLinked(smallfry, form, make, given), await copyLinked(reference, form, make, given)];
        if (!same(ours, theirs)) mismatches.push(`${form} ${name} ${JSON.stringify(given)}\n${difference(ours, theirs)}`);
      }
    }
  }
  expectNone(mismatches, total);
});

testOnUnix('native copies of trees', 'cp fails where that of node:fs copies the copy until its names are too long', async () => {
  const dir = fresh();
  makeLinkedTree(path.join(dir, 'from'));
  fs.symlinkSync('../../to', path.join(dir, 'from/sub/copy'));
  const copied = smallfry.promises.cp(`${dir}/from`, `${dir}/to`, { recursive: true, dereference: true });
  await assert.rejects(copied, { code: 'ERR_FS_CP_EINVAL' });
  assert.ok(!fs.existsSync(`${dir}/to/sub/copy/sub`));
});

testOnUnix('native copies of trees', 'cpSync fails where that of Node 24 ends the process', async () => {
  for (const destination of ['a file in place of a directory', 'a directory in place of a file']) {
    const { error } = await copy(smallfry, 'sync', { source: 'tree', destination, options: 'recursive' });
    assert.match(error.text, /Cannot overwrite (?:non-)?directory/);
  }
  const { error } = await copy(smallfry, 'sync', { source: 'tree', destination: 'in the source by a link', options: 'recursive' });
  assert.match(error.text, /which is in it by a link/);
});

testOnUnix('native copies of trees', 'a link is copied to where it leads', async () => {
  const dir = fresh();
  fs.mkdirSync(path.join(dir, 'real'));
  fs.symlinkSync('real', path.join(dir, 'link'));
  for (const form of FORMS) {
    const { error } = await quiet(smallfry, form, 'cp', [`${dir}/link`, `${dir}/real/${form}`, { recursive: true, verbatimSymlinks: true }]);
    assert.ifError(error);
    assert.strictEqual(fs.readlinkSync(path.join(dir, 'real', form)), 'real');
  }
});

testOnUnix('native copies of trees', 'a filter may write to the directory of the copy', async () => {
  const dir = fresh();
  makeTree(path.join(dir, 'from'));
  const writing = (from, to) => {
    if (!from.endsWith('a b')) return true;
    fs.writeFileSync(to, 'by the filter');
    return false;
  };
  for (const form of FORMS) {
    const { error } = await quiet(smallfry, form, 'cp', [`${dir}/from`, `${dir}/${form}`, { recursive: true, filter: writing }]);
    assert.ifError(error);
    assert.strictEqual(fs.readFileSync(path.join(dir, form, 'sub/a b'), 'utf8'), 'by the filter');
  }
});

const REMOVED = {
  tree: 'from', 'with a slash': 'from/', dot: 'from/.', 'dot dot': 'from/sub/..', file: 'from/small', link: 'from/to deep',
  'link with a slash': 'from/to deep/', missing: 'from/missing', 'below a file': 'from/small/x', empty: 'from/sub/deep/empty', nul: 'from\0x',
};

const REMOVE_OPTIONS = [
  { recursive: true }, { recursive: true, force: true }, {}, { force: true }, undefined, { recursive: 1 }, { recursive: true, force: 'yes' },
  { recursive: true, maxRetries: 2, retryDelay: 1 }, { recursive: true, maxRetries: -1 }, { recursive: true, retryDelay: 1.5 }, [], null, 'x',
];

testOnUnix('native removals of trees', 'rm removes the same as node:fs, and fails with the same errors', async () => {
  const mismatches = [];
  let total = 0;
  for (const form of FORMS) {
    for (const [name, target] of Object.entries(REMOVED)) {
      for (const options of REMOVE_OPTIONS) {
        const remove = async (functions) => {
          const dir = fresh();
          makeTree(path.join(dir, 'from'));
          const args = options === undefined ? [`${dir}/${target}`] : [`${dir}/${target}`, options];
          const { how, error, value, count: results } = await quiet(functions, form, 'rm', args);
          const outcome = { how, results, value, error: error && describeError(error, dir), tree: describeTree(path.join(dir, 'from'), dir) };
          reference.rmSync(dir, { recursive: true });
          return outcome;
        };
        total += 1;
        const [ours, theirs] = [await remove(smallfry), await remove(reference)];
        if (!same(ours, theirs)) mismatches.push(`${form} ${name} ${JSON.stringify(options)}\n${difference(ours, theirs)}`);
      }
    }
  }
  expectNone(mismatches, total);
});

const asNobody = { there: process.platform === 'linux' && process.getuid?.() === 0, missing: 'to become another user needs root' };

// Only the code of cpSync is compared: that of Node 24 ends the process.
testNeeding(asNobody, 'what may not be copied or removed has the errors of node:fs', async () => {
  const dir = fresh();
  for (const [name, make] of Object.entries({
    'closed directory': (at) => { fs.mkdirSync(path.join(at, 'closed/sub'), { recursive: true }); fs.chmodSync(path.join(at, 'closed'), 0o000); },
    'closed file': (at) => { fs.writeFileSync(path.join(at, 'file'), 'x', { mode: 0o000 }); },
    'read-only directory': (at) => { fs.mkdirSync(path.join(at, 'fixed')); fs.writeFileSync(path.join(at, 'fixed/file'), 'x'); fs.chmodSync(path.join(at, 'fixed'), 0o555); },
  })) {
    const at = path.join(dir, name);
    fs.mkdirSync(at);
    fs.chmodSync(at, 0o777);
    make(at);
  }
  fs.chmodSync(dir, 0o755);
  fs.chmodSync(base, 0o755);
  fs.mkdirSync(path.join(dir, 'open'), { mode: 0o777 });
  fs.chmodSync(path.join(dir, 'open'), 0o777);
  for (const name of ['closed directory', 'closed file', 'read-only directory']) fs.chownSync(path.join(dir, name), 65534, 65534);
  const script = `
    process.setuid(65534);
    const [register, dir] = process.argv.slice(1);
    const fs = require('node:fs');
    if (register) require(register);
    (async () => {
      for (const name of ['closed directory', 'closed file', 'read-only directory']) {
        const show = ({ message, code, syscall, errno }) => console.log(name, { message, code, syscall, errno });
        await fs.promises.cp(dir + '/' + name, dir + '/open/' + name, { recursive: true }).catch(show);
        if (register) try { fs.cpSync(dir + '/' + name, dir + '/open/sync ' + name, { recursive: true }); } catch ({ code }) { if (code !== 'EACCES') throw code; }
        if (name !== 'closed file') await fs.promises.rm(dir + '/' + name, { recursive: true }).catch(show);
        if (name !== 'closed file') try { fs.rmSync(dir + '/' + name, { recursive: true }); } catch (error) { show(error); }
      }
      await fs.promises.cp(dir + '/closed file', dir + '/fixed', { recursive: true }).catch(({ message }) => console.log(message));
    })();`;
  const run = async (register) => {
    fs.rmSync(path.join(dir, 'open'), { recursive: true });
    fs.mkdirSync(path.join(dir, 'open'));
    fs.chmodSync(path.join(dir, 'open'), 0o777);
    const { stdout, stderr } = await runNode(['-e', script, register, dir]);
    // Node 26 names only the second of two paths.
    return (stdout + stderr).replace(/(copyfile ').*(?=')/, '$1');
  };
  const theirs = await run('');
  assert.strictEqual(await run(path.join(packageDirectory, 'dist/register.js')), theirs);
});

testNeeding(needs.mkfifo, 'a pipe in a tree is refused as by node:fs', async () => {
  for (const form of FORMS) {
    const errors = [];
    for (const functions of [smallfry, reference]) {
      const dir = fresh();
      fs.mkdirSync(path.join(dir, 'from'));
      execFileSync('mkfifo', [path.join(dir, 'from/pipe')]);
      const { error } = await quiet(functions, form, 'cp', [`${dir}/from`, `${dir}/to`, { recursive: true }]);
      errors.push(describeError(error, dir));
      assert.ifError((await quiet(functions, form, 'rm', [`${dir}/from`, { recursive: true }])).error);
    }
    if (form !== 'sync') assert.deepStrictEqual(errors[0], errors[1]);
    assert.match(errors[0].text, /Cannot copy a FIFO pipe/);
  }
});

testOnUnix('native removals of trees', 'many trees are copied and removed at once', async () => {
  const dir = fresh();
  makeTree(path.join(dir, 'from'));
  const names = Array.from({ length: 50 }, (_, index) => path.join(dir, `copy-${index}`));
  await Promise.all(names.map((name) => smallfry.promises.cp(path.join(dir, 'from'), name, { recursive: true })));
  const expected = describeTree(path.join(dir, 'from'), dir);
  for (const name of names) assert.deepStrictEqual(Object.keys(describeTree(name, dir)), Object.keys(expected));
  await Promise.all(names.map((name) => smallfry.promises.rm(name, { recursive: true })));
  assert.deepStrictEqual(fs.readdirSync(dir), ['from']);
});

testOnUnix('native removals of trees', 'a process that ends in the middle of a copy leaves no half file', async () => {
  const dir = fresh();
  fs.mkdirSync(path.join(dir, 'from'));
  for (let index = 0; index < 3000; index += 1) fs.writeFileSync(path.join(dir, 'from', `file-${index}`), Buffer.alloc(20_000, 1));
  const script = `
    const fs = require(process.argv[1]);
    fs.promises.cp(process.argv[2] + '/from', process.argv[2] + '/to', { recursive: true });
    setTimeout(() => process.exit(), 15);`;
  const { code, stderr } = await runNode(['-e', script, path.join(packageDirectory, 'dist/fs.js'), dir]);
  assert.deepStrictEqual([code, stderr], [0, '']);
  const there = fs.existsSync(path.join(dir, 'to')) ? fs.readdirSync(path.join(dir, 'to')) : [];
  for (const name of there) assert.strictEqual(fs.statSync(path.join(dir, 'to', name)).size, 20_000);
});
