// Guards against: a write that was accepted and is lost when the process or a worker ends; a
// callback or promise that never settles, settles twice, or runs in the wrong context; slow files
// that hold up fast ones; results that share memory; and crashes when threads outlive what they
// work for.
//
// Why it was possible: calls made together share native jobs on threads of their own, outside of
// Node's thread pool. Everything that Node does for its own pool - waiting at exit, asynchronous
// contexts, draining microtasks between callbacks, going on after a callback throws - has to be
// done again, and goes wrong only under load or at the end.

/* global AbortController, AbortSignal, setImmediate, structuredClone */

import assert from 'node:assert';
import { AsyncLocalStorage, executionAsyncId } from 'node:async_hooks';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';

import { makeDirectory, needs, runScript, smallfry, testNeeding, testOnUnix, turn } from './support.mjs';

const directory = makeDirectory();
const at = (...names) => path.join(directory, ...names);
let directories = 0;
const fresh = () => {
  const made = at(`d${directories++}`);
  fs.mkdirSync(made);
  return made;
};

const CONTENT = 'all of this must be in the file, \u20ac '.repeat(300);

/** Source of a script: 200 writes of each form into its directory, nothing awaited. */
const WRITES = `
const CONTENT = 'all of this must be in the file, \\u20ac '.repeat(300);
function writes(target) {
  for (let i = 0; i < 200; i += 1) {
    if (i % 4 === 0) smallfry.writeFile(path.join(target, 'c' + i), CONTENT, () => {});
    if (i % 4 === 1) smallfry.promises.writeFile(path.join(target, 'p' + i), CONTENT);
    if (i % 4 === 2) smallfry.appendFile(path.join(target, 'a' + i), CONTENT, () => {});
    if (i % 4 === 3) smallfry.promises.writeFile(path.join(target, 'b' + i), Buffer.from(CONTENT));
  }
}
`;

function expectWhole(target, what) {
  const names = fs.readdirSync(target);
  assert.strictEqual(names.length, 200, `${what}: number of files`);
  for (const name of names) {
    assert.ok(fs.readFileSync(path.join(target, name), 'utf8') === CONTENT, `${what}: ${name} is not whole`);
  }
}

const ENDS = {
  'process.exit()': { end: 'process.exit(0);', code: 0 },
  'process.exit() with a code, in exit handlers too': { end: "process.on('exit', () => process.exit(7)); process.exit(3);", code: 7 },
  'process.exit() in the next tick': { end: 'process.nextTick(() => process.exit(0));', code: 0 },
  'process.exit() in the first callback': { end: `smallfry.readFile(__filename, () => process.exit(0));`, code: 0 },
  'natural end': { end: '', code: 0 },
  'process.reallyExit()': { end: 'process.reallyExit(0);', code: 0 },
  'uncaught exception': { end: "throw new Error('on purpose');", code: 1 },
  'unhandled rejection': { end: "Promise.reject(new Error('on purpose'));", code: 1 },
  'uncaught exception in a callback': { end: "smallfry.readFile(__filename, () => { throw new Error('on purpose'); });", code: 1 },
  'writes made in an exit handler': { end: '', code: 0, inExit: true },
};

for (const [name, { end, code, inExit }] of Object.entries(ENDS)) {
  const check = name === 'process.reallyExit()' ? testOnUnix.bind(undefined, 'hook at the very end of a process') : test;
  check(`200 writes, then ${name}: all files whole`, async () => {
    const target = fresh();
    const start = `writes(${JSON.stringify(target)});`;
    const source = inExit ? `process.on('exit', () => { ${start} });` : start + end;
    const result = await runScript(directory, WRITES + source);
    assert.strictEqual(result.signal, null, result.stderr);
    assert.strictEqual(result.code, code, result.stderr);
    expectWhole(target, name);
  });
}

test('process.exit() completes one write of 60 MB', async () => {
  const name = at('large');
  const { code } = await runScript(directory, `smallfry.writeFile(${JSON.stringify(name)}, 'x'.repeat(60e6), () => {}); process.exit(0);`);
  assert.strictEqual(code, 0);
  assert.strictEqual(fs.statSync(name).size, 60e6);
  fs.rmSync(name);
});

const WORKER_ENDS = {
  'terminate() at once': "post('done'); setTimeout(() => {}, 1e6);",
  'process.exit() in the worker': 'process.exit(0);',
  'natural end of the worker': '',
  'exception in the worker': "throw new Error('on purpose');",
};

for (const [name, end] of Object.entries(WORKER_ENDS)) {
  test(`200 writes of a worker are completed after ${name}`, async () => {
    const target = fresh();
    const result = await runScript(directory, `${WRITES}
      const { Worker, isMainThread, parentPort } = require('node:worker_threads');
      const post = (message) => parentPort.postMessage(message);
      if (isMainThread) {
        const worker = new Worker(__filename);
        worker.on('message', () => worker.terminate());
        worker.on('error', () => {});
      } else {
        writes(${JSON.stringify(target)});
        ${end}
      }`);
    assert.strictEqual(result.signal, null, result.stderr);
    assert.strictEqual(result.code, 0, result.stderr);
    expectWhole(target, name);
  });
}

test('process.exit() completes writes of the main thread and of a worker', async () => {
  const [one, two] = [fresh(), fresh()];
  const result = await runScript(directory, `${WRITES}
    const { Worker, isMainThread, parentPort } = require('node:worker_threads');
    if (isMainThread) {
      new Worker(__filename).on('message', () => { writes(${JSON.stringify(one)}); process.exit(0); });
    } else {
      writes(${JSON.stringify(two)});
      parentPort.postMessage('done');
    }`);
  assert.strictEqual(result.code, 0, result.stderr);
  expectWhole(one, 'main thread');
  expectWhole(two, 'worker');
});

testOnUnix('appending in one write', 'with UV_THREADPOOL_SIZE=1 calls have their effects and results in order', async () => {
  const { stdout, stderr } = await runScript(directory, `
    const { readFile, appendFile, writeFile } = smallfry;
    const lengthOf = (i) => (i * 7919) % 60_000;
    const log = path.join(directory, 'log');
    const inOrder = (i) => path.join(directory, 'in-order-' + i);
    for (let i = 0; i < 200; i += 1) fs.writeFileSync(inOrder(i), 'x'.repeat(lengthOf(i)));
    const results = [];
    const calls = [];
    const call = (form, ...args) => calls.push(new Promise((resolve) => {
      const number = calls.length;
      form(...args, (error) => resolve(results.push(error ?? number)));
    }));
    for (let i = 0; i < 200; i += 1) {
      call(readFile, inOrder(i));
      call(appendFile, log, i + 'y'.repeat(lengthOf(i)) + ' ');
      call(writeFile, inOrder('written-' + i), 'z'.repeat(lengthOf(i)));
    }
    Promise.all(calls).then(() => {
      const additions = fs.readFileSync(log, 'utf8').trim().split(' ').map((one) => Number.parseInt(one, 10));
      console.log(JSON.stringify({ additions, results }));
    });`, { env: { UV_THREADPOOL_SIZE: '1' } });
  const { additions, results } = JSON.parse(stdout || assert.fail(stderr));
  assert.deepStrictEqual(additions, Array.from({ length: 200 }, (_, i) => i));
  assert.deepStrictEqual(results, Array.from({ length: 600 }, (_, i) => i));
});

for (const [where, env] of Object.entries({ '': {}, ' with UV_THREADPOOL_SIZE=1': { UV_THREADPOOL_SIZE: '1' } })) {
  testNeeding(needs.mkfifo, `a result does not wait for a call that comes after it and takes long${where}`, async () => {
    const pipe = path.join(fresh(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const { stdout, stderr } = await runScript(directory, `
      const pipe = ${JSON.stringify(pipe)};
      smallfry.readFile(__filename, () => fs.writeFileSync(pipe, 'through the pipe'));
      smallfry.readFile(pipe, 'utf8', (error, text) => console.log(error ?? text));`, { env });
    assert.strictEqual(stdout, 'through the pipe\n', stderr);
  });
}

testNeeding(needs.proc, '50 workers that end with calls in flight leave no threads', async () => {
  const target = fresh();
  const result = await runScript(directory, `${WRITES}
    const { Worker, isMainThread, parentPort } = require('node:worker_threads');
    // Threads for a burst end after a tenth of a second without work, and later on a busy machine.
    const threads = async (enough) => {
      for (let wait = 0; ; wait += 500) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        const count = fs.readdirSync('/proc/self/task').length;
        if (count <= enough || wait >= 10_000) return count;
      }
    };
    async function main() {
      smallfry.writeFileSync(path.join(directory, 'churn'), 'x'.repeat(5000));
      let first;
      for (let round = 0; round < 10; round += 1) {
        await Promise.all(Array.from({ length: 5 }, (_, i) => new Promise((resolve, reject) => {
          const worker = new Worker(__filename, { workerData: i });
          worker.on('message', () => worker.terminate());
          worker.on('error', reject);
          worker.on('exit', resolve);
        })));
        for (let i = 0; i < 20; i += 1) await smallfry.promises.readFile(__filename);
        if (round === 1) first = await threads(Infinity);
      }
      console.log(JSON.stringify({ first, last: await threads(first + 4) }));
    }
    if (isMainThread) main();
    else {
      for (let i = 0; i < 100; i += 1) {
        smallfry.promises.readFile(path.join(directory, 'churn'), i % 2 ? 'utf8' : null);
        smallfry.readFile(path.join(directory, 'none'), () => {});
        smallfry.promises.writeFile(path.join(${JSON.stringify(target)}, 'w' + i % 7), CONTENT);
      }
      setImmediate(() => parentPort.postMessage('go'));
      setTimeout(() => {}, 1e6);
    }`);
  assert.strictEqual(result.signal, null, result.stderr);
  assert.strictEqual(result.code, 0, result.stderr);
  const { first, last } = JSON.parse(result.stdout);
  assert.ok(last <= first + 4, `${first} threads after 10 workers, ${last} after 50`);
});

const sanitized = process.env.LD_PRELOAD?.includes('/libclang_rt.') && 'a sanitizer keeps freed memory';
testNeeding(needs.proc, 'a worker that ends leaves no memory', { skip: sanitized }, async () => {
  const { stdout, stderr } = await runScript(directory, `
    const { Worker, isMainThread } = require('node:worker_threads');
    const end = () => new Promise((resolve) => new Worker(__filename).on('exit', resolve));
    async function main() {
      const resident = async (workers) => {
        for (let i = 0; i < workers; i += 1) await end();
        return process.memoryUsage.rss();
      };
      const before = await resident(10);
      console.log(((await resident(40)) - before) / 2 ** 20);
    }
    if (isMainThread) main();
    // The longest text whose UTF-8 form is kept, of 4 MiB.
    else smallfry.writeFileSync(path.join(directory, 'text'), '\u20ac'.repeat(1_390_000));`);
  assert.ok(Number(stdout) < 80, `${stdout} MiB more after 40 workers${stderr}`);
});

testNeeding(needs.proc, 'thousands of calls use few threads', async () => {
  const { stdout } = await runScript(directory, `
    const threads = () => fs.readdirSync('/proc/self/task').length;
    const before = threads();
    let most = before;
    const all = [];
    for (let i = 0; i < 5000; i += 1) all.push(smallfry.promises.readFile(__filename).then(() => { most = Math.max(most, threads()); }));
    Promise.all(all).then(() => console.log(most - before));`);
  assert.ok(Number(stdout) <= 8, `${stdout} more threads`);
});

test('a callback that throws makes one uncaughtException, and other callbacks still run', async () => {
  const { stdout, stderr, code } = await runScript(directory, `
    let caught = 0, ran = 0;
    process.on('uncaughtException', (error, origin) => { caught += 1; console.log(error.message, origin); });
    for (let i = 0; i < 100; i += 1) {
      smallfry.readFile(__filename, () => { ran += 1; if (i === 50) throw new Error('on purpose'); });
      smallfry.writeFile(path.join(directory, 'thrown' + i % 3), 'x', () => { ran += 1; });
    }
    process.on('exit', () => console.log(caught, ran));`);
  assert.strictEqual(stdout, 'on purpose uncaughtException\n1 200\n', stderr);
  assert.strictEqual(code, 0);
});

test('each callback that throws makes an uncaughtException', async () => {
  const { stdout, stderr } = await runScript(directory, `
    let caught = 0;
    process.on('uncaughtException', () => { caught += 1; });
    for (let i = 0; i < 50; i += 1) {
      smallfry.readFile(i % 2 ? __filename : directory + '/none', () => { throw new Error('on purpose'); });
      smallfry.appendFile(path.join(directory, 'thrown'), 'x', () => { throw undefined; });
    }
    process.on('exit', () => console.log(caught));`);
  assert.strictEqual(stdout, '100\n', stderr);
});

test('a callback that throws without a handler ends the process as with node:fs', async () => {
  const ends = [];
  for (const side of ['fs', 'smallfry']) {
    const { code, stderr } = await runScript(directory, `${side}.readFile(__filename, () => { throw new TypeError('on purpose'); }); setTimeout(() => console.log('still here'), 1e6);`);
    ends.push(code, /TypeError: on purpose/.test(stderr));
  }
  assert.deepStrictEqual(ends, [1, true, 1, true]);
});

test('microtasks and nextTicks drain between callbacks', async () => {
  const log = [];
  const name = at('drain');
  fs.writeFileSync(name, 'x');
  await new Promise((resolve) => {
    let open = 40;
    for (let index = 0; index < 40; index += 1) {
      smallfry.readFile(name, () => {
        log.push('callback');
        process.nextTick(() => log.push('tick'));
        Promise.resolve().then(() => log.push('microtask'));
        open -= 1;
        if (open === 0) setImmediate(resolve);
      });
    }
  });
  const expected = [];
  for (let index = 0; index < 40; index += 1) expected.push('callback', 'tick', 'microtask');
  assert.deepStrictEqual(log, expected);
});

test('callbacks never run before the call has returned', async () => {
  const name = at('order');
  fs.writeFileSync(name, 'x');
  for (const [target, options] of [[name, null], [at('none'), 'utf8'], [directory, null], [987_654, null]]) {
    await new Promise((resolve) => {
      let returned = false;
      smallfry.readFile(target, options, () => {
        assert.ok(returned);
        resolve();
      });
      returned = true;
    });
  }
});

test('AsyncLocalStorage keeps its value in callbacks and after awaits', async () => {
  const storage = new AsyncLocalStorage();
  const name = at('storage');
  fs.writeFileSync(name, 'x');
  const seen = [];
  const calls = [];
  for (let index = 0; index < 60; index += 1) {
    storage.run(index, () => {
      const target = index % 3 === 0 ? at('none') : name;
      calls.push(new Promise((resolve) => smallfry.readFile(target, () => resolve(seen.push([index, storage.getStore()])))));
      calls.push(new Promise((resolve) => smallfry.writeFile(at('storage-w'), 'x', () => resolve(seen.push([index, storage.getStore()])))));
      calls.push((async () => {
        await smallfry.promises.readFile(target).catch(() => {});
        seen.push([index, storage.getStore()]);
        await smallfry.promises.appendFile(at('storage-a'), 'x');
        seen.push([index, storage.getStore()]);
      })());
      calls.push(smallfry.promises.readFile(target).then(
        () => seen.push([index, storage.getStore()]),
        () => seen.push([index, storage.getStore()]),
      ));
    });
  }
  await Promise.all(calls);
  assert.strictEqual(seen.length, 300);
  for (const [expected, got] of seen) assert.strictEqual(got, expected);
});

test('callbacks run in an asynchronous context of their own', async () => {
  const ids = await Promise.all(
    Array.from({ length: 5 }, () => new Promise((resolve) => smallfry.readFile(at('storage'), () => resolve(executionAsyncId())))),
  );
  for (const id of ids) assert.ok(id > 0);
  assert.strictEqual(new Set(ids).size, ids.length);
});

test('a read in the tick of a write gives the old contents or the new', async () => {
  const name = at('same');
  for (let round = 0; round < 100; round += 1) {
    fs.writeFileSync(name, 'old');
    const [written, read] = await Promise.allSettled([
      smallfry.promises.writeFile(name, 'new'), smallfry.promises.readFile(name, 'utf8'),
    ]);
    assert.strictEqual(written.status, 'fulfilled');
    assert.strictEqual(read.status, 'fulfilled');
    assert.ok(['old', 'new', ''].includes(read.value), read.value);
    assert.strictEqual(fs.readFileSync(name, 'utf8'), 'new');
  }
});

test('an awaited write is seen by every reader', async () => {
  const name = at('awaited');
  for (let round = 0; round < 100; round += 1) {
    await smallfry.promises.writeFile(name, `round ${round}`);
    assert.strictEqual(fs.readFileSync(name, 'utf8'), `round ${round}`);
    assert.strictEqual(await smallfry.promises.readFile(name, 'utf8'), `round ${round}`);
  }
});

test('one huge file does not delay small ones', async () => {
  const { stdout, stderr } = await runScript(directory, `
    const huge = path.join(directory, 'huge');
    fs.writeFileSync(huge, ''); fs.truncateSync(huge, 60 << 20);
    let small = 0;
    const left = [smallfry.promises.readFile(huge).then((data) => { console.log('huge', data.length, small); })];
    for (let i = 0; i < 100; i += 1) left.push(smallfry.promises.readFile(__filename).then(() => { small += 1; }));
    Promise.all(left).then(() => console.log('all'));`);
  assert.match(stdout, /^huge 62914560 \d+\nall\n$/, stderr);
  const small = Number(stdout.split(/\s/)[2]);
  assert.ok(small >= 90, `only ${small} of 100 small files before the huge one`);
  fs.rmSync(at('huge'));
});

// Node's own pool has four threads: three that are blocked leave it one. A test that hangs here is
// ended after a while, and its FIFOs are opened for it in any case.
const ORDERS = {
  'then small files in the same tick': (blocked, small) => [...blocked, ...small],
  'among small files': (blocked, small) => [...small.slice(0, 30), blocked[0], ...small.slice(30, 60), blocked[1], blocked[2], ...small.slice(60)],
  'one among each half of the small files': (blocked, small) => [blocked[0], ...small.slice(0, 50), blocked[1], ...small.slice(50), blocked[2]],
};

async function goesOn(t, order, read) {
  const target = fresh();
  const small = path.join(target, 'small');
  fs.writeFileSync(small, 'small');
  const fifos = [0, 1, 2].map((index) => path.join(target, `fifo-${index}`));
  execFileSync('mkfifo', fifos);
  let released = false;
  const release = () => {
    if (released) return;
    released = true;
    for (const name of fifos) spawn('sh', ['-c', 'printf x > "$1"', 'sh', name], { stdio: 'ignore' });
  };
  t.after(release);
  const waiting = [];
  const quick = [];
  const blocked = fifos.map((name) => () => waiting.push(read(name)));
  for (const call of order(blocked, Array.from({ length: 100 }, () => () => quick.push(read(small))))) call();
  assert.ok((await Promise.all(quick)).every((text) => text === 'small'));
  for (let round = 0; round < 3; round += 1) {
    await smallfry.promises.writeFile(path.join(target, 'written'), 'written');
    assert.strictEqual(await read(small), 'small');
  }
  release();
  assert.deepStrictEqual(await Promise.all(waiting), ['x', 'x', 'x']);
}

for (const [name, order] of Object.entries(ORDERS)) {
  testNeeding(needs.mkfifo, `small files go on beside three FIFOs without a writer, ${name}`, { timeout: 10_000 }, async (t) => {
    await goesOn(t, order, (file) => smallfry.promises.readFile(file, 'utf8'));
  });
}

testNeeding(needs.mkfifo, 'small files go on beside three FIFOs without a writer, by callbacks', { timeout: 10_000 }, async (t) => {
  const read = (file) => new Promise((resolve, reject) => smallfry.readFile(file, 'utf8', (error, text) => (error ? reject(error) : resolve(text))));
  await goesOn(t, ORDERS['among small files'], read);
});

testNeeding(needs.mkfifo, 'a blocked FIFO does not keep process.exit() from ending', async () => {
  const name = at('blocked-at-exit');
  execFileSync('mkfifo', [name]);
  const { code } = await runScript(directory, `smallfry.readFile(${JSON.stringify(name)}, () => {}); setTimeout(() => process.exit(5), 50);`);
  assert.strictEqual(code, 5);
});

test('10,000 reads in flight give each file its result, also missing files', async () => {
  const target = fresh();
  for (let index = 0; index < 100; index += 1) fs.writeFileSync(path.join(target, `f${index}`), `content ${index} `.repeat(index * 5));
  const calls = [];
  for (let index = 0; index < 10_000; index += 1) {
    const name = index % 7 === 0 ? path.join(target, `none${index}`) : path.join(target, `f${index % 100}`);
    calls.push(smallfry.promises.readFile(name, index % 2 ? 'utf8' : null));
  }
  const results = await Promise.allSettled(calls);
  results.forEach(({ status, value, reason }, index) => {
    if (index % 7 === 0) {
      assert.strictEqual(status, 'rejected');
      assert.strictEqual(reason.code, 'ENOENT');
      assert.strictEqual(reason.path, path.join(target, `none${index}`));
    } else {
      const number = index % 100;
      assert.strictEqual(String(value), `content ${number} `.repeat(number * 5));
      assert.strictEqual(typeof value, index % 2 ? 'string' : 'object');
    }
  });
});

test('each of 10,000 callbacks is called once', async () => {
  const counts = new Uint8Array(10_000);
  await new Promise((resolve) => {
    let open = counts.length;
    for (let index = 0; index < counts.length; index += 1) {
      const done = () => {
        counts[index] += 1;
        open -= 1;
        if (open === 0) resolve();
      };
      if (index % 3 === 0) smallfry.readFile(at('small-many'), done);
      else smallfry.writeFile(at(`many${index % 50}`), 'x', done);
    }
  });
  await turn();
  assert.ok(counts.every((count) => count === 1));
});

test('an unawaited call that fails makes one unhandledRejection, and none if it is handled later', async () => {
  const { stdout, stderr } = await runScript(directory, `
    let count = 0;
    process.on('unhandledRejection', (error) => { count += 1; console.log(error.code, error.path.endsWith('none')); });
    smallfry.promises.readFile(directory + '/none');
    smallfry.promises.readFile(directory + '/none').catch(() => {});
    smallfry.promises.writeFile(directory + '/none/none', 'x').catch(() => {});
    process.on('exit', () => console.log(count));`);
  assert.strictEqual(stdout, 'ENOENT true\n1\n', stderr);
});

test('promises are plain promises, a new one per call', () => {
  const calls = [smallfry.promises.readFile(at('small-many')), smallfry.promises.readFile(at('small-many'))];
  assert.notStrictEqual(calls[0], calls[1]);
  for (const call of calls) {
    assert.strictEqual(Object.getPrototypeOf(call), Promise.prototype);
    call.catch(() => {});
  }
});

test('each error is an Error with a stack of its own', async () => {
  const errors = [];
  for (const side of [smallfry, fs]) {
    const call = (run) => run().then(() => assert.fail('no error'), (error) => error);
    const rejected = await call(() => side.promises.readFile(at('none')));
    const again = await call(() => side.promises.readFile(at('none')));
    const called = await new Promise((resolve) => side.readFile(at('none'), resolve));
    let thrown;
    try {
      side.readFileSync(at('none'));
    } catch (error) {
      thrown = error;
    }
    assert.notStrictEqual(rejected, again);
    for (const error of [rejected, called, thrown]) {
      assert.ok(error instanceof Error);
      assert.strictEqual(typeof error.stack, 'string');
      assert.ok(error.stack.startsWith(`Error: ENOENT: no such file or directory, open '${at('none')}'`));
    }
    assert.match(thrown.stack, /async\.test\.mjs/);
    errors.push(rejected.stack.includes('\n    at '), called.stack.includes('\n    at '));
  }
  assert.match(smallfryStack(), /smallfryStack/);
});

test('the stack of a rejected promise names the async functions that wait for it', async () => {
  const calls = {
    readFile: (side) => side.promises.readFile(at('none')),
    writeFile: (side) => side.promises.writeFile(at('none', 'x'), 'text'),
    'writeFile, flushed': (side) => side.promises.writeFile(at('none', 'x'), 'text', { flush: true }),
    appendFile: (side) => side.promises.appendFile(at('none', 'x'), 'text'),
    stat: (side) => side.promises.stat(at('none')),
    'mkdir, one': (side) => side.promises.mkdir(at('none', 'x')),
    'readFile of a directory': (side) => side.promises.readFile(directory),
    'readFile, aborted': async function aborted(side) {
      const { signal } = AbortSignal.abort();
      await side.promises.readFile(at('none'), { signal });
    },
  };
  for (const [name, call] of Object.entries(calls)) {
    const stacks = [];
    for (const side of [fs, smallfry]) {
      const inner = async function inner() { await call(side); };
      const outer = async function outer() { await Promise.all([inner()]); };
      const { stack } = await outer().catch((error) => error);
      // The lines of Node's own functions are left out.
      stacks.push(stack.split('\n').slice(1).filter((line) => !line.includes('(node:')));
    }
    // Node 26 itself gives no stack for some functions.
    if (stacks[0].length === 0) continue;
    assert.match(stacks[1].join(), /at async inner .*at async Promise.all .*at async outer /, name);
    assert.deepStrictEqual(stacks[1], stacks[0], name);
  }
});

test('native code reads files with a signal that is not aborted', async () => {
  const { stdout } = await runScript(directory, `
    const types = [];
    require('node:async_hooks').createHook({ init: (_id, type) => { types.push(type); } }).enable();
    const { signal } = new AbortController();
    types.length = 0;
    smallfry.readFile(__filename, { signal, encoding: 'utf8' }, (error, text) => console.log(types.includes('SMALLFRY'), typeof text));`);
  assert.strictEqual(stdout, 'true string\n');
});

function smallfryStack() {
  try {
    smallfry.readFileSync(at('none'), 'utf8');
  } catch (error) {
    return error.stack;
  }
  return '';
}

test('a signal aborts before, during and after a call as with node:fs', async () => {
  const name = at('signal');
  const outcomes = [];
  for (const side of [fs, smallfry]) {
    const seen = [];
    const note = (call) => call.then((value) => seen.push(['resolved', String(value)]), (error) => seen.push([error.name, error.message, error.code, String(error.cause)]));
    fs.writeFileSync(name, 'x'.repeat(2_000_000));
    for (const reason of [undefined, new Error('why'), 'text']) {
      await note(side.promises.readFile(name, { signal: AbortSignal.abort(reason) }));
      await note(side.promises.writeFile(at('signal-w'), 'x', { signal: AbortSignal.abort(reason) }));
      await note(new Promise((resolve, reject) => side.readFile(name, { signal: AbortSignal.abort(reason) }, (error) => (error ? reject(error) : resolve()))));
    }
    const during = new AbortController();
    const reading = side.promises.readFile(name, { signal: during.signal });
    during.abort();
    await note(reading);
    const late = new AbortController();
    await side.promises.writeFile(at('signal-w'), 'y', { signal: late.signal });
    late.abort();
    seen.push(fs.readFileSync(at('signal-w'), 'utf8'));
    outcomes.push(seen);
  }
  assert.deepStrictEqual(outcomes[1], outcomes[0]);
});

test('promises.writeFile takes iterables and streams', async () => {
  async function* later() {
    yield 'one ';
    await turn();
    yield Buffer.from('two ');
    yield new Uint8Array([0x33]);
  }
  const sources = [
    () => ['one ', 'two ', '3'], () => new Set(['one ', 'two ', '3']), later, () => Readable.from(['one ', 'two ', '3']),
  ];
  for (const make of sources) {
    await smallfry.promises.writeFile(at('iterable'), make());
    assert.strictEqual(fs.readFileSync(at('iterable'), 'utf8'), 'one two 3');
  }
  await assert.rejects(smallfry.promises.writeFile(at('iterable'), [1, 2]), { code: 'ERR_INVALID_ARG_TYPE' });
  async function* fails() {
    yield 'x';
    throw new Error('on purpose');
  }
  await assert.rejects(smallfry.promises.writeFile(at('iterable'), fails()), { message: 'on purpose' });
});

test('data may change after the call: each byte written is old or new', async () => {
  for (let round = 0; round < 50; round += 1) {
    const data = Buffer.alloc(200_000, 'a');
    const writing = smallfry.promises.writeFile(at('changed'), data);
    data.fill('b');
    await writing;
    assert.match(fs.readFileSync(at('changed'), 'latin1'), /^[ab]{200000}$/);
  }
});

test('the memory of data may be transferred or resized after the call', async () => {
  for (const size of [100, 5000, 200_000, 20 << 20]) {
    for (const form of ['promise', 'callback']) {
      const data = new Uint8Array(size).fill(97);
      const settled = form === 'promise'
        ? smallfry.promises.writeFile(at('moved'), data).catch((error) => error)
        : new Promise((resolve) => smallfry.writeFile(at('moved'), data, resolve));
      const moved = structuredClone(data.buffer, { transfer: [data.buffer] });
      new Uint8Array(moved).fill(98);
      await settled;
      assert.ok(fs.statSync(at('moved')).size <= size);
    }
    const shrinking = new ArrayBuffer(size, { maxByteLength: size * 2 });
    const writing = smallfry.promises.writeFile(at('moved'), new Uint8Array(shrinking)).catch((error) => error);
    shrinking.resize(0);
    await writing;
  }
});

test('options and paths may change after the call', async () => {
  const options = { encoding: 'utf8', flag: 'a', mode: 0o600 };
  const bytes = Buffer.from(at('changed-path'));
  fs.rmSync(at('changed-path'), { force: true });
  const writing = smallfry.promises.writeFile(bytes, '\u00e9', options);
  options.encoding = 'latin1';
  options.flag = 'wx';
  bytes.fill('z');
  await writing;
  assert.strictEqual(fs.readFileSync(at('changed-path'), 'utf8'), '\u00e9');
});

test('kept results stay right and unshared while thousands of others are collected', async () => {
  const { stdout, stderr, code } = await runScript(directory, `
    const assert = require('node:assert');
    const sizes = [1, 60, 100, 4000, 4095, 4096, 4097, 5000, 10000, 65536, 300000, 600000];
    for (const size of sizes) {
      fs.writeFileSync(path.join(directory, 'gc' + size), Buffer.alloc(size, 'content of ' + size + ' '));
      fs.writeFileSync(path.join(directory, 'gcw' + size), Buffer.alloc(size, 'caf\\u00e9 \\u20ac ' + size + ' '));
    }
    async function main() {
      const kept = [];
      for (let round = 0; round < 40; round += 1) {
        const names = [];
        for (const size of sizes) for (let i = 0; i < (size > 50000 ? 2 : 12); i += 1) names.push([size, 'gc' + size], [size, 'gcw' + size]);
        const buffers = await Promise.all(names.map(([, name]) => smallfry.promises.readFile(path.join(directory, name))));
        const texts = await Promise.all(names.map(([, name]) => smallfry.promises.readFile(path.join(directory, name), 'utf8')));
        const index = round * 7 % names.length;
        kept.push({ name: names[index][1], buffer: buffers[index], text: texts[index] });
        // Writes into one must not show in another.
        buffers.forEach((buffer, at) => { if (at !== index) new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).fill(round); });
        for (const buffer of buffers) assert.ok(buffer.buffer.byteLength === buffer.byteLength || buffer.buffer.byteLength <= Buffer.poolSize + 64);
        if (round % 4 === 0) { gc(); await new Promise(setImmediate); }
      }
      gc();
      await new Promise(setImmediate);
      gc();
      for (const { name, buffer, text } of kept) {
        const expected = fs.readFileSync(path.join(directory, name));
        assert.ok(buffer.equals(expected), name);
        assert.ok(text === expected.toString(), name);
      }
      console.log(kept.length);
    }
    main();`, { flags: ['--expose-gc'] });
  assert.strictEqual(stdout, '40\n', stderr);
  assert.strictEqual(code, 0);
});

test('a returned Buffer can be transferred to another thread where that of node:fs can', async () => {
  const outcomes = [];
  for (const side of [fs, smallfry]) {
    const seen = [];
    for (const size of [5000, 100_000, 700_000]) {
      fs.writeFileSync(at('transfer'), Buffer.alloc(size, 'transfer '));
      const made = {
        promise: await side.promises.readFile(at('transfer')),
        callback: await new Promise((resolve) => side.readFile(at('transfer'), (_, value) => resolve(value))),
        sync: side.readFileSync(at('transfer')),
      };
      for (const [form, buffer] of Object.entries(made)) {
        // A Buffer from Node's pool cannot be transferred.
        if (buffer.buffer.byteLength !== size) continue;
        try {
          const moved = structuredClone(buffer.buffer, { transfer: [buffer.buffer] });
          seen.push([form, size, Buffer.from(moved).equals(fs.readFileSync(at('transfer'))), buffer.length]);
        } catch (error) {
          seen.push([form, size, error.message]);
        }
      }
    }
    outcomes.push(seen);
  }
  const theirs = new Map(outcomes[0].map(([form, size, ...rest]) => [`${form} ${size}`, rest]));
  for (const [form, size, ...rest] of outcomes[1]) {
    if (theirs.has(`${form} ${size}`)) assert.deepStrictEqual(rest, theirs.get(`${form} ${size}`), `${form}, ${size} bytes`);
  }
});

test('each of 20,000 callbacks may begin a new call', async () => {
  let left = 20_000;
  await new Promise((resolve, reject) => {
    const next = (error) => {
      if (error) reject(error);
      else if (left-- === 0) resolve();
      else smallfry.readFile(at('small'), next);
    };
    fs.writeFileSync(at('small'), 'small');
    next();
  });
});

test('pending calls keep the process alive, finished ones do not', async () => {
  const { stdout, code } = await runScript(directory, `
    smallfry.readFile(__filename, () => smallfry.promises.readFile(__filename).then(() => smallfry.writeFile(path.join(directory, 'alive'), 'x', () => console.log('end'))));`);
  assert.strictEqual(stdout, 'end\n');
  assert.strictEqual(code, 0);
});

test('beforeExit comes after the last result', async () => {
  const { stdout } = await runScript(directory, `
    process.once('beforeExit', () => console.log('beforeExit'));
    for (let i = 0; i < 50; i += 1) smallfry.readFile(__filename, () => i === 49 && console.log('result'));`);
  assert.match(stdout, /result\nbeforeExit\n$/);
});
