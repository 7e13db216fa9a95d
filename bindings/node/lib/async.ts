// The calls that finish later, with a callback or a promise. Native code gathers calls made together into one job.

import { AsyncResource } from 'node:async_hooks';
import fs = require('node:fs');

import { usesVirtualFiles } from './addon.js';
import { longestString, native } from './native.js';
import {
  isDescriptor, isUtf8, nativePath, PLAIN_APPEND, PLAIN_WRITE, planRead, planWrite, type WritePlan,
} from './options.js';
import { original } from './original.js';
import { forget, keep, type Request } from './requests.js';

type Callback = (error: unknown, value?: Buffer | string) => void;

/** Larger bytes are left to node:fs, since native code would copy them to be safe from later changes. */
const LARGEST_COPY = 16 << 20;

// Native code calls back on an object of one shape, whatever the call.
function request(
  isRead: boolean, target: unknown, data: unknown, options: unknown, again: (request: Request) => void,
): Request {
  const path = typeof target === 'string' ? target : undefined;
  return {
    encoding: null, path, isRead, again, target, data, options,
    resolve: undefined, reject: undefined, callback: undefined, resource: undefined,
  };
}

function withCallback(made: Request, callback: Callback): Request {
  made.callback = callback;
  made.resource = new AsyncResource('SMALLFRY');
  return made;
}

/** Hands a read to native code; false if it was not taken. */
function startRead(made: Request, alone: 0 | 1): boolean {
  if (native === undefined || usesVirtualFiles()) return false;
  const encoding = planRead(made.options);
  if (encoding === undefined) return false;
  const target = nativePath(made.target);
  if (target === undefined) return false;
  const utf8 = encoding === 'utf8';
  made.encoding = utf8 ? null : encoding;
  const id = keep(made);
  if (native.read(target, id, alone, utf8 ? 1 : 0) === undefined) return true;
  forget(id);
  return false;
}

/** Hands a write to native code; false if it was not taken. */
function startWrite(made: Request, defaults: Readonly<WritePlan>, alone: 0 | 1): boolean {
  if (native === undefined || usesVirtualFiles()) return false;
  const plan = planWrite(made.options, defaults);
  if (plan === undefined || plan.flush) return false;
  const target = isDescriptor(made.target) && alone === 1 ? made.target : nativePath(made.target);
  if (target === undefined) return false;
  const data = bytesOf(made.data, plan.encoding);
  if (data === undefined) return false;
  const id = keep(made);
  if (native.write(target, id, alone, data, plan.flags, plan.mode) === undefined) return true;
  forget(id);
  return false;
}

/** The data in a form that native code copies at once; undefined if node:fs has to decide. */
function bytesOf(data: unknown, encoding: BufferEncoding | null | undefined): string | ArrayBufferView | undefined {
  if (typeof data === 'string') {
    if (!encoding || isUtf8(encoding)) return data.length <= longestString ? data : Buffer.from(data);
    return Buffer.from(data, encoding);
  }
  return ArrayBuffer.isView(data) && data.byteLength <= LARGEST_COPY ? data : undefined;
}

const readAgain = (r: Request): void => {
  original.readFile(r.target as string, r.options as null, finish(r));
};
const writeAgain = (r: Request): void => {
  original.writeFile(r.target as string, r.data as string, r.options as null, finish(r));
};
const appendAgain = (r: Request): void => {
  original.appendFile(r.target as string, r.data as string, r.options as null, finish(r));
};
const finish = (r: Request): Callback => (error, value) => {
  r.resource?.runInAsyncScope(r.callback as Callback, undefined, ...(error ? [error] : r.isRead ? [null, value] : [null]));
};

const readPromiseAgain = (r: Request): void => {
  original.promises.readFile(r.target as string, r.options as null).then(r.resolve, r.reject);
};
const writePromiseAgain = (r: Request): void => {
  original.promises.writeFile(r.target as string, r.data as string, r.options as null).then(r.resolve, r.reject);
};
const appendPromiseAgain = (r: Request): void => {
  original.promises.appendFile(r.target as string, r.data as string, r.options as null).then(r.resolve, r.reject);
};

/** `fs.readFile`. */
export const readFile = function readFile(path: unknown, options: unknown, callback?: unknown): void {
  const done = callback || options;
  const given = typeof options === 'function' ? undefined : options;
  if (
    typeof done !== 'function' ||
    !startRead(withCallback(request(true, path, undefined, given, readAgain), done as Callback), 1)
  ) {
    original.readFile(path as string, options as null, callback as Callback);
  }
} as typeof fs.readFile;

/** `fs.writeFile`. Bytes are copied before it returns; an accepted write is completed even if the process exits. */
export const writeFile = function writeFile(path: unknown, data: unknown, options: unknown, callback?: unknown): void {
  const done = callback || options;
  const given = typeof options === 'function' ? undefined : options;
  if (
    typeof done !== 'function' ||
    !startWrite(withCallback(request(false, path, data, given, writeAgain), done as Callback), PLAIN_WRITE, 1)
  ) {
    original.writeFile(path as string, data as string, options as null, callback as Callback);
  }
} as typeof fs.writeFile;

/** `fs.appendFile`, as {@link writeFile}. */
export const appendFile = function appendFile(path: unknown, data: unknown, options: unknown, callback?: unknown): void {
  const done = callback || options;
  const given = typeof options === 'function' ? undefined : options;
  if (
    typeof done !== 'function' ||
    !startWrite(withCallback(request(false, path, data, given, appendAgain), done as Callback), PLAIN_APPEND, 1)
  ) {
    original.appendFile(path as string, data as string, options as null, callback as Callback);
  }
} as typeof fs.appendFile;

/** Makes the promise of a request that native code may have taken. */
function promise(made: Request, start: (made: Request) => boolean): Promise<Buffer | string | undefined | void> {
  return new Promise<Buffer | string | undefined | void>((resolve, reject) => {
    made.resolve = resolve;
    made.reject = reject;
    if (!start(made)) made.again(made);
  });
}

/** `fs.promises.readFile`. */
const readFilePromise = function readFile(path: unknown, options?: unknown): Promise<unknown> {
  return promise(request(true, path, undefined, options, readPromiseAgain), startReadPromise);
} as typeof fs.promises.readFile;

/** `fs.promises.writeFile`. As with the callback form, an accepted write is completed even if the process exits. */
const writeFilePromise = function writeFile(path: unknown, data: unknown, options?: unknown): Promise<unknown> {
  return promise(request(false, path, data, options, writePromiseAgain), startWritePromise);
} as typeof fs.promises.writeFile;

/** `fs.promises.appendFile`, as {@link writeFilePromise}. */
const appendFilePromise = function appendFile(path: unknown, data: unknown, options?: unknown): Promise<unknown> {
  return promise(request(false, path, data, options, appendPromiseAgain), startAppendPromise);
} as typeof fs.promises.appendFile;

const startReadPromise = (made: Request): boolean => startRead(made, 0);
const startWritePromise = (made: Request): boolean => startWrite(made, PLAIN_WRITE, 0);
const startAppendPromise = (made: Request): boolean => startWrite(made, PLAIN_APPEND, 0);

export const promises = { readFile: readFilePromise, writeFile: writeFilePromise, appendFile: appendFilePromise };
