// What can be seen of the outcome of a call, so that two outcomes can be compared.

import assert from 'node:assert';
import fs from 'node:fs';

import { seed } from './support.mjs';

/** Makes a call of one form, `sync`, `callback` or `promise`, and tells how it ended. */
export const quiet = (fs, form, name, args) => {
  if (form === 'sync') {
    try {
      return { how: 'returned', value: fs[`${name}Sync`](...args) };
    } catch (error) {
      return { how: 'thrown', error };
    }
  }
  if (form === 'callback') {
    return new Promise((resolve) => {
      let returned = false;
      const callback = (...given) => {
        const [error, value] = given;
        resolve({ how: returned ? 'called back' : 'called back at once', count: given.length, error, value });
      };
      try {
        const value = fs[name](...args, callback);
        if (value !== undefined) resolve({ how: 'returned something', value });
      } catch (error) {
        resolve({ how: 'thrown', error });
      }
      returned = true;
    });
  }
  let promise;
  try {
    promise = fs.promises[name](...args);
  } catch (error) {
    return { how: 'thrown', error };
  }
  if (promise?.constructor !== Promise) return { how: 'returned something', value: promise };
  return promise.then(
    (value) => ({ how: 'resolved', value }),
    (error) => ({ how: 'rejected', error }),
  );
};

/** Describes an error; `dir` is shown as `<dir>`. */
export function describeError(error, dir) {
  if (!(error instanceof Error)) return { notAnError: String(error) };
  const clean = (value) =>
    typeof value === 'string' ? value.replaceAll(dir, '<dir>') : Buffer.isBuffer(value) ? `Buffer ${clean(value.toString('latin1'))}` : value;
  const keys = Object.keys(error);
  return {
    type: error.constructor.name,
    name: error.name,
    message: clean(error.message),
    text: clean(String(error)),
    keys: keys.join(),
    own: Object.getOwnPropertyNames(error).sort().join(),
    values: keys.map((key) => `${typeof error[key]} ${String(clean(error[key]))}`),
    firstLine: clean(String(error.stack).split('\n', 1)[0]),
    cause: error.cause === undefined ? undefined : String(error.cause),
  };
}

/** Describes all files of a directory. */
export function describeDirectory(dir) {
  const found = {};
  for (const name of fs.readdirSync(dir, { encoding: 'buffer' })) {
    const full = Buffer.concat([Buffer.from(`${dir}/`), name]);
    const status = fs.lstatSync(full);
    const entry = { mode: status.mode.toString(8), size: status.size };
    if (status.isFile()) entry.bytes = fs.readFileSync(full).toString('latin1');
    if (status.isSymbolicLink()) entry.target = fs.readlinkSync(full).replaceAll(dir, '<dir>');
    found[name.toString('latin1')] = entry;
  }
  return found;
}

export const same = (a, b) => {
  try {
    assert.deepStrictEqual(a, b);
    return true;
  } catch {
    return false;
  }
};

/** Describes where two outcomes differ. */
export function difference(ours, theirs) {
  const lines = [];
  const walk = (a, b, where) => {
    if (same(a, b)) return;
    if (a && b && typeof a === 'object' && typeof b === 'object') {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) walk(a[key], b[key], `${where}.${key}`);
    } else {
      const short = (value) => String(typeof value === 'object' ? JSON.stringify(value) : value).slice(0, 200);
      lines.push(`    ${where.slice(1)}: node ${short(b)} | smallfry ${short(a)}`);
    }
  };
  walk(ours, theirs, '');
  return lines.join('\n');
}

/** Fails with one example of each kind of difference. */
export function expectNone(mismatches, total) {
  const kinds = new Map();
  for (const mismatch of mismatches) {
    const kind = mismatch.slice(mismatch.indexOf('\n')).replace(/\d+/g, '#').slice(0, 300);
    const known = kinds.get(kind);
    if (known) known.count += 1;
    else kinds.set(kind, { mismatch, count: 1 });
  }
  const shown = [...kinds.values()].slice(0, 12).map(({ mismatch, count }) => (count > 1 ? `${mismatch}\n    (and ${count - 1} more like it)` : mismatch));
  assert.equal(mismatches.length, 0, `seed ${seed}: ${mismatches.length} of ${total} calls differ from node:fs\n${shown.join('\n')}`);
}

/** Describes an argument. */
export function show1(value) {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return value.constructor?.name ?? 'object';
  return String(value);
}
