// Calls for one file that finish later, with a callback or a promise.

import { AsyncResource } from 'node:async_hooks';
import fs = require('node:fs');

import { usesVirtualFiles } from './addon.js';
import { type DurabilityOptions, type Durable, durableOf } from './durable/options.js';
import { startDurably } from './durable/later.js';
import { notTogether, refusalOf, withoutHarm } from './durable/writes.js';
import { failedToOpen, makeError } from './errors.js';
import { mayAppend, mayFlushPromised, mayRead, mayWrite } from './heard.js';
import { longestString, native } from './native.js';
import { FLUSH_FILE } from './option-bits.js';
import {
  isAborted, isDescriptor, isUtf8, nativePath, PLAIN_APPEND, PLAIN_WRITE, planRead, planWrite, type WritePlan,
} from './options.js';
import { original } from '../original.js';
import { systemMode, systemPath, takesBytes } from './platform.js';
import { type Callback, forget, fulfilRequest, keep, type Receiver, rejectRequest, REPEAT, type Request, type RequestKind } from './requests.js';

/**
 * The maximum number of bytes that native code copies, since the caller may change them later.
 * node:fs writes larger data.
 */
const MAX_COPY = 16 << 20;

/** Converts a path for native code; undefined if node:fs has to decide. */
function targetOf(path: unknown): string | Uint8Array | undefined {
  const native = nativePath(path);
  if (typeof native === 'string') return systemPath(native);
  return takesBytes ? native : undefined;
}

/** Hands a read to native code; false if it was not taken. */
function startRead(made: Request, ownScope: 0 | 1): boolean {
  if (native === undefined || usesVirtualFiles()) return false;
  const encoding = planRead(made.options);
  // A promise's read calls no other function of node:fs.
  if (encoding === undefined || (ownScope === 1 && !mayRead())) return false;
  const target = targetOf(made.target);
  if (target === undefined) return false;
  const utf8 = encoding === 'utf8';
  made.encoding = utf8 ? null : encoding;
  const id = keep(made);
  if (native.read(target, id, ownScope, utf8 ? 1 : 0) === undefined) return true;
  forget(id);
  return false;
}

/** Hands a write to native code; false if it was not taken. */
function startWrite(made: Request, defaults: Readonly<WritePlan>, ownScope: 0 | 1): boolean {
  if (native === undefined || usesVirtualFiles()) return false;
  const plan = planWrite(made.options, defaults);
  if (plan === undefined || !mayStart(defaults, plan.flush, ownScope)) return false;
  const target = isDescriptor(made.target) && ownScope === 1 ? made.target : targetOf(made.target);
  if (target === undefined) return false;
  const data = bytesOf(made.data, plan.encoding);
  if (data === undefined) return false;
  const id = keep(made);
  const mode = systemMode(plan.mode);
  const code = plan.flush
    ? native.writeDurably(target, id, ownScope, data, plan.flags, mode, FLUSH_FILE)
    : native.write(target, id, ownScope, data, plan.flags, mode);
  if (code === undefined) return true;
  forget(id);
  return false;
}

/** Tells whether no function is replaced that node:fs would call. */
function mayStart(defaults: Readonly<WritePlan>, flush: boolean, ownScope: 0 | 1): boolean {
  if (ownScope === 0) return !flush || mayFlushPromised();
  return defaults === PLAIN_APPEND ? mayAppend(flush) : mayWrite(flush);
}

/** Converts data for native code, which copies them at once; undefined if node:fs has to decide. */
function bytesOf(data: unknown, encoding: BufferEncoding | null | undefined): string | ArrayBufferView | undefined {
  if (typeof data === 'string') {
    if (!encoding || isUtf8(encoding)) return data.length <= longestString ? data : Buffer.from(data);
    return Buffer.from(data, encoding);
  }
  if (!ArrayBuffer.isView(data) || data.byteLength > MAX_COPY) return undefined;
  // An empty buffer may be a detached one, which Node's versions treat differently.
  return data.buffer.byteLength === 0 ? undefined : data;
}

/** One of the three functions: how to call that of node:fs, and the defaults for native code. */
interface Kind extends RequestKind {
  isRead: boolean;
  /** The plan of a write without options. */
  defaults: Readonly<WritePlan>;
  withCallback: (target: unknown, data: unknown, options: unknown, callback: unknown) => void;
  withPromise: (target: unknown, data: unknown, options: unknown) => Promise<unknown>;
  /** Makes the same call on node:fs, and gives the result to the same receiver. */
  callNode: (made: Request) => void;
}

/** Makes the error of a file that was not opened, as node:fs does unless the path is no string. */
const notOpened = (made: Request, code: number): Error | undefined =>
  (made.path === undefined ? undefined : makeError(code, made.path, undefined));

const reading: Kind = {
  isRead: true,
  hasResult: true,
  convert: ({ encoding, options }, value) => {
    if (isAborted(options)) return REPEAT;
    return encoding === null ? value : (value as Buffer).toString(encoding);
  },
  // A read can be repeated.
  failed: (made, code) => (failedToOpen(code) ? notOpened(made, code) : undefined),
  defaults: PLAIN_WRITE,
  withCallback: (target, _data, options, callback) => {
    original.readFile(target as string, options as null, callback as Callback);
  },
  withPromise: (target, _data, options) => original.promises.readFile(target as string, options as null),
  callNode: (made) => { callNode(reading, made); },
};

const writing = changing('writeFile', PLAIN_WRITE);
const appending = changing('appendFile', PLAIN_APPEND);

function changing(name: 'writeFile' | 'appendFile', defaults: Readonly<WritePlan>): Kind {
  const kind: Kind = {
    isRead: false,
    hasResult: false,
    convert: () => undefined,
    failed: (made, code) =>
      (failedToOpen(code) ? notOpened(made, code) : makeError(code, made.namesPath ? made.path : undefined, undefined)),
    defaults,
    withCallback: (target, data, options, callback) => {
      original[name](target as string, data as string, options as null, callback as Callback);
    },
    withPromise: (target, data, options) =>
      original.promises[name](target as string, data as string, options as null),
    callNode: (made) => { callNode(kind, made); },
  };
  return kind;
}

/**
 * Makes a call on node:fs. With `refusal`, node:fs is expected to refuse it; if it does not,
 * `refusal` makes the error.
 */
function callNode(kind: Kind, made: Request, refusal?: () => Error): void {
  const { target, data, receiver } = made;
  const options = refusal === undefined ? made.options : withoutHarm(made.options);
  const failed = (error: unknown): void => { rejectRequest(made, refusal === undefined ? error : refusalOf(error, made.options)); };
  if ('callback' in receiver) {
    kind.withCallback(target, data, options, (error: unknown, value?: Buffer | string) => {
      if (error) failed(error);
      else if (refusal !== undefined) rejectRequest(made, refusal());
      else fulfilRequest(made, value);
    });
  } else {
    const promise = kind.withPromise(target, data, options);
    if (refusal === undefined) receiver.resolve(promise);
    else promise.then(() => { rejectRequest(made, refusal()); }, failed);
  }
}

function start(kind: Kind, made: Request, ownScope: 0 | 1): boolean {
  return kind.isRead ? startRead(made, ownScope) : startWrite(made, kind.defaults, ownScope);
}

/**
 * Begins a write with durability options. A call that cannot be done is given to node:fs, which is
 * expected to refuse it.
 */
function startDurable(kind: Kind, made: Request, durable: Durable, ownScope: 0 | 1): void {
  if (!startDurably(made, kind.defaults.flags, durable, ownScope)) callNode(kind, made, () => notTogether(made.options));
}

// Requests have one shape for all kinds of calls: the engine is then faster when results come.
function request(kind: Kind, target: unknown, data: unknown, options: unknown, receiver: Receiver): Request {
  const path = typeof target === 'string' ? target : undefined;
  return { kind, encoding: null, path, namesPath: false, callNode: kind.callNode, target, data, options, receiver };
}

/** Makes a call with a callback. `options` may be left out before `callback`, as in node:fs. */
function callBack(kind: Kind, target: unknown, data: unknown, options: unknown, callback: unknown): void {
  // eslint-disable-next-line @typescript-eslint/prefer-nullish-coalescing -- as node:fs
  const done = callback || options;
  if (typeof done === 'function') {
    const receiver = { callback: done as Callback, resource: new AsyncResource('SMALLFRY') };
    const given = typeof options === 'function' ? undefined : options;
    const made = request(kind, target, data, given, receiver);
    const durable = kind.isRead ? undefined : durableOf(given);
    if (durable !== undefined) {
      startDurable(kind, made, durable, 1);
      return;
    }
    if (start(kind, made, 1)) return;
  }
  kind.withCallback(target, data, options, callback);
}

function promise(kind: Kind, target: unknown, data: unknown, options: unknown): Promise<unknown> {
  let isLeft = false as boolean;
  const promise = new Promise((resolve) => {
    const made = request(kind, target, data, options, { resolve });
    const durable = kind.isRead ? undefined : durableOf(options);
    if (durable !== undefined) startDurable(kind, made, durable, 0);
    else isLeft = !start(kind, made, 0);
  });
  return isLeft ? kind.withPromise(target, data, options) : promise;
}

/** Does `fs.readFile`. */
export const readFile = function readFile(path: unknown, options: unknown, callback?: unknown): void {
  callBack(reading, path, undefined, options, callback);
} as typeof fs.readFile;

/** The options of a write that finishes later. */
type Options = Extract<fs.WriteFileOptions, object> & DurabilityOptions;

/** The function of node:fs, which also takes {@link DurabilityOptions}. */
export type WriteLater = typeof fs.writeFile & ((
  file: fs.PathOrFileDescriptor, data: string | NodeJS.ArrayBufferView, options: Options, callback: fs.NoParamCallback,
) => void);

/** The function of node:fs/promises, which also takes {@link DurabilityOptions}. */
export type WritePromised = typeof fs.promises.writeFile & ((
  file: fs.PathLike | fs.promises.FileHandle, data: Parameters<typeof fs.promises.writeFile>[1], options: Options,
) => Promise<void>);

/**
 * Does `fs.writeFile`, and takes {@link DurabilityOptions}. Bytes are copied before it returns. An
 * accepted write is completed even if the process exits.
 */
export const writeFile = function writeFile(path: unknown, data: unknown, options: unknown, callback?: unknown): void {
  callBack(writing, path, data, options, callback);
} as WriteLater;

/** Does `fs.appendFile`, and takes the same options as {@link writeFile}. */
export const appendFile = function appendFile(path: unknown, data: unknown, options: unknown, callback?: unknown): void {
  callBack(appending, path, data, options, callback);
} as WriteLater;

/** The forms with promises. An accepted write is completed even if the process exits. */
export const promises = {
  /** Does `fs.promises.readFile`. */
  readFile: function readFile(path: unknown, options?: unknown): Promise<unknown> {
    return promise(reading, path, undefined, options);
  } as typeof fs.promises.readFile,
  /**
   * Does `fs.promises.writeFile`, and takes {@link DurabilityOptions}.
   *
   * ```js
   * await promises.writeFile('settings.json', text, { durability: 'full', replace: true });
   * ```
   */
  writeFile: function writeFile(path: unknown, data: unknown, options?: unknown): Promise<unknown> {
    return promise(writing, path, data, options);
  } as WritePromised,
  /** Does `fs.promises.appendFile`, and takes {@link DurabilityOptions}. */
  appendFile: function appendFile(path: unknown, data: unknown, options?: unknown): Promise<unknown> {
    return promise(appending, path, data, options);
  } as WritePromised,
};
