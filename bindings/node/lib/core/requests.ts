// Calls for one file that native code works on.

import { type AsyncResource } from 'node:async_hooks';

import { DELEGATE } from './errors.js';
import { failure } from './many.js';

/** The code of a result whose value describes the failure. */
const DETAILED = -3;

export type Callback = (error: unknown, value?: unknown) => void;

/** What calls of one kind have in common. */
export interface RequestKind {
  /** Makes the result from the value of native code; {@link REPEAT} if node:fs has to make it. */
  convert: (request: Request, value: unknown) => unknown;
  /** The call has a result, which its callback gets. */
  hasResult: boolean;
  /** Makes the error of a failed call; undefined if node:fs has to repeat the call. */
  failed: (request: Request, code: number) => Error | undefined;
}

/** The result of a call that node:fs has to repeat. */
export const REPEAT = Symbol('repeat');

/** One call. */
export interface Request {
  kind: RequestKind;
  /** The encoding that JavaScript decodes; null if there is none. */
  encoding: BufferEncoding | null;
  /** The path that errors name; undefined for a descriptor, or if the path is no string. */
  path: string | undefined;
  /** Errors name the path, whichever system call failed. */
  namesPath: boolean;
  /** Makes the same call on node:fs. */
  callNode: (request: Request) => void;
  /** The caller's arguments, which `callNode` needs. */
  target: unknown;
  data: unknown;
  options: unknown;
  /** Takes the result. */
  receiver: Receiver;
}

/** The function that settles a promise, or a callback with its asynchronous context. */
export type Receiver =
  | { resolve: (value?: unknown) => void }
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
    failRequest(request, failure(value, request.path ?? ''));
    return;
  }
  if (code !== 0) {
    const error = code === DELEGATE ? undefined : request.kind.failed(request, code);
    if (error === undefined) request.callNode(request);
    else failRequest(request, error);
    return;
  }
  let result: unknown;
  try {
    result = request.kind.convert(request, value);
  } catch (error) {
    rejectRequest(request, error);
    return;
  }
  if (result === REPEAT) request.callNode(request);
  else fulfilRequest(request, result);
}

const settled = Promise.resolve();

/** Ends a request with its result. */
export function fulfilRequest({ receiver, kind }: Request, value: unknown): void {
  if ('resolve' in receiver) receiver.resolve(value);
  else if (kind.hasResult && value !== undefined) receiver.resource.runInAsyncScope(receiver.callback, undefined, null, value);
  else receiver.resource.runInAsyncScope(receiver.callback, undefined, null);
}

/** Ends a request with an error of node:fs or of the caller, which is not changed. */
export function rejectRequest({ receiver }: Request, error: unknown): void {
  if ('resolve' in receiver) receiver.resolve(settled.then(() => { throw error; }));
  else receiver.resource.runInAsyncScope(receiver.callback, undefined, error);
}

/** Ends a request with an error of native code, which has no stack yet. */
function failRequest(request: Request, error: Error): void {
  if ('resolve' in request.receiver) request.receiver.resolve(rejected(error));
  else rejectRequest(request, error);
}

/**
 * Makes a promise that is rejected with an error of native code, for another promise to resolve to.
 * The error gets a stack, which names the async functions that wait for that promise. V8 finds
 * these functions only while it runs a handler of that promise. The first `then` delays the handler
 * until the functions wait.
 */
export function rejected(error: Error): Promise<never> {
  return settled.then(() => undefined).then(function fail(): never {
    Error.captureStackTrace(error, fail);
    throw error;
  });
}
