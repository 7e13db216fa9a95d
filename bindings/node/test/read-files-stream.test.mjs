// Guards against: a stream that reads on when no results are taken, that keeps the process alive or
// descriptors open when its loop was left, or that gives files out of order or an error at another
// file's place.
//
// Why it was possible: threads read ahead of a loop that may stop, throw or be forgotten at any
// step, and what bounds them is what the loop says it has gone through.

/* global AbortController */

import assert from 'node:assert';
import { getEventListeners } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { bulk, makeDirectory, needs, openDescriptors, runScript, testNeeding, turn, withoutAddon } from './support.mjs';

const directory = makeDirectory();
const many = Array.from({ length: 3000 }, (_, index) => path.join(directory, `f${index}`));
for (const [index, name] of many.entries()) fs.writeFileSync(name, `${index} \u20ac`.repeat(index % 50));
const packages = { native: bulk, 'without addon': withoutAddon(directory) };

for (const [which, own] of Object.entries(packages)) {
  test(`${which}: files come in the order of paths, with their numbers`, async () => {
    for (const encoding of [null, 'utf8', 'hex']) {
      let count = 0;
      for await (const { path: name, index, contents } of own.readFilesStream(many, { encoding })) {
        assert.deepStrictEqual([index, name], [count, many[count]]);
        assert.deepStrictEqual(contents, fs.readFileSync(name, encoding));
        count += 1;
      }
      assert.strictEqual(count, many.length);
    }
    for await (const one of own.readFilesStream([])) assert.fail(one);
  });

  test(`${which}: a failure is thrown at its place; with settle it is an element`, async () => {
    const none = path.resolve('/none/at/all');
    const paths = many.flatMap((name, index) => (index === 100 ? [none, name] : [name]));
    let count = 0;
    await assert.rejects(async () => { for await (const one of own.readFilesStream(paths)) count = one.index + 1; }, { code: 'ENOENT', path: none });
    assert.strictEqual(count, 100);
    const outcomes = [];
    for await (const one of own.readFilesStream(paths, { settle: true, encoding: 'utf8' })) outcomes.push(one);
    assert.deepStrictEqual(Object.keys(outcomes[99]).sort(), ['index', 'path', 'status', 'value']);
    assert.deepStrictEqual([outcomes[100].status, outcomes[100].path, outcomes[100].reason.code], ['rejected', none, 'ENOENT']);
    assert.strictEqual(outcomes.length, many.length + 1);
  });

  test(`${which}: a wrong path and an exception of the iterable come after the files before them`, async () => {
    const error = new Error('on purpose');
    for (const [bad, check] of [[() => 7, { code: 'ERR_INVALID_ARG_TYPE' }], [() => { throw error; }, (thrown) => thrown === error]]) {
      let closed = 0;
      let count = 0;
      const paths = (function* () { try { yield* many.slice(0, 1500); yield bad(); } finally { closed += 1; } })();
      await assert.rejects(async () => { for await (const one of own.readFilesStream(paths)) count += one.index >= 0 ? 1 : 0; }, check);
      assert.deepStrictEqual([count, closed], [1500, 1]);
    }
  });

  test(`${which}: an endless iterable is taken from as needed, and closed when the loop is left`, async () => {
    let taken = 0;
    let returned = 0;
    const paths = { [Symbol.iterator]: () => ({ next: () => ({ done: false, value: many[taken++ % many.length] }), return: () => { returned += 1; return {}; } }) };
    for await (const { index } of own.readFilesStream(paths)) if (index === 5000) break;
    assert.ok(taken < 5000 + 3000, `${taken} taken`);
    assert.strictEqual(returned, 1);
    const whole = { [Symbol.iterator]: () => ({ left: 3, next() { return this.left-- > 0 ? { value: many[0] } : { done: true }; }, return: () => { returned += 1; return {}; } }) };
    for await (const one of own.readFilesStream(whole)) assert.ok(one);
    assert.strictEqual(returned, 1, 'not told at its own end');
    await assert.rejects(async () => { for await (const one of own.readFilesStream(paths)) throw new Error(`at ${one.index}`); }, /at 0/);
    assert.strictEqual(returned, 2);
  });

  test(`${which}: an exception of a closed iterable is thrown where the loop was left, and hides no other error`, async () => {
    const untidy = function* (last) { try { yield many[0]; yield many[1]; for (;;) yield last; } finally { throw new Error('untidy'); } }; // eslint-disable-line no-unsafe-finally
    await assert.rejects(async () => { for await (const one of own.readFilesStream(untidy(7))) assert.ok(one); }, { code: 'ERR_INVALID_ARG_TYPE' });
    await assert.rejects(async () => { for await (const one of own.readFilesStream(untidy('/none/at/all'))) assert.ok(one); }, { code: 'ENOENT' });
    await assert.rejects(async () => { for await (const one of own.readFilesStream(untidy(many[2]))) if (one.index === 5) break; }, /untidy/);
    const controller = new AbortController();
    const reason = new Error('on purpose');
    await assert.rejects(async () => {
      for await (const one of own.readFilesStream(untidy(many[2]), { signal: controller.signal })) if (one.index === 5) controller.abort(reason);
    }, (error) => error === reason);
  });

  test(`${which}: a signal ends the stream between files and while it waits`, async () => {
    const reason = new Error('on purpose');
    for (const when of [0, 1, 700]) {
      const controller = new AbortController();
      await assert.rejects(async () => {
        for await (const { index } of own.readFilesStream(many, { signal: controller.signal })) {
          assert.ok(index <= when);
          if (index === when) controller.abort(reason);
        }
      }, (error) => error === reason);
      assert.strictEqual(getEventListeners(controller.signal, 'abort').length, 0);
    }
    const waiting = new AbortController();
    const next = own.readFilesStream(many, { signal: waiting.signal }).next();
    waiting.abort(reason);
    await assert.rejects(next, (error) => error === reason);
  });

  test(`${which}: progress grows up to the total`, async () => {
    let last = { done: 0, total: 0, bytes: 0 };
    const onProgress = (progress) => {
      for (const key of ['done', 'total', 'bytes']) assert.ok(progress[key] >= last[key], key);
      last = progress;
    };
    let bytes = 0;
    for await (const { contents } of own.readFilesStream(many, { onProgress })) bytes += contents.length;
    assert.deepStrictEqual(last, { done: many.length, total: many.length, bytes });
  });
}

test('a stream reads ahead no further than maxInFlight allows', async () => {
  const large = Array.from({ length: 40 }, (_, index) => path.join(directory, `large${index}`));
  for (const name of large) fs.writeFileSync(name, Buffer.alloc(1 << 20, 'x'));
  let done = 0;
  const stream = bulk.readFilesStream(large, { maxInFlight: 4 << 20, threads: 4, onProgress: (progress) => ({ done } = progress) });
  for await (const { index } of stream) {
    for (let i = 0; i < 20; i += 1) await turn();
    // The files that the loop has, those of its last step, and those in flight.
    assert.ok(done <= index + 1 + 16 + 4 + 1, `${done} read at ${index}`);
  }
  assert.strictEqual(done, large.length);
});

for (const [what, body] of Object.entries({
  'left by break': 'for await (const one of stream) if (one.index === 3) break;',
  'left by a throw': 'try { for await (const one of stream) throw new Error(); } catch {}',
  'forgotten in the middle': 'await stream.next(); await stream.next();',
  'never begun': 'stream;',
  'returned before it began': 'await stream.return();',
})) {
  testNeeding(needs.proc, `after a stream was ${what}, the process ends by itself, and no descriptor stays open`, async () => {
    const { stdout, stderr, code } = await runScript(directory, `(async () => {
      const endless = function* () { for (;;) yield* ${JSON.stringify(many.slice(0, 50))}; };
      const open = () => fs.readdirSync('/proc/self/fd').length;
      for await (const one of bulk.readFilesStream(endless())) break;
      // Threads close what they have begun to read a moment later.
      await new Promise((resolve) => setTimeout(resolve, 200));
      const before = open();
      const stream = bulk.readFilesStream(endless(), { maxInFlight: 1000, threads: 4 });
      ${body}
      setTimeout(() => console.log(open() - before), 200);
    })();`);
    // A stream that may still be taken from has its next files open, one on each thread.
    assert.match(stdout, what === 'forgotten in the middle' ? /^[0-4]\n$/ : /^0\n$/, stderr);
    assert.strictEqual(code, 0, stderr);
  });
}

test('a hundred streams run side by side, half of them left early', async () => {
  const before = openDescriptors();
  const counts = await Promise.all(Array.from({ length: 100 }, async (_, stream) => {
    let count = 0;
    for await (const { contents } of bulk.readFilesStream(many.slice(0, 200), 'utf8')) {
      count += contents.length >= 0 ? 1 : 0;
      if (stream % 2 === 0 && count === 20) break;
    }
    return count;
  }));
  for (const [stream, count] of counts.entries()) assert.strictEqual(count, stream % 2 === 0 ? 20 : 200);
  await turn();
  if (before > 0) assert.ok(openDescriptors() <= before + 8);
});
