// Files that are closed later: nothing of it shows but in drainCloses, and nothing that removes or
// renames meets an open file. On a simulated disk whose closes are slow and fail, since on this one
// they do neither.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import {
  bulk, isWindows, makeDirectory, native, needs, runScript, smallfry, startSlowDisk, testNeeding, turn,
} from './support.mjs';

const { drainCloses, drainClosesSync, setClosePolicy, writeFiles } = bulk;

after(() => setClosePolicy('auto'));

/** A disk so slow that a close is still pending a few calls later. */
const GLACIAL = 'windows-close,close=400ms,close-spread=0ms';

test('a file whose close is deferred has been written', async () => {
  const directory = makeDirectory();
  for (const policy of ['always', 'never', 'auto']) {
    setClosePolicy(policy);
    const names = Array.from({ length: 200 }, (_, index) => path.join(directory, `${policy}${index}`));
    for (const name of names) smallfry.writeFileSync(name, 'text');
    for (const name of names) assert.equal(fs.readFileSync(name, 'utf8'), 'text');
    for (const name of names) smallfry.appendFileSync(name, Buffer.from(' and more'));
    await Promise.all(names.map((name) => smallfry.promises.appendFile(name, '.')));
    await writeFiles(names.map((name) => [`${name}x`, 'x']));
    assert.deepEqual(await drainCloses(), []);
    assert.deepEqual(drainClosesSync(), []);
    for (const name of names) assert.equal(fs.readFileSync(name, 'utf8'), 'text and more.');
  }
});

test('an unknown close policy is refused', () => {
  for (const policy of ['sometimes', '', undefined, 1, null]) {
    assert.throws(() => setClosePolicy(policy), { name: 'TypeError', code: 'ERR_INVALID_ARG_VALUE' });
  }
});

test('functions that remove and rename look like those of node:fs', () => {
  for (const name of ['rename', 'rm', 'rmdir', 'unlink']) {
    for (const [ours, own] of [
      [smallfry[name], fs[name]],
      [smallfry[`${name}Sync`], fs[`${name}Sync`]],
      [smallfry.promises[name], fs.promises[name]],
    ]) {
      assert.equal(ours.name, own.name);
      assert.equal(ours.length, own.length);
    }
  }
  // Only Windows refuses to remove an open file.
  assert.equal(smallfry.unlink === fs.unlink, !isWindows);
  assert.equal(smallfry.unlinkSync === fs.unlinkSync, !isWindows);
  assert.equal(smallfry.promises.unlink === fs.promises.unlink, !isWindows);
  assert.throws(() => smallfry.unlink('a'), { code: 'ERR_INVALID_ARG_TYPE' });
  assert.throws(() => smallfry.unlinkSync(1), { code: 'ERR_INVALID_ARG_TYPE' });
});

testNeeding(needs.slowDisk, 'unlink does not wait for closes; rename, and removing directories, do', async () => {
  setClosePolicy('always');
  const disk = await startSlowDisk(GLACIAL);
  try {
    const [inner, name, other] = ['inner', 'a', 'b'].map((last) => path.join(disk.directory, last));
    for (const [act, waits] of [
      [() => smallfry.renameSync(name, other), true],
      [() => smallfry.promises.rename(name, other), true],
      [() => new Promise((resolve) => { smallfry.rename(name, other, resolve); }), true],
      [() => smallfry.unlinkSync(name), false],
      [() => smallfry.rmSync(name), false],
      [() => smallfry.promises.rm(name, { force: true }), false],
      [() => new Promise((resolve) => { smallfry.rm(name, resolve); }), false],
      [() => smallfry.rmSync(inner, { recursive: true }), true],
      [() => smallfry.promises.rmdir(inner), true],
      [() => new Promise((resolve) => { smallfry.rmdir(inner, resolve); }), true],
      [() => new Promise((resolve) => { smallfry.rm(pathToFileURL(inner), { recursive: true }, resolve); }), true],
    ]) {
      fs.rmSync(inner, { recursive: true, force: true });
      fs.mkdirSync(inner);
      smallfry.writeFileSync(name, 'text');
      const error = await act();
      assert.equal(error ?? undefined, undefined, `${act}`);
      assert.equal(native.pendingCloses() === 0, waits, `${act}`);
      assert.equal(fs.existsSync(inner) && fs.existsSync(name), false, `${act}`);
    }
    assert.deepEqual(await drainCloses(), []);
  } finally {
    await disk.stop();
  }
});

testNeeding(needs.slowDisk, 'a call for a path or a tree waits for the close of the file', async () => {
  setClosePolicy('always');
  const disk = await startSlowDisk(GLACIAL);
  try {
    const [tree, copy] = ['tree', 'copy'].map((last) => path.join(disk.directory, last));
    const name = path.join(tree, 'file');
    fs.mkdirSync(tree);
    for (const act of [
      () => smallfry.promises.stat(name),
      () => smallfry.promises.lstat(name),
      () => smallfry.promises.access(name),
      () => smallfry.promises.chmod(name, 0o600),
      () => smallfry.promises.utimes(name, 1, 1),
      () => smallfry.promises.cp(tree, copy, { recursive: true }),
      () => smallfry.cpSync(tree, copy, { recursive: true }),
      () => bulk.copyTree(tree, copy),
      () => bulk.mirrorTree(tree, copy),
    ]) {
      smallfry.writeFileSync(name, 'text');
      assert.equal(native.pendingCloses(), 1, `${act}`);
      await act();
      assert.equal(native.pendingCloses(), 0, `${act}`);
      fs.rmSync(copy, { recursive: true, force: true });
    }
    assert.deepEqual(await drainCloses(), []);
  } finally {
    await disk.stop();
  }
});

testNeeding(needs.slowDisk, 'a file whose close has failed is not renamed over another', async () => {
  setClosePolicy('always');
  const disk = await startSlowDisk('windows-close', ['--fail', 'close:every2:EDQUOT']);
  try {
    const [good, bad] = ['good', 'bad'].map((last) => path.join(disk.directory, last));
    // Every second close fails: that of the bad one, since that of the good one comes first.
    for (const rename of [
      async () => smallfry.renameSync(bad, good),
      () => smallfry.promises.rename(bad, good),
      () => new Promise((resolve, reject) => { smallfry.rename(bad, good, (error) => { error ? reject(error) : resolve(); }); }),
      () => smallfry.promises.rename(pathToFileURL(bad), good),
      () => smallfry.promises.rename(Buffer.from(bad), good),
    ]) {
      smallfry.writeFileSync(good, 'good');
      assert.deepEqual(await drainCloses(), []);
      smallfry.writeFileSync(bad, 'bad');
      await assert.rejects(rename, { code: 'EDQUOT', syscall: 'close', path: bad });
      assert.deepEqual([fs.existsSync(good), fs.existsSync(bad)], [true, true]);
      assert.deepEqual(await drainCloses(), []);
      // Said once.
      await smallfry.promises.rename(bad, `${bad}2`);
    }
  } finally {
    await disk.stop();
  }
});

testNeeding(needs.slowDisk, 'wrong arguments are refused at once, even if closes are pending', async () => {
  setClosePolicy('always');
  const disk = await startSlowDisk(GLACIAL);
  const recursive = { recursive: true };
  const none = path.join(disk.directory, 'none');
  const done = () => assert.fail('it was not refused');
  const thrown = (own, args) => {
    try {
      own(...args);
      return undefined;
    } catch (error) {
      return [error.name, error.code, error.message];
    }
  };
  try {
    for (const [name, ...args] of [
      ['unlink', 123, done], ['unlink', none, {}, done], ['rename', none, done], ['rename', none, 1, done],
      ['rename', [], none, done], ['rmdir', 123, done], ['rmdir', `${none}\0`, done],
      ['rmdir', new URL('http://localhost/'), done], ['rmdir', none, null, done], ['rmdir', none],
      ['rm', undefined, recursive, done], ['rm', Buffer.from([0]), recursive, done],
      ['rm', new URL('file:///%00'), recursive, done], ['rm', none, { ...recursive, force: 1 }, done],
      ['rm', none, { ...recursive, retryDelay: 'long' }, done],
    ]) {
      const said = thrown(fs[name], args);
      assert.ok(said, `${name} takes ${args}`);
      smallfry.writeFileSync(path.join(disk.directory, 'a'), 'text');
      assert.deepEqual(thrown(smallfry[name], args), said);
      assert.ok(native.pendingCloses() > 0);
    }
    assert.deepEqual(await drainCloses(), []);
  } finally {
    await disk.stop();
  }
});

testNeeding(needs.slowDisk, 'drainCloses does not wait for writes that begin meanwhile', async () => {
  setClosePolicy('always');
  const disk = await startSlowDisk(GLACIAL);
  try {
    let count = 0;
    const write = () => smallfry.writeFileSync(path.join(disk.directory, `${count++}`), 'text');
    write();
    let drained = false;
    const errors = drainCloses().then((told) => {
      drained = true;
      assert.ok(native.pendingCloses() > 0, 'all was waited for');
      return told;
    });
    // Few enough at a time that writing goes on: a full queue closes here.
    while (!drained) {
      if (native.pendingCloses() < 8) write();
      await turn();
    }
    assert.deepEqual(await errors, []);
    assert.ok(count > 1);
    assert.deepEqual(await drainCloses(), []);
  } finally {
    await disk.stop();
  }
});

test('files can be removed and renamed while their close is pending', async () => {
  setClosePolicy('always');
  const directory = makeDirectory();
  for (let round = 0; round < 5; round += 1) {
    const inner = path.join(directory, 'inner');
    fs.mkdirSync(inner);
    const write = () => {
      for (let index = 0; index < 20; index += 1) smallfry.writeFileSync(path.join(inner, `${index}`), `${round}`);
    };
    write();
    smallfry.unlinkSync(path.join(inner, '1'));
    smallfry.writeFileSync(path.join(inner, '1'), 'new');
    assert.equal(fs.readFileSync(path.join(inner, '1'), 'utf8'), 'new');
    write();
    smallfry.renameSync(inner, `${inner}2`);
    smallfry.renameSync(`${inner}2`, inner);
    write();
    await smallfry.promises.unlink(path.join(inner, '2'));
    write();
    await new Promise((resolve, reject) => {
      smallfry.unlink(path.join(inner, '3'), (error) => { error ? reject(error) : resolve(); });
    });
    assert.ok(!fs.existsSync(path.join(inner, '3')));
    write();
    if (round % 2 === 0) smallfry.rmSync(inner, { recursive: true });
    else await smallfry.promises.rm(inner, { recursive: true });
    assert.ok(!fs.existsSync(inner));
  }
  assert.deepEqual(await drainCloses(), []);
});

test('the exit of the process waits for pending closes', async () => {
  const directory = makeDirectory();
  const { code, stderr } = await runScript(directory, `
    bulk.setClosePolicy('always');
    for (let index = 0; index < 300; index += 1) smallfry.writeFileSync(path.join(directory, \`\${index}\`), 'text');
    process.exit(0);
  `);
  assert.equal(stderr, '');
  assert.equal(code, 0);
  for (let index = 0; index < 300; index += 1) assert.equal(fs.readFileSync(path.join(directory, `${index}`), 'utf8'), 'text');
});

testNeeding(needs.slowDisk, 'drainCloses gives every error of closing with its path', async () => {
  setClosePolicy('always');
  const disk = await startSlowDisk('none', ['--fail', 'close:every7:EDQUOT']);
  try {
    const names = Array.from({ length: 70 }, (_, index) => path.join(disk.directory, `${index}`));
    for (const name of names.slice(0, 30)) smallfry.writeFileSync(name, 'text');
    await Promise.all(names.slice(30, 50).map((name) => smallfry.promises.writeFile(name, 'text')));
    await writeFiles(names.slice(50).map((name) => [name, 'text']));
    const errors = await drainCloses();
    assert.equal(errors.length, 10);
    assert.equal(new Set(errors.map((error) => error.path)).size, 10);
    for (const error of errors) {
      assert.deepEqual(Object.keys(error), ['errno', 'code', 'syscall', 'path']);
      assert.equal(error.code, 'EDQUOT');
      assert.equal(error.syscall, 'close');
      assert.ok(names.includes(error.path));
      assert.match(error.message, /^EDQUOT: .*, close '.*'$/);
    }
    assert.deepEqual(drainClosesSync(), []);

    // Closed at once, they are thrown.
    setClosePolicy('never');
    const thrown = names.slice(0, 14).filter((name) => {
      try {
        smallfry.writeFileSync(name, 'text');
        return false;
      } catch (error) {
        assert.equal(error.syscall, 'close');
        return true;
      }
    });
    assert.equal(thrown.length, 2);
    assert.deepEqual(drainClosesSync(), []);
  } finally {
    await disk.stop();
  }
});

testNeeding(needs.slowDisk, 'errors that nobody drains are printed at the end and set the exit code', async () => {
  const disk = await startSlowDisk('none', ['--fail', 'close:every7:EDQUOT']);
  try {
    const directory = makeDirectory();
    const script = (write, end) => `
      bulk.setClosePolicy('always');
      const names = Array.from({ length: 14 }, (_, index) => path.join(${JSON.stringify(disk.directory)}, \`\${index}\`));
      ${write}
      ${end}
    `;
    const sync = "for (const name of names) smallfry.writeFileSync(name, 'text');";
    const later = "for (const name of names) smallfry.writeFile(name, 'text', () => {});";
    for (const [write, end, expected] of [
      [sync, '', 1], [sync, 'process.exit(0)', 1], [sync, 'process.exit(3)', 3], [later, '', 1], [later, 'process.exit(4)', 4],
    ]) {
      const { code, stderr } = await runScript(directory, script(write, end));
      assert.equal(stderr.match(/^smallfry: .*close/gm)?.length, 2, stderr);
      assert.equal(code, expected, `${write} ${end}`);
    }
    const asked = await runScript(directory, script(sync, 'bulk.drainClosesSync();'));
    assert.deepEqual([asked.code, asked.stderr], [0, '']);
  } finally {
    await disk.stop();
  }
});

testNeeding(needs.slowDisk, 'with standard error closed, errors of closing only set the exit code', async () => {
  const disk = await startSlowDisk('none', ['--fail', 'close:every7:EDQUOT']);
  try {
    const directory = makeDirectory();
    for (const [write, end, expected] of [
      ["smallfry.writeFileSync(name, 'text')", 'process.exit(0)', 1],
      ["smallfry.writeFile(name, 'text', () => {})", 'process.exit(4)', 4],
      ["smallfry.writeFileSync(name, 'text')", "process.stderr.write = () => { throw new Error('closed'); }", 1],
    ]) {
      const { code, signal } = await runScript(directory, `
        bulk.setClosePolicy('always');
        for (let index = 0; index < 14; index += 1) {
          const name = path.join(${JSON.stringify(disk.directory)}, \`\${index}\`);
          ${write};
        }
        ${end};
      `, { closesStderr: true });
      assert.deepEqual([code, signal], [expected, null], `${write} ${end}`);
    }
  } finally {
    await disk.stop();
  }
});

testNeeding(needs.slowDisk, 'Auto defers closes on a disk that is slow to close', async () => {
  setClosePolicy('auto');
  const disk = await startSlowDisk('windows-close');
  try {
    const names = Array.from({ length: 60 }, (_, index) => path.join(disk.directory, `${index}`));
    for (const name of names) smallfry.writeFileSync(name, 'text');
    smallfry.rmSync(names[59]);
    smallfry.writeFileSync(names[59], 'new');
    assert.equal(fs.readFileSync(names[59], 'utf8'), 'new');
    assert.deepEqual(await drainCloses(), []);
  } finally {
    await disk.stop();
  }
});
