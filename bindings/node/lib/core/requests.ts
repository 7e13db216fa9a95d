// Calls for one file that native code works on.

import { type AsyncResource } from 'node:async_hooks';

import { DELEGATE, failedToOpen, makeError } from './errors.js';
import { failure } from './many.js';

/** The code of a result whose value describes the failure. */
const DETAILED = -3;

export type Callback = (error: unknown, value?: Buffer | string) => void;

/** One call. */
export interface Request {
  /** The encoding that JavaScript decodes; null if there is none. */
  encoding: BufferEncoding | null;
  /** The path that errors name; undefined for a descriptor, or if the path is no string. */
  path: string | undefined;
  /** Errors name the path, whichever system call failed. */
  namesPath: boolean;
  /** The call is a read. node:fs may repeat a failed read, but no write that has begun. */
  isRead: boolean;
  /** Makes the same call on node:fs. */
  callNode: (request: Request) => void;
  /** The caller's arguments, which `callNode` needs. */
  target: unknown;
  data: unknown;
  options: unknown;
  /** Takes the result. */
  receiver: Receiver;
}

/** The two functions of a promise, or a callback with its asynchronous context. */
export type Receiver =
  | { resolve: (value?: Buffer | string) => void; reject: (error: unknown) => void }
  | { callback: Callback; resource: AsyncResource };

const requests: (Request | undefined)[] = [];
const free: number[] = [];

/** Keeps a request until `complete` is called with its number. */
export function keep(request: Request): number {
  const id = free.pop() ?? requests.length;
  requests[id] = request;
  return id;
}

/** Forgets a request that native code did not accept. */
export function forget(id: number): void {
  requests[id] = undefined;
  free.push(id);
}

/** Gives a request its result. Native code calls this once for each job. */
export function complete(id: number, code: number, value: unknown): void {
  const request = requests[id];
  if (request === undefined) return;
  forget(id);
  if (code === DETAILED) {
    rejectRequest(request, failure(value, request.path ?? ''));
    return;
  }
  if (code !== 0) {
    fail(request, code);
    return;
  }
  if (request.encoding === null) {
    fulfilRequest(request, value as Buffer | string | undefined);
    return;
  }
  let text: string;
  try {
    text = (value as Buffer).toString(request.encoding);
  } catch (error) {
    rejectRequest(request, error);
    return;
  }
  fulfilRequest(request, text);
}

function fail(request: Request, code: number): void {
  const opening = failedToOpen(code);
  const nameable = !opening || request.path !== undefined;
  // If nothing was done, or the read can be repeated, node:fs does the call, so that the error is
  // its own.
  if (code === DELEGATE || (opening && !nameable) || (request.isRead && !opening)) {
    request.callNode(request);
  } else {
    rejectRequest(request, makeError(code, opening || request.namesPath ? request.path : undefined, undefined));
  }
}

/** Ends a request with its result. */
export function fulfilRequest({ receiver, isRead }: Request, value: Buffer | string | undefined): void {
  if ('resolve' in receiver) receiver.resolve(value);
  else if (isRead) receiver.resource.runInAsyncScope(receiver.callback, undefined, null, value);
  else receiver.resource.runInAsyncScope(receiver.callback, undefined, null);
}

/** Ends a request with an error. */
export function rejectRequest({ receiver }: Request, error: unknown): void {
  if ('reject' in receiver) receiver.reject(error);
  else receiver.resource.runInAsyncScope(receiver.callback, undefined, error);
}
