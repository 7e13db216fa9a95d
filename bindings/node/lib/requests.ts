// Calls on their way through native code.

import { AsyncResource } from 'node:async_hooks';

import { DELEGATE, failedToOpen, makeError } from './errors.js';

type Callback = (error: unknown, value?: Buffer | string) => void;

/** One call that native code works on. */
export interface Request {
  /** Encoding that is left to do in JavaScript; null if there is none. */
  encoding: BufferEncoding | null;
  /** Path to name in errors; undefined for a descriptor, or if the path is no string. */
  path: string | undefined;
  /** A read may be done again by node:fs, a write that has begun may not. */
  isRead: boolean;
  /** The same call on node:fs. */
  again: (request: Request) => void;
  /** What `again` needs: the caller's arguments. */
  target: unknown;
  data: unknown;
  options: unknown;
  /** One of these takes the result. */
  resolve: ((value?: Buffer | string | void) => void) | undefined;
  reject: ((error: unknown) => void) | undefined;
  callback: Callback | undefined;
  /** The asynchronous context of a callback. */
  resource: AsyncResource | undefined;
}

const requests: (Request | undefined)[] = [];
const free: number[] = [];

/** Keeps a request until `complete` is called with its number. */
export function keep(request: Request): number {
  const id = free.pop() ?? requests.length;
  requests[id] = request;
  return id;
}

/** Takes a request back that native code did not accept. */
export function forget(id: number): void {
  requests[id] = undefined;
  free.push(id);
}

/** Called by native code, once for each job. */
export function complete(id: number, code: number, value: Buffer | string | undefined): void {
  const request = requests[id];
  if (request === undefined) return;
  forget(id);
  if (code !== 0) {
    fail(request, code);
    return;
  }
  if (request.encoding === null) {
    settle(request, value);
    return;
  }
  let text: string;
  try {
    text = (value as Buffer).toString(request.encoding);
  } catch (error) {
    settleError(request, error);
    return;
  }
  settle(request, text);
}

function fail(request: Request, code: number): void {
  const opening = failedToOpen(code);
  const nameable = !opening || request.path !== undefined;
  // Nothing has happened yet, or what happened can be had again: then Node's own error is the best one.
  if (code === DELEGATE || (opening && !nameable) || (request.isRead && !opening)) {
    request.again(request);
  } else {
    settleError(request, makeError(code, opening ? request.path : undefined, undefined));
  }
}

function settle(request: Request, value: Buffer | string | undefined): void {
  if (request.resolve !== undefined) {
    request.resolve(value);
  } else if (request.isRead) {
    request.resource?.runInAsyncScope(request.callback as Callback, undefined, null, value);
  } else {
    request.resource?.runInAsyncScope(request.callback as Callback, undefined, null);
  }
}

function settleError(request: Request, error: unknown): void {
  if (request.reject !== undefined) request.reject(error);
  else request.resource?.runInAsyncScope(request.callback as Callback, undefined, error);
}
