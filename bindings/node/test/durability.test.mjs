// Guards against: a durability option that is silently ignored, a flush that is left out or done
// too often, a result that comes before its flush, and a replacement that loses a mode, a link or
// an addition, or leaves a temporary file.
//
// Why it was possible: node:fs ignores options that it does not know, so a call that is passed to
// it for one argument is written and not flushed; Node 20 to 26 forget `flush` for a string with
// `encoding: 'utf8'`; and one barrier stands for many files, whose results are there before it is.
// Only the trace of system calls tells whether anything was flushed. No test depends on time.

/* global AbortController */

import assert from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import {
  bulk, installPackage, isWindows, makeDirectory, needs, packageDirectory, runNode, runScript, smallfry, testNeeding, testOnUnix, withoutAddon,
} from './support.mjs';

const directory = makeDirectory();
let dirs = 0;
const fresh = () => fs.mkdtempSync(path.join(directory, `d${dirs++}-`));
const text = (name) => fs.readFileSync(name, 'utf8');
const isTemporary = (name) => /^\..*\.[0-9a-f]{16}\.smallfry$/.test(name);
const temporaryFiles = (target) => fs.readdirSync(target, { recursive: true }).filter((name) => isTemporary(path.basename(name)));
const shown = (error) => ({ message: error.message, keys: Object.keys(error), code: error.code, syscall: error.syscall });

const callback = (call) => (...args) => new Promise((resolve, reject) => call(...args, (error) => (error ? reject(error) : resolve())));
const packages = { native: bulk, 'without addon': withoutAddon(directory) };

/**
 * Each function that takes the options, as one that gives a promise and takes a path, data and
 * options.
 */
const formsOf = (own) => ({
  writeFileSync: async (...args) => own.writeFileSync(...args),
  appendFileSync: async (...args) => own.appendFileSync(...args),
  writeFile: callback(own.writeFile),
  appendFile: callback(own.appendFile),
  'promises.writeFile': own.promises.writeFile,
  'promises.appendFile': own.promises.appendFile,
  writeFilesSync: async (name, data, options) => own.writeFilesSync([[name, data]], options),
  writeFiles: (name, data, options) => own.writeFiles([[name, data]], options),
});
const isMany = (form) => form.startsWith('writeFiles');
const adds = (form) => form.includes('append');

const ASKED = [
  { durability: 'none' }, { durability: 'data' }, { durability: 'full' }, { replace: true }, { durability: 'data', replace: true },
  { durability: 'full', replace: true }, { durability: 'full', replace: true, inPlaceIfBusy: true }, { durability: null, replace: false },
];
/** The options that each package takes: only native code replaces files. */
const CAN_ASK = { native: ASKED, 'without addon': ASKED.filter(({ replace }) => !replace) };
/**
 * Tells whether a write is flushed or replaces a file; `inPlaceIfBusy` is left out, which changes
 * nothing here.
 */
const isLasting = ({ durability, replace, inPlaceIfBusy }) => (durability === 'data' || durability === 'full' || replace === true) && !inPlaceIfBusy;
const DATA = ['', 'plain', 'caf\u00e9 \u20ac\u{1f41f}', 'x'.repeat(3e6), Buffer.from([0, 255, 1]), new Uint16Array([1, 2, 3]), new DataView(new ArrayBuffer(4), 1, 2)];
const bytesOf = (data, encoding) => (typeof data === 'string' ? Buffer.from(data, encoding) : Buffer.from(data.buffer, data.byteOffset, data.byteLength));

for (const [which, own] of Object.entries(packages)) {
  const canAsk = CAN_ASK[which];
  const isNative = which === 'native';

  for (const [form, write] of Object.entries(formsOf(own))) {
    const name = `${which}, ${form}`;

    test(`${name}: all options write the same bytes`, async () => {
      const target = fresh();
      for (const [i, asked] of canAsk.entries()) {
        for (const [j, data] of DATA.entries()) {
          const file = path.join(target, `${i}-${j}`);
          await write(file, data, asked);
          assert.ok(fs.readFileSync(file).equals(bytesOf(data)), `${JSON.stringify(asked)}, data ${j}`);
          await write(file, data, { ...asked, encoding: 'latin1' });
          const again = bytesOf(data, 'latin1');
          assert.ok(fs.readFileSync(file).equals(adds(form) ? Buffer.concat([bytesOf(data), again]) : again));
        }
      }
      assert.deepStrictEqual(temporaryFiles(target), []);
    });

    test(`${name}: paths may be strings, URLs and Buffers`, async () => {
      const target = fresh();
      const file = path.join(target, 'f\u00ef le');
      for (const asked of canAsk) {
        for (const named of [file, pathToFileURL(file), Buffer.from(file)]) {
          await write(named, 'x', asked);
          assert.strictEqual(text(file), 'x');
          // Closing may be left for later, and under Wine the name would go when that is done: from
          // the next file.
          own.drainClosesSync();
          fs.rmSync(file);
        }
      }
    });

    if (isNative) test(`${name}: a replaced file keeps its mode, symbolic links stay, hard links keep the old file`, { skip: isWindows && 'modes and links' }, async () => {
      const target = fresh();
      const file = path.join(target, 'file');
      fs.mkdirSync(path.join(target, 'links'));
      fs.symlinkSync('../file', path.join(target, 'links', 'one'));
      fs.symlinkSync('links/one', path.join(target, 'two'));
      for (const durability of ['none', 'data', 'full']) {
        fs.writeFileSync(file, 'old');
        fs.chmodSync(file, 0o4751);
        fs.linkSync(file, path.join(target, `hard-${durability}`));
        const { ino } = fs.statSync(file);
        await write(path.join(target, 'two'), 'new', { durability, replace: true });
        assert.strictEqual(text(file), adds(form) ? 'oldnew' : 'new');
        assert.strictEqual(text(path.join(target, `hard-${durability}`)), 'old');
        assert.notStrictEqual(fs.statSync(file).ino, ino);
        assert.strictEqual(fs.statSync(file).mode & 0o7777, 0o4751);
        assert.ok(fs.lstatSync(path.join(target, 'two')).isSymbolicLink());
        assert.deepStrictEqual(temporaryFiles(target), []);
        fs.rmSync(file);
      }
      const umask = process.umask(0o027);
      await write(file, 'new', { replace: true, durability: 'full', mode: 0o777 });
      process.umask(umask);
      assert.strictEqual(fs.statSync(file).mode & 0o777, 0o750);
    });

    if (!isNative) test(`${name}: replace is refused with why and what to do, before anything is touched`, async () => {
      const target = fresh();
      const file = path.join(target, 'file');
      fs.writeFileSync(file, 'old');
      const before = fs.statSync(file, { bigint: true });
      let taken = 0;
      function* counted(value) {
        taken += 1;
        yield value;
      }
      const refusal = (error) => {
        assert.strictEqual(error.code, 'ERR_SMALLFRY_NOT_NATIVE', error.stack);
        assert.match(error.message, /^replace: true needs smallfry's native addon, which did not load: there is no native addon: .+\. Write without `replace`, or write to another name .+ rename that over the file\.$/);
        return true;
      };
      for (const asked of ASKED.filter(({ replace }) => replace)) {
        for (const named of [file, path.join(target, 'new'), path.join(target, 'none', 'file'), target, pathToFileURL(file), Buffer.from(file)]) {
          await assert.rejects(async () => write(named, 'x', asked), refusal);
          await assert.rejects(async () => write(named, Buffer.from('x'), { ...asked, mode: 0o600 }), refusal);
        }
        if (isMany(form)) {
          const many = form === 'writeFiles' ? own.writeFiles : async (...args) => own.writeFilesSync(...args);
          await assert.rejects(many(counted([file, 'x']), { ...asked, createParents: true, settle: true }), refusal);
        } else if (form.startsWith('promises')) {
          await assert.rejects(write(file, counted('x'), asked), refusal);
        }
      }
      assert.strictEqual(taken, 0);
      assert.deepStrictEqual(fs.readdirSync(target), ['file']);
      assert.strictEqual(text(file), 'old');
      const { ino, mtimeNs, mode } = fs.statSync(file, { bigint: true });
      assert.deepStrictEqual([ino, mtimeNs, mode], [before.ino, before.mtimeNs, before.mode]);
    });

    test(`${name}: errors have the path and the shape of node:fs, and leave no temporary file`, async () => {
      const target = fresh();
      const file = path.join(target, 'file');
      const expected = async (named, asked, code, syscall) => {
        const error = await write(named, 'x', asked).then(() => assert.fail('it was taken'), (reason) => reason);
        assert.deepStrictEqual(shown(error).keys, ['errno', 'code', 'syscall', 'path'], error.message);
        assert.strictEqual(error.code, code, error.message);
        assert.strictEqual(error.path, named);
        if (syscall !== undefined) assert.strictEqual(error.syscall, syscall);
        assert.match(error.message, new RegExp(`^${code}: .*, ${error.syscall} '`));
        assert.deepStrictEqual(temporaryFiles(target), []);
      };
      if (!isWindows) {
        fs.symlinkSync('gone', path.join(target, 'dangling'));
        fs.symlinkSync('loop', path.join(target, 'loop'));
      }
      for (const asked of canAsk.filter(isLasting)) {
        await expected(target, asked, 'EISDIR', 'open');
        await expected(path.join(target, 'none', 'file'), asked, 'ENOENT', 'open');
        if (isWindows || !asked.replace) continue;
        await expected(path.join(target, 'dangling'), asked, 'ENOENT');
        await expected(path.join(target, 'loop'), asked, 'ELOOP');
      }
      fs.writeFileSync(file, 'old');
      for (const [options, code] of [
        [{ durability: 'most' }, 'ERR_INVALID_ARG_VALUE'], [{ durability: true }, 'ERR_INVALID_ARG_VALUE'],
        [{ replace: 'yes' }, 'ERR_INVALID_ARG_TYPE'], [{ replace: 1 }, 'ERR_INVALID_ARG_TYPE'], [{ replace: true, inPlaceIfBusy: 0 }, 'ERR_INVALID_ARG_TYPE'],
        [isMany(form) ? { replace: true, createNew: true } : { replace: true, flag: 'wx' }, 'ERR_INVALID_ARG_VALUE'],
        [{ durability: 'full', encoding: 'none' }, 'ERR_INVALID_ARG_VALUE'],
        ...(isMany(form) ? [] : [
          [{ replace: true, flag: 'r+' }, 'ERR_INVALID_ARG_VALUE'], [{ durability: 'full', flag: 'x' }, 'ERR_INVALID_ARG_VALUE'],
          [{ durability: 'full', mode: 'rwx' }, 'ERR_INVALID_ARG_VALUE'], [{ durability: 'full', flush: 'yes' }, 'ERR_INVALID_ARG_TYPE'],
        ]),
      ]) {
        await assert.rejects(async () => write(file, 'x', options), { name: 'TypeError', code }, JSON.stringify(options));
      }
      await assert.rejects(async () => write(file, { no: 'data' }, { durability: 'full' }), { code: 'ERR_INVALID_ARG_TYPE' });
      await assert.rejects(async () => write(`${file}\0`, 'x', { durability: 'full' }), { code: 'ERR_INVALID_ARG_VALUE' });
      await assert.rejects(async () => write({}, 'x', { durability: 'full' }), { code: 'ERR_INVALID_ARG_TYPE' });
      assert.strictEqual(text(file), 'old');
    });
  }

  test(`${which}: errors for wrong options have the text of node:fs`, () => {
    const write = (options) => own.writeFileSync(path.join(directory, 'never'), 'x', options);
    assert.throws(() => write({ durability: 'most' }), { message: "The property 'options.durability' must be one of: 'none', 'data', 'full'. Received 'most'" });
    for (const value of ['yes', 1, {}, [], () => {}, Symbol('s'), 10n]) {
      let theirs;
      try {
        fs.writeFileSync(path.join(directory, 'never'), 'x', { flush: value });
      } catch (error) {
        theirs = error.message.replaceAll('flush', 'replace');
      }
      assert.throws(() => write({ replace: value }), { message: theirs });
    }
  });

  test(`${which}: descriptors and FileHandles are flushed, and cannot be replaced`, { skip: isWindows && 'as on Unix, but that errors differ' }, async () => {
    const file = path.join(fresh(), 'file');
    const forms = formsOf(own);
    for (const form of ['writeFileSync', 'appendFileSync', 'writeFile', 'appendFile']) {
      const fd = fs.openSync(file, 'w');
      await forms[form](fd, 'a', { durability: 'data' });
      await forms[form](fd, 'b', { durability: 'full' });
      await assert.rejects(async () => forms[form](fd, 'c', { replace: true }), { code: 'ERR_INVALID_ARG_VALUE' });
      fs.closeSync(fd);
      assert.strictEqual(text(file), 'ab', form);
      const reading = fs.openSync(file, 'r');
      await assert.rejects(async () => forms[form](reading, 'c', { durability: 'full' }), { code: 'EBADF', syscall: 'write' });
      fs.closeSync(reading);
    }
    const handle = await fs.promises.open(file, 'w');
    await own.promises.writeFile(handle, 'a', { durability: 'data' });
    await own.promises.appendFile(handle, 'b', { durability: 'full' });
    await assert.rejects(own.promises.writeFile(handle, 'c', { replace: true }), { code: 'ERR_INVALID_ARG_VALUE' });
    await handle.close();
    assert.strictEqual(text(file), 'ab');
    await assert.rejects(own.promises.writeFile(1, 'c', { durability: 'full' }), { code: 'ERR_INVALID_ARG_TYPE' });
  });

  test(`${which}: flags, modes, signals and iterables work with durability`, async () => {
    const target = fresh();
    const file = path.join(target, 'file');
    const { writeFileSync, promises } = own;
    for (const durability of ['data', 'full']) {
      fs.writeFileSync(file, 'old text');
      writeFileSync(file, 'new', { durability, flag: 'r+' });
      assert.strictEqual(text(file), 'new text');
      await promises.writeFile(file, 'NEW', { durability, flag: fs.constants.O_RDWR, mode: '644', flush: true });
      assert.strictEqual(text(file), 'NEW text');
      assert.throws(() => writeFileSync(file, 'x', { durability, flag: 'wx' }), { code: 'EEXIST', syscall: 'open', path: file });
      await assert.rejects(promises.writeFile(file, 'x', { durability, flag: 'ax' }), { code: 'EEXIST', syscall: 'open', path: file });
      for (const replace of isNative ? [false, true] : [false]) {
        const aborted = new AbortController();
        aborted.abort();
        await assert.rejects(promises.writeFile(file, 'x', { durability, replace, signal: aborted.signal }), { name: 'AbortError', code: 'ABORT_ERR' });
        await assert.rejects(callback(own.writeFile)(file, 'x', { durability, replace, signal: aborted.signal }), { name: 'AbortError', code: 'ABORT_ERR' });
        await assert.rejects(async () => promises.writeFile(file, 'x', { durability, replace, signal: {} }), { code: 'ERR_INVALID_ARG_TYPE' });
        assert.strictEqual(text(file), 'NEW text');
        await promises.writeFile(file, 'signal', { durability, replace, signal: new AbortController().signal });
        assert.strictEqual(text(file), 'signal');
        await promises.writeFile(file, (async function* () { yield 'pieces '; yield Buffer.from('and more'); })(), { durability, replace });
        assert.strictEqual(text(file), 'pieces and more');
        await promises.appendFile(file, ['1', '2'], { durability, replace });
        assert.strictEqual(text(file), 'pieces and more12');
        await assert.rejects(promises.writeFile(path.join(target, 'new'), (function* () { yield 'x'; throw new Error('on purpose'); })(), { durability, replace }), /on purpose/);
        fs.rmSync(path.join(target, 'new'), { force: true });
        fs.writeFileSync(file, 'NEW text');
      }
    }
    assert.deepStrictEqual(fs.readdirSync(target), ['file']);
  });

  test(`${which}: an iterable may reuse the memory of its pieces`, async () => {
    const file = path.join(fresh(), 'file');
    async function* pieces() {
      const piece = new Uint16Array(2).subarray(1);
      for (const value of [0x6161, 0x6262, 0x6363]) {
        piece[0] = value;
        yield piece;
      }
    }
    for (const asked of canAsk) {
      await own.promises.writeFile(file, pieces(), asked);
      assert.strictEqual(text(file), 'aabbcc', JSON.stringify(asked));
    }
  });

  test(`${which}: an exception of an iterable is passed on unchanged`, async () => {
    const file = path.join(fresh(), 'file');
    const system = Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' });
    for (const thrown of [new Error('plain'), system, Object.freeze(new Error('frozen')), Object.freeze(Object.assign(new Error('write'), { syscall: 'write' })), 'text', undefined]) {
      const before = thrown instanceof Error ? [thrown.message, ...Object.keys(thrown)] : [];
      for (const asked of canAsk) {
        const pieces = (function* () { yield 'x'; throw thrown; })();
        const error = await own.promises.writeFile(file, pieces, asked).then(() => assert.fail('it was taken'), (reason) => reason);
        assert.strictEqual(error, thrown, JSON.stringify(asked));
        if (thrown instanceof Error) assert.deepStrictEqual([error.message, ...Object.keys(error)], before);
      }
    }
  });

  test(`${which}: an abort between pieces gives the error of node:fs`, async () => {
    const file = path.join(fresh(), 'file');
    const controller = () => {
      const made = new AbortController();
      return { signal: made.signal, abort: (reason) => { made.abort(reason); } };
    };
    const plain = () => {
      const signal = { aborted: false };
      return { signal, abort: (reason) => { Object.assign(signal, { aborted: true, reason }); } };
    };
    const failed = (write, options, make, reason) => {
      const { signal, abort } = make();
      async function* pieces() {
        yield 'x';
        abort(reason);
        yield 'y';
      }
      return write(file, pieces(), { ...options, signal }).then(() => 'written', (error) => error);
    };
    const told = ({ name, message, code, cause }) => ({ name, message, code, cause: cause?.message ?? cause });
    for (const make of [controller, plain]) {
      for (const reason of [undefined, 'enough', new Error('enough')]) {
        const theirs = told(await failed(fs.promises.writeFile, {}, make, reason));
        assert.strictEqual(theirs.code, 'ABORT_ERR');
        for (const asked of canAsk.filter(isLasting)) {
          fs.writeFileSync(file, 'old');
          assert.deepStrictEqual(told(await failed(own.promises.writeFile, asked, make, reason)), theirs, JSON.stringify(asked));
          if (asked.replace) assert.strictEqual(text(file), 'old');
        }
      }
    }
  });

  test(`${which}: arguments are taken and refused as by node:fs, and nothing is written before a refusal`, async () => {
    const file = path.join(fresh(), 'file');
    for (const [form, write] of Object.entries(formsOf(own)).filter(([name]) => !isMany(name))) {
      const expected = adds(form) ? 'oldnew' : 'new';
      for (const asked of canAsk.filter(isLasting)) {
        const label = `${form}, ${JSON.stringify(asked)}`;
        const url = pathToFileURL(file);
        const { href, protocol, host, hostname, port, pathname, search, hash } = url;
        for (const options of [{ flag: '' }, { flag: 0 }, { flag: null }, { flag: undefined }, { encoding: 'buffer' }, { encoding: '' }]) {
          fs.writeFileSync(file, 'old');
          const { ino } = fs.statSync(file);
          await write(file, Buffer.from('new'), { ...asked, ...options });
          assert.strictEqual(text(file), expected, label);
          if (!isWindows) assert.strictEqual(fs.statSync(file).ino !== ino, asked.replace === true, label);
        }
        fs.writeFileSync(file, 'old');
        await write({ href, protocol, host, hostname, port, pathname, search, hash }, 'new', asked);
        assert.strictEqual(text(file), expected, label);
        fs.writeFileSync(file, 'old');
        for (const options of [{ encoding: 'buffer' }, { flag: 'rs' }, { flag: 'x' }, { mode: 'rwx' }, { flush: 1 }, { signal: {} }]) {
          await assert.rejects(async () => write(file, 'new', { ...asked, ...options }), TypeError, `${label}, ${JSON.stringify(options)}`);
          assert.strictEqual(text(file), 'old');
        }
      }
      if (form.startsWith('promises')) continue;
      const fd = fs.openSync(file, 'w');
      await write(fd, Buffer.from('new'), { durability: 'full', flag: 'none', mode: 'none' });
      await assert.rejects(async () => write(fd, 'x', { replace: true, flag: '' }), { code: 'ERR_INVALID_ARG_VALUE' });
      fs.closeSync(fd);
      assert.strictEqual(text(file), 'new', form);
    }
    const handle = await fs.promises.open(file, 'w');
    await own.promises.writeFile(handle, 'new', { durability: 'full', flag: 'none', mode: 'none' });
    await handle.close();
    assert.strictEqual(text(file), 'new');
  });

  test(`${which}: options may be any object but a String`, async () => {
    const file = path.join(fresh(), 'file');
    class Options {
      replace = true;
    }
    for (const [form, write] of Object.entries(formsOf(own)).filter(([name]) => !isMany(name))) {
      for (const [options, replaces] of [
        [new String('utf8'), false], [Object.create({ replace: true }), true], [new Options(), true],
        [Object.assign(Object.create(null), { replace: true }), true],
      ]) {
        fs.writeFileSync(file, 'old');
        const { ino } = fs.statSync(file);
        if (replaces && !isNative) {
          await assert.rejects(async () => write(file, 'new', options), { code: 'ERR_SMALLFRY_NOT_NATIVE' });
          assert.strictEqual(text(file), 'old');
          continue;
        }
        await write(file, 'new', options);
        assert.strictEqual(text(file), adds(form) ? 'oldnew' : 'new', form);
        if (!isWindows) assert.strictEqual(fs.statSync(file).ino !== ino, replaces, form);
      }
    }
  });

  test(`${which}: writeFiles takes durability together with its own options`, async () => {
    for (const [form, write] of Object.entries({ async: own.writeFiles, sync: async (...args) => own.writeFilesSync(...args) })) {
      for (const asked of canAsk.filter(isLasting)) {
        const target = fresh();
        const entries = Array.from({ length: 150 }, (_, i) => [path.join(target, `a${i % 3}`, `b${i % 2}`, `${i % 140}`), `${i} `.repeat(i)]);
        assert.deepStrictEqual(await write(entries, { ...asked, createParents: true }), { written: 150, unchanged: 0 });
        for (const [file, data] of entries.slice(10)) assert.strictEqual(text(file), data, `${form}, ${JSON.stringify(asked)}`);
        entries[20][1] = 'other';
        assert.deepStrictEqual(await write(entries.slice(10), { ...asked, onlyIfChanged: true }), { written: 1, unchanged: 139 });
        entries[30][0] = target;
        entries[40][0] = path.join(target, 'none', 'x');
        const outcomes = await write(entries, { ...asked, settle: true });
        assert.deepStrictEqual(outcomes.flatMap(({ status, reason }, i) => (status === 'rejected' ? [[i, reason.code]] : [])), [[30, 'EISDIR'], [40, 'ENOENT']]);
        await assert.rejects(write(entries, asked), { code: 'EISDIR', path: target });
        await assert.rejects(write(entries, { ...asked, failFast: true, threads: 1 }), { code: 'EISDIR' });
        if (!asked.replace) await assert.rejects(write(entries.slice(0, 1), { ...asked, createNew: true }), { code: 'EEXIST' });
        assert.deepStrictEqual(temporaryFiles(target), []);
      }
    }
  });
}

testNeeding(needs.strace, 'smallfry/fs, smallfry/fs/promises and smallfry/register take the options', async () => {
  const target = fresh();
  installPackage(target);
  const at = (name) => path.join(target, name);
  const calls = `
    fs.writeFileSync('a', 'x', { durability: 'data' });
    fs.appendFileSync('b', 'x', { durability: 'data', replace: true });
    fs.writeFile('c', 'x', { durability: 'data' }, async () => {
      await fs.promises.appendFile('d', 'x', { durability: 'data' });
      await promises.writeFile('e', 'x', { durability: 'data', replace: true });
    });`;
  fs.writeFileSync(at('own.cjs'), `const fs = require('smallfry/fs'), promises = require('smallfry/fs/promises');${calls}`);
  fs.writeFileSync(at('own.mjs'), `import * as fs from 'smallfry/fs'; import * as promises from 'smallfry/fs/promises';${calls}`);
  fs.writeFileSync(at('plain.cjs'), `const fs = require('node:fs'), promises = require('node:fs/promises');${calls}`);
  for (const args of [['own.cjs'], ['own.mjs'], ['--require', 'smallfry/register', 'plain.cjs']]) {
    const trace = at('trace');
    const strace = ['-f', '-y', '-e', 'trace=fsync,fdatasync', '-o', trace, process.execPath];
    const { code, stderr } = await runNode([...strace, ...args], { cwd: target, command: 'strace' });
    assert.strictEqual(code, 0, stderr);
    const flushed = [...text(trace).matchAll(/ (f\w*sync)\(\d+<[^>]*\/([^/>]+)>/g)].map(([, call, name]) => `${call} ${name.replace(/[0-9a-f]{16}/, '*')}`);
    assert.deepStrictEqual(flushed, ['fdatasync a', 'fsync .b.*.smallfry', 'fdatasync c', 'fdatasync d', 'fsync .e.*.smallfry'], `${args}`);
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      assert.strictEqual(text(at(name)), 'x');
      fs.rmSync(at(name));
    }
  }
});

test('with smallfry/register a `replace` that is no boolean is ignored', async () => {
  const target = fresh();
  installPackage(target);
  fs.writeFileSync(path.join(target, 'plain.cjs'), `
    const fs = require('node:fs'), assert = require('node:assert'), { writeFiles } = require('smallfry');
    assert.strictEqual(fs.writeFileSync, require('smallfry/fs').writeFileSync);
    for (const replace of ['yes', 1, {}, () => {}, null]) {
      fs.writeFileSync('a', 'x', { replace });
      fs.appendFileSync('a', 'x', { replace, encoding: 'latin1' });
    }
    assert.throws(() => fs.writeFileSync('a', 'x', { replace: 'yes', durability: 'full' }), { code: 'ERR_INVALID_ARG_TYPE' });
    assert.throws(() => fs.writeFileSync('a', 'x', { replace: 'yes', inPlaceIfBusy: true }), { code: 'ERR_INVALID_ARG_TYPE' });
    (async () => {
      await fs.promises.writeFile('a', 'y', { replace: 'yes' });
      await assert.rejects(async () => writeFiles([['a', 'z']], { replace: 'yes' }), { code: 'ERR_INVALID_ARG_TYPE' });
      const { ino } = fs.statSync('a');
      await fs.promises.appendFile('a', 'z', { replace: true });
      if (process.platform !== 'win32') assert.notStrictEqual(fs.statSync('a').ino, ino);
    })();`);
  const { code, stderr } = await runNode(['--require', 'smallfry/register', 'plain.cjs'], { cwd: target });
  assert.strictEqual(code, 0, stderr);
  assert.strictEqual(text(path.join(target, 'a')), 'yz');
});

test('writeFiles takes entries while others wait for their flush', async () => {
  const target = fresh();
  let taken = 0;
  function* entries() {
    for (; taken < 3000; taken += 1) yield [path.join(target, `${taken % 50}`), 'x'.repeat(1000)];
  }
  const seen = [];
  const options = { durability: 'data', replace: true, maxInFlight: 20_000, onProgress: ({ done }) => seen.push(done) };
  assert.deepStrictEqual(await bulk.writeFiles(entries(), options), { written: 3000, unchanged: 0 });
  assert.strictEqual(seen.at(-1), 3000);
  assert.deepStrictEqual(temporaryFiles(target), []);
});

test('no addition that replaces is lost, by any path, blocking or not', async () => {
  const target = fresh();
  const file = path.join(target, 'log');
  fs.writeFileSync(file, '');
  const paths = [file, `${target}/./log`];
  if (!isWindows) {
    fs.symlinkSync('log', path.join(target, 'link'));
    paths.push(path.join(target, 'link'));
  }
  const calls = Array.from({ length: 60 }, (_, i) => smallfry.promises.appendFile(paths[i % paths.length], `${i}\n`, { durability: 'data', replace: true }));
  smallfry.appendFileSync(file, 'sync\n', { replace: true });
  await Promise.all(calls);
  assert.deepStrictEqual(text(file).split('\n').sort(), ['', 'sync', ...Array.from({ length: 60 }, (_, i) => `${i}`)].sort());
});

test('no addition that replaces is lost while the file is being made', async () => {
  const target = fresh();
  fs.mkdirSync(path.join(target, 'dir'));
  // Through a link, except on Windows.
  const way = isWindows ? 'dir' : 'link';
  if (!isWindows) fs.symlinkSync('dir', path.join(target, 'link'));
  // Threads, since one thread does its calls one after another: the first thread finds no file, the
  // others find one.
  const { code, stdout, stderr } = await runScript(directory, `
    const { Worker, isMainThread, workerData: shared } = require('node:worker_threads');
    if (isMainThread) process.chdir(${JSON.stringify(target)});
    if (isMainThread) {
      const shared = new Int32Array(new SharedArrayBuffer(4));
      let left = 4;
      for (let i = 0; i < 4; i += 1) new Worker(__filename, { workerData: shared }).on('exit', () => {
        left -= 1;
        if (left > 0) return;
        const names = fs.readdirSync('${way}');
        process.stdout.write(names.map((name) => fs.statSync('${way}/' + name).size).join(' '));
      });
    } else {
      for (let round = 0; round < 20; round += 1) {
        Atomics.add(shared, 0, 1);
        while (Atomics.load(shared, 0) < 4 * (round + 1)) {}
        for (let i = 0; i < 3; i += 1) smallfry.appendFileSync('${way}/' + round, 'x', { replace: true });
      }
    }`);
  assert.strictEqual(code, 0, stderr);
  assert.strictEqual(stdout, Array(20).fill(12).join(' '));
  const file = path.join(target, way, 'later');
  await Promise.all(Array.from({ length: 20 }, () => smallfry.promises.appendFile(file, 'x', { replace: true })));
  assert.strictEqual(text(file), 'x'.repeat(20));
});

test('an abort leaves no temporary file', async () => {
  const target = fresh();
  const controller = new AbortController();
  function* entries() {
    for (let i = 0; ; i += 1) {
      if (i === 500) controller.abort();
      yield [path.join(target, `${i}`), 'x'];
    }
  }
  await assert.rejects(bulk.writeFiles(entries(), { durability: 'full', replace: true, signal: controller.signal }), { name: 'AbortError' });
  assert.deepStrictEqual(temporaryFiles(target), []);
});

test('accepted writes are flushed and renamed when the process or a worker ends', async () => {
  for (const how of ['process.exit()', 'return']) {
    for (const inWorker of [false, true]) {
      const target = fresh();
      const body = `
        for (let i = 0; i < 100; i += 1) smallfry.promises.writeFile(path.join(target, 'one' + i), 'x', { durability: 'full', replace: true });
        void bulk.writeFiles(Array.from({ length: 300 }, (_, i) => [path.join(target, 'many' + i), 'y']), { durability: 'full', replace: true });
        ${how};`;
      const source = inWorker
        ? `const { Worker, isMainThread } = require('node:worker_threads');
          const target = ${JSON.stringify(target)};
          if (isMainThread) new Worker(__filename); else (() => { ${body} })();`
        : `const target = ${JSON.stringify(target)}; (() => { ${body} })();`;
      const { code, stderr } = await runScript(directory, source);
      assert.strictEqual(code, 0, stderr);
      assert.strictEqual(fs.readdirSync(target).length, 400, `${how}, ${inWorker}`);
      assert.deepStrictEqual(temporaryFiles(target), []);
    }
  }
});

test('removeTemporaryFiles removes files by name and age', async () => {
  const target = fresh();
  const names = ['.a.0123456789abcdef.smallfry', '.b.js.fedcba9876543210.smallfry', '.c.0123456789abcdef.smallfry~', 'd.smallfry', '.e.0123456789ABCDEF.smallfry'];
  for (const name of names) fs.writeFileSync(path.join(target, name), '');
  fs.utimesSync(path.join(target, names[0]), 1e9, 1e9);
  assert.deepStrictEqual(await bulk.removeTemporaryFiles(target, { unused: 3_600_000 }), [path.join(target, names[0])]);
  assert.deepStrictEqual(await bulk.removeTemporaryFiles(target, { unused: 0 }), [path.join(target, names[1])]);
  assert.deepStrictEqual(fs.readdirSync(target).sort(), names.slice(2).sort());
  await assert.rejects(bulk.removeTemporaryFiles(path.join(target, 'none'), { unused: 0 }), { code: 'ENOENT', syscall: 'scandir' });
  await assert.rejects(bulk.removeTemporaryFiles(target, { unused: 'long' }), { code: 'ERR_INVALID_ARG_VALUE' });
});

testOnUnix('flush of directories', 'flushDirectory refuses what is not a directory', async () => {
  const target = fresh();
  fs.writeFileSync(path.join(target, 'file'), '');
  for (const named of [target, pathToFileURL(target), Buffer.from(target)]) {
    await bulk.flushDirectory(named);
    bulk.flushDirectorySync(named);
  }
  for (const [name, code] of [['file', 'ENOTDIR'], ['none', 'ENOENT']]) {
    const named = path.join(target, name);
    await assert.rejects(bulk.flushDirectory(named), { code, syscall: 'open', path: named });
    assert.throws(() => bulk.flushDirectorySync(named), { code, syscall: 'open', path: named });
  }
  await assert.rejects(bulk.flushDirectory({}), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.throws(() => bulk.flushDirectorySync({}), { code: 'ERR_INVALID_ARG_TYPE' });
});

/**
 * The calls that flush or rename, each with the names of what it is about, for each of `cases`:
 * sources whose `at()` names files in a directory of its own. One process does them all, one after
 * the other.
 */
async function traced(cases) {
  const trace = path.join(directory, 'flushes.trace');
  const script = path.join(directory, 'flushes.cjs');
  fs.writeFileSync(script, `const own = require(${JSON.stringify(packageDirectory)}), fs = require('node:fs'), path = require('node:path');
    (async () => {
      ${cases.map(({ source, target }) => `{ const at = (name) => path.join(${JSON.stringify(target)}, name); ${source} }`).join('\n')}
    })().catch((error) => { console.error(error); process.exitCode = 1; });`);
  const calls = 'trace=fsync,fdatasync,syncfs,rename,renameat,renameat2,sync';
  const { code, stderr } = await runNode(['-f', '-y', '-qq', '-e', calls, '-e', 'signal=none', '-o', trace, process.execPath, script], { command: 'strace' });
  assert.strictEqual(code, 0, stderr);
  const seen = fs.readFileSync(trace, 'utf8').split('\n').map((line) => line.replace(/^\d+ +/, ''));
  return cases.map(({ target }) => seen.filter((line) => line.includes(target)).map((line) => {
    const name = /^\w+/.exec(line)[0].replace(/^renameat2?$/, 'rename');
    const about = [...line.matchAll(/[<"]([^<>"]*)[>"]/g)].map(([, one]) => path.relative(target, one).replace(/\.[0-9a-f]{16}\./, '.*.') || '.');
    return [name, ...about.filter((one) => !one.startsWith('..'))].join(' ');
  }));
}

for (const [form, call] of Object.entries({
  writeFileSync: (...args) => `own.writeFileSync(${args})`,
  appendFileSync: (...args) => `own.appendFileSync(${args})`,
  writeFile: (...args) => `await new Promise((done) => own.writeFile(${args}, done)).then((error) => { if (error) throw error; })`,
  appendFile: (...args) => `await new Promise((done) => own.appendFile(${args}, done)).then((error) => { if (error) throw error; })`,
  'promises.writeFile': (...args) => `await own.promises.writeFile(${args})`,
  'promises.appendFile': (...args) => `await own.promises.appendFile(${args})`,
  writeFilesSync: (name, data, options) => `own.writeFilesSync([[${name}, ${data}]], ${options})`,
  writeFiles: (name, data, options) => `await own.writeFiles([[${name}, ${data}]], ${options})`,
})) {
  testNeeding(needs.strace, `${form} makes the flushes that it needs, in order, and no more`, async () => {
    const replaced = ['fsync .a.*.smallfry', 'rename .a.*.smallfry a', 'fsync .'];
    const cases = [
      ["{ durability: 'none' }", []],
      ["{ durability: 'data' }", ['fdatasync a']],
      ["{ durability: 'full' }", ['fsync a', 'fsync .']],
      ["{ replace: true }", replaced.slice(1, 2)],
      ["{ durability: 'data', replace: true }", replaced.slice(0, 2)],
      ["{ durability: 'full', replace: true }", replaced],
      ...(isMany(form) ? [] : [
        ["{ encoding: 'utf8', flush: true }", ['fsync a']],
        ["{ encoding: 'latin1', flush: true }", ['fsync a']],
        ['{ flush: true }', ['fsync a']],
        ["{ flush: false, encoding: 'utf8' }", []],
        ["{ encoding: 'utf8', flush: true, mode: '600' }", ['fsync a']],
        ["{ flush: true, durability: 'data' }", ['fsync a']],
        ["{ flush: true, durability: 'full' }", ['fsync a', 'fsync .']],
        ["{ flush: true, replace: true }", replaced.slice(0, 2)],
        ["{ durability: 'full', flag: 'r+' }", ['fsync a', 'fsync .']],
        ["{ durability: 'data', flag: fs.constants.O_RDWR, mode: '600' }", ['fdatasync a']],
      ]),
    ];
    const all = [];
    const data = ["'text'", "Buffer.from('text')", "'\\u20ac'.repeat(2e6)", "''"];
    for (const [options, expected] of cases) {
      // The long one is cut or left to Node's own encoder in places; the empty one takes no write.
      for (const one of options.includes('flush') ? data : data.slice(0, 2)) {
        const target = fresh();
        fs.writeFileSync(path.join(target, 'a'), 'old');
        all.push({ source: `${call("at('a')", one, options)};`, target, expected });
      }
    }
    // Other ways to name a file.
    for (const [target, source, expected] of isMany(form) ? [] : [
      [fresh(), `${call("require('node:url').pathToFileURL(at('a'))", "'text'", "{ encoding: 'utf8', flush: true }")};`, ['fsync a']],
      [fresh(), `${call("Buffer.from(at('a'))", "'text'", "{ durability: 'data' }")};`, ['fdatasync a']],
      ...(form.startsWith('promises') ? [
        [fresh(), `const file = await fs.promises.open(at('a'), 'a'); ${call('file', "'text'", "{ durability: 'data' }")}; await file.close();`, ['fdatasync a']],
        [fresh(), `${call("at('a')", "['te', 'xt']", "{ durability: 'full' }")};`, ['fsync a', 'fsync .']],
        [fresh(), `${call("at('a')", "['te', 'xt']", "{ durability: 'full', replace: true }")};`, replaced],
        [fresh(), `${call("at('a')", "'text'", "{ durability: 'full', signal: new AbortController().signal }")};`, ['fsync a', 'fsync .']],
      ] : [
        [fresh(), `const fd = fs.openSync(at('a'), 'a'); ${call('fd', "'text'", "{ durability: 'data' }")};`, ['fdatasync a']],
        [fresh(), `const fd = fs.openSync(at('a'), 'a'); ${call('fd', "'text'", "{ durability: 'full' }")};`, ['fsync a']],
        [fresh(), `const fd = fs.openSync(at('a'), 'a'); ${call('fd', "'text'", "{ encoding: 'utf8', flush: true }")};`, ['fsync a']],
      ]),
    ]) {
      all.push({ source, target, expected, holds: 'text' });
    }
    const seen = await traced(all);
    for (const [i, { source, target, expected, holds }] of all.entries()) {
      assert.deepStrictEqual(seen[i], expected, source);
      if (holds !== undefined) assert.strictEqual(text(path.join(target, 'a')), holds, source);
    }
  });
}

testNeeding(needs.strace, 'group commit flushes a directory far less often than once per file', async () => {
  const target = fresh();
  const [calls] = await traced([{ target, source: `await Promise.all(Array.from({ length: 200 }, (_, i) => own.promises.writeFile(at('f' + i), 'x', { durability: 'full', replace: i % 2 === 0 })));` }]);
  const named = calls.filter((call) => call === 'fsync .').length;
  assert.ok(named >= 1 && named <= 100, `${named} flushes of the directory for 200 files`);
  for (let i = 0; i < 200; i += 1) assert.strictEqual(text(path.join(target, `f${i}`)), 'x');
});

/**
 * Tells whether the directory is on a file system that is flushed whole, with little other data
 * waiting.
 */
function flushedWhole() {
  const kind = spawnSync('stat', ['-f', '-c', '%T', directory], { encoding: 'utf8' }).stdout?.trim();
  if (kind !== 'ext2/ext3') return false;
  const sum = [...text('/proc/meminfo').matchAll(/^(?:Dirty|Writeback): +(\d+) kB$/gm)].reduce((all, [, kilobytes]) => all + Number(kilobytes), 0);
  return sum < 512;
}

testNeeding(needs.strace, 'writeFiles of 100 files with durability full takes at most 4 flushes', async (t) => {
  const source = (write) => `${write}(Array.from({ length: 100 }, (_, i) => [at('f' + i), 'x'.repeat(100)]), { durability: 'full', replace: true });`;
  spawnSync('sync');
  if (!flushedWhole()) {
    t.skip('not on ext4, or others are writing');
    return;
  }
  for (const write of ['await own.writeFiles', 'own.writeFilesSync']) {
    const target = fresh();
    let flushes = Infinity;
    // Other processes may begin to write meanwhile.
    for (let i = 0; i < 3 && flushes > 4; i += 1) {
      if (i > 0) spawnSync('sync');
      const [calls] = await traced([{ source: source(write), target }]);
      assert.strictEqual(calls.filter((call) => call.startsWith('rename')).length, 100);
      flushes = calls.filter((call) => !call.startsWith('rename')).length;
      if (flushes > 4 && !flushedWhole()) {
        t.skip('others are writing');
        return;
      }
    }
    assert.ok(flushes >= 1 && flushes <= 4, `${flushes} flushes`);
    assert.deepStrictEqual(temporaryFiles(target), []);
  }
});

testNeeding(needs.mount, 'a full disk gives ENOSPC with the path, keeps the old file, and leaves no temporary file', async () => {
  const mount = path.join(directory, 'small');
  fs.mkdirSync(mount);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', mount]);
  try {
    const file = path.join(mount, 'file');
    for (const [form, write] of Object.entries(formsOf(bulk))) {
      for (const asked of [{ replace: true }, { durability: 'full', replace: true }, { durability: 'data' }]) {
        fs.writeFileSync(file, 'old');
        const error = await write(file, 'x'.repeat(200_000), asked).then(() => assert.fail('it was taken'), (reason) => reason);
        assert.strictEqual(error.message, `ENOSPC: no space left on device, write '${file}'`, form);
        assert.deepStrictEqual(Object.keys(error), ['errno', 'code', 'syscall', 'path']);
        if (asked.replace) assert.strictEqual(text(file), 'old');
        assert.deepStrictEqual(fs.readdirSync(mount), ['file']);
        fs.rmSync(file);
      }
    }
  } finally {
    execFileSync('umount', [mount]);
  }
});

testNeeding(needs.mount, 'a mount point gives EBUSY with both paths, or is written in place', async () => {
  const target = fresh();
  const file = path.join(target, 'file');
  fs.writeFileSync(path.join(target, 'behind'), 'old');
  fs.writeFileSync(file, 'beneath');
  execFileSync('mount', ['--bind', path.join(target, 'behind'), file]);
  try {
    for (const [form, write] of Object.entries(formsOf(bulk))) {
      for (const durability of ['none', 'full']) {
        const error = await write(file, 'x', { durability, replace: true }).then(() => assert.fail('it was taken'), (reason) => reason);
        assert.deepStrictEqual(Object.keys(error), ['errno', 'code', 'syscall', 'path', 'dest'], form);
        assert.deepStrictEqual([error.code, error.syscall, error.dest], ['EBUSY', 'rename', file]);
        assert.strictEqual(error.message, `EBUSY: resource busy or locked, rename '${error.path}' -> '${file}'`);
        fs.writeFileSync(path.join(target, 'behind'), 'old');
        await write(file, 'new', { durability, replace: true, inPlaceIfBusy: true });
        assert.strictEqual(text(path.join(target, 'behind')), adds(form) ? 'oldnew' : 'new');
        assert.deepStrictEqual(temporaryFiles(target), []);
      }
    }
  } finally {
    execFileSync('umount', [file]);
  }
});

const asNobody = { there: process.platform === 'linux' && process.getuid() === 0, missing: 'to become another user needs root' };
testNeeding(asNobody, 'replace in a read-only directory is refused, and the file stays', async () => {
  const target = fresh();
  fs.chmodSync(directory, 0o755);
  fs.mkdirSync(path.join(target, 'locked'));
  fs.writeFileSync(path.join(target, 'locked', 'file'), 'old');
  fs.chmodSync(path.join(target, 'locked', 'file'), 0o666);
  fs.chmodSync(target, 0o755);
  const { code, stdout, stderr } = await runScript(directory, `
    process.setgid(65534); process.setuid(65534);
    const file = ${JSON.stringify(path.join(target, 'locked', 'file'))};
    (async () => {
      const seen = [];
      const note = (error) => seen.push([error.code, error.syscall, error.path === file]);
      const options = { durability: 'full', replace: true };
      try { smallfry.writeFileSync(file, 'x', options); } catch (error) { note(error); }
      await smallfry.promises.appendFile(file, 'x', options).catch(note);
      await bulk.writeFiles([[file, 'x']], options).catch(note);
      await smallfry.promises.writeFile(file, 'in place', { durability: 'full' });
      console.log(JSON.stringify(seen));
    })();`);
  assert.strictEqual(code, 0, stderr);
  assert.deepStrictEqual(JSON.parse(stdout), Array(3).fill(['EACCES', 'open', true]));
  assert.strictEqual(text(path.join(target, 'locked', 'file')), 'in place');
});

/** Makes system calls fail by strace, in a run of `source`. */
async function failing(inject, source, target) {
  const script = path.join(directory, 'failing.cjs');
  fs.writeFileSync(script, `const own = require(${JSON.stringify(packageDirectory)}), fs = require('node:fs'), path = require('node:path');
    const at = (name) => path.join(${JSON.stringify(target)}, name);
    const shown = (error) => [error.message, Object.keys(error)];
    (async () => { console.log(JSON.stringify(await (async () => { ${source} })())); })();`);
  const args = inject.flatMap((one) => ['-e', `inject=${one}`]);
  const traced = `trace=${inject.map((one) => one.split(':', 1)[0])}`;
  const { code, stdout, stderr } = await runNode(['-f', '-qq', '-e', traced, ...args, '-o', '/dev/null', process.execPath, script], { command: 'strace' });
  assert.strictEqual(code, 0, stderr);
  return JSON.parse(stdout);
}

testNeeding(needs.strace, 'a failed flush gives an error with its path, and replaces nothing', async () => {
  const target = fresh();
  const at = (name) => path.join(target, name);
  const io = ['fsync', 'fdatasync', 'syncfs'].map((call) => `${call}:error=EIO`);
  fs.writeFileSync(at('a'), 'old');
  const collect = (calls) => `const seen = [], open = () => fs.readdirSync('/proc/self/fd').length, before = open(); for (const call of [${calls}]) { try { await call(); seen.push('taken'); } catch (error) { seen.push(shown(error)); } } seen.push(open() - before); return seen;`;
  const keys = ['errno', 'code', 'syscall', 'path'];
  const told = (call, name) => [`EIO: i/o error, ${call} '${name}'`, keys];
  assert.deepStrictEqual(await failing(io, collect([
    "() => own.writeFileSync(at('b'), 'x', { durability: 'data' })", "() => own.promises.writeFile(at('b'), 'x', { durability: 'full' })",
    "() => own.writeFileSync(at('a'), 'x', { durability: 'full', replace: true })", "() => own.promises.writeFile(at('a'), 'x', { durability: 'data', replace: true })",
    "() => own.promises.appendFile(at('a'), 'x', { durability: 'data', replace: true })", "() => own.promises.appendFile(at('b'), 'x', { durability: 'data', flag: 'r+' })",
    "() => own.flushDirectory(at('.'))", "async () => own.flushDirectorySync(at('.'))",
    "() => own.writeFileSync(at('b'), 'x', { flush: true, encoding: 'utf8' })", "() => own.promises.writeFile(at('b'), 'x', { flush: true })",
  ]), target), [
    told('fdatasync', at('b')), told('fsync', at('b')), told('fsync', at('a')), told('fsync', at('a')), told('fsync', at('a')), told('fdatasync', at('b')),
    told('fsync', target), told('fsync', target), ['EIO: i/o error, fsync', keys.slice(0, 3)], ['EIO: i/o error, fsync', keys.slice(0, 3)], 0,
  ]);
  assert.strictEqual(text(at('a')), 'old');
  assert.deepStrictEqual(temporaryFiles(target), []);

  for (const write of ['await own.writeFiles', 'own.writeFilesSync']) {
    // One entry fails by itself, all other entries by the barrier.
    const outcomes = await failing(io, `const entries = Array.from({ length: 60 }, (_, i) => [i === 7 ? at('none/x') : at('m' + i), 'x']);
      const outcomes = ${write}(entries, { durability: 'full', replace: true, settle: true });
      return outcomes.map(({ status, reason }) => (status === 'rejected' ? [reason.code, reason.syscall, path.basename(reason.path)] : status));`, target);
    assert.strictEqual(outcomes.length, 60);
    for (const [i, outcome] of outcomes.entries()) {
      const [code, syscall, name] = outcome;
      if (i === 7) assert.deepStrictEqual(outcome, ['ENOENT', 'open', 'x']);
      else assert.ok(code === 'EIO' && ['fsync', 'syncfs'].includes(syscall) && name === `m${i}`, `${i}: ${outcome}`);
    }
    assert.deepStrictEqual(fs.readdirSync(target), ['a', 'b']);
    const first = await failing(io, `return ${write.replace('await ', '')}([[at('m'), 'x']], { durability: 'data' })${write.startsWith('await') ? ".then(() => 'taken', shown)" : ''};`
      .replace(/^return own.writeFilesSync(.*);$/, "try { own.writeFilesSync$1; return 'taken'; } catch (error) { return shown(error); }"), target);
    assert.deepStrictEqual(first, told('fdatasync', at('m')));
    fs.rmSync(at('m'));
  }
});
