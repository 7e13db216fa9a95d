// Blocking calls for one file.

import fs = require('node:fs');

import { usesVirtualFiles } from './addon.js';
import { type DurabilityOptions, durableOf } from './durable/options.js';
import { writeDurablySync } from './durable/writes.js';
import { DELEGATE, failedToBegin, failedToFlush, failedToOpen, makeError } from './errors.js';
import { mayAppendSync, mayReadSync, mayWriteSync } from './heard.js';
import { longestString, native } from './native.js';
import { FLUSH_FILE } from './option-bits.js';
import { type WritePlan, isDescriptor, isUtf8, PLAIN_APPEND, PLAIN_WRITE, planRead, planWrite } from './options.js';
import { original } from '../original.js';
import { systemMode, systemPath } from './platform.js';

type Data = string | ArrayBufferView;

/** The function of node:fs, which also takes {@link DurabilityOptions}. */
export type WriteSync = typeof fs.writeFileSync & ((
  file: fs.PathOrFileDescriptor, data: string | NodeJS.ArrayBufferView, options: Extract<fs.WriteFileOptions, object> & DurabilityOptions,
) => void);

/**
 * Does `fs.writeFileSync` with one crossing into native code for strings and bytes. It takes
 * {@link DurabilityOptions}.
 *
 * `{flush: true}` flushes in every case. Node 20 to 26 do not flush a string with `encoding:
 * 'utf8'`.
 *
 * ```js
 * writeFileSync('settings.json', text, { durability: 'full', replace: true });
 * ```
 */
export const writeFileSync: WriteSync = function writeFileSync(
  path: unknown, data: unknown, options: fs.WriteFileOptions | undefined,
): void {
  const durable = durableOf(options);
  if (durable !== undefined) {
    writeDurablySync(path, data, options as object, {
      durable, flags: PLAIN_WRITE.flags, own: original.writeFileSync, caller: writeFileSync,
    });
  } else if (!write(path, data, options, PLAIN_WRITE, writeFileSync)) {
    original.writeFileSync(path as string, flushable(data, options), options);
  }
};

/** Does `fs.appendFileSync`, and takes the same options as {@link writeFileSync}. */
export const appendFileSync: WriteSync = function appendFileSync(
  path: unknown, data: unknown, options: fs.WriteFileOptions | undefined,
): void {
  const durable = durableOf(options);
  if (durable !== undefined) {
    writeDurablySync(path, data, options as object, {
      durable, flags: PLAIN_APPEND.flags, own: original.appendFileSync, caller: appendFileSync,
    });
  } else if (!write(path, data, options, PLAIN_APPEND, appendFileSync)) {
    original.appendFileSync(path as string, flushable(data, options), options);
  }
};

/** Converts a string in UTF-8 to bytes, since node:fs does not flush such strings. */
function flushable(data: unknown, options: unknown): string {
  if (typeof data !== 'string' || typeof options !== 'object' || options === null) return data as string;
  const { encoding, flush } = options as Record<string, unknown>;
  return (flush === true && isUtf8(encoding) ? Buffer.from(data) : data) as string;
}

/** Does the call natively. Returns false if node:fs has to do it. */
function write(
  path: unknown,
  data: unknown,
  options: unknown,
  defaults: Readonly<WritePlan>,
  caller: (...args: never[]) => unknown,
): boolean {
  if (native === undefined || !(typeof path === 'string' || isDescriptor(path)) || usesVirtualFiles()) return false;
  const plan = planWrite(options, defaults);
  if (plan === undefined) return false;
  const isUtf8String = typeof data === 'string' && isUtf8(plan.encoding);
  const may = defaults === PLAIN_APPEND ? mayAppendSync : mayWriteSync;
  if (!may(isUtf8String, plan.flush)) return false;
  let bytes: Data;
  if (typeof data === 'string') {
    const { encoding } = plan;
    bytes = encoding && !isUtf8(encoding) ? Buffer.from(data, encoding) : data;
  } else if (ArrayBuffer.isView(data)) {
    bytes = data;
  } else {
    return false;
  }
  if (typeof bytes === 'string' && bytes.length > longestString) {
    writeOpened(path, bytes, plan, caller);
    return true;
  }
  const target = typeof path === 'string' ? systemPath(path) : path;
  const mode = systemMode(plan.mode);
  let code: number | undefined;
  if (plan.flush) {
    code = native.writeDurablySync(target, bytes, plan.flags, mode, FLUSH_FILE) as number | undefined;
  } else if (typeof target === 'number') {
    code = native.writeOpenSync(target, bytes);
  } else {
    code = native.writeSync(target, bytes, plan.flags, mode);
  }
  if (code === undefined) return true;
  if (code === DELEGATE) return false;
  throw writeError(code, path, data, plan, caller);
}

function writeError(
  code: number,
  path: string | number,
  data: unknown,
  plan: Readonly<WritePlan>,
  caller: (...args: never[]) => unknown,
): Error {
  // Node writes a string in C++ only if the encoding is given. Its JavaScript has the keys of
  // errors in another order.
  const inNative = typeof data === 'string' && isUtf8(plan.encoding);
  return failedToOpen(code)
    ? makeError(code, path as string, caller)
    : makeError(code, undefined, caller, !inNative && !failedToFlush(code));
}

/** Writes a long string in pieces, on a descriptor that JavaScript opens. */
function writeOpened(
  path: string | number,
  data: Data,
  plan: Readonly<WritePlan>,
  caller: (...args: never[]) => unknown,
): void {
  const owned = typeof path === 'string';
  const fd = owned ? fs.openSync(path, plan.flags, plan.mode) : path;
  try {
    for (const piece of pieces(data)) {
      const code = native?.writeOpenSync(fd, piece);
      if (code === DELEGATE) original.writeFileSync(fd, piece as string, 'utf8');
      else if (code !== undefined) throw writeError(code, fd, data, plan, caller);
    }
    if (plan.flush) fs.fsyncSync(fd);
  } finally {
    if (owned) fs.closeSync(fd);
  }
}

/**
 * Cuts a string that is too long for one native call, never between the halves of a surrogate pair.
 */
function* pieces(data: Data): Generator<Data> {
  if (typeof data !== 'string' || data.length <= longestString) {
    yield data;
    return;
  }
  for (let start = 0; start < data.length; ) {
    let end = Math.min(start + longestString, data.length);
    const last = data.charCodeAt(end - 1);
    if (end < data.length && last >= 0xd800 && last <= 0xdbff) end -= 1;
    yield data.substring(start, end);
    start = end;
  }
}

function readFile(path: unknown, options?: unknown): Buffer | string {
  const encoding = native === undefined ? undefined : planRead(options);
  if (
    native === undefined || encoding === undefined ||
    !(typeof path === 'string' || isDescriptor(path)) || usesVirtualFiles() || !mayReadSync(encoding === 'utf8')
  ) {
    return original.readFileSync(path as string, options as BufferEncoding);
  }
  const value = native.readSync(typeof path === 'string' ? systemPath(path) : path, encoding === 'utf8' ? 1 : 0);
  if (typeof value === 'number') {
    if (failedToOpen(value)) throw makeError(value, path as string, readFile);
    // node:fs repeats a failed read of a path, so that the error is its own. It cannot repeat one
    // of a descriptor, which has moved on.
    if (typeof path === 'string' || failedToBegin(value)) {
      return original.readFileSync(path, options as BufferEncoding);
    }
    throw makeError(value, undefined, readFile);
  }
  return encoding === null || typeof value === 'string' ? value : value.toString(encoding);
}

/** Does `fs.readFileSync` with one crossing into native code. */
export const readFileSync = Object.defineProperty(readFile, 'name', { value: 'readFileSync' }) as typeof fs.readFileSync;
