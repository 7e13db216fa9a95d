// Calls for trees that finish later, with promises and callbacks.

import { AsyncResource } from 'node:async_hooks';

import { failure } from '../many.js';
import { keep, type Request, type RequestKind } from '../requests.js';

const ofTree: RequestKind = {
  hasResult: true,
  convert: (_made, value) => value,
  failed: ({ path }) => failure(undefined, path ?? ''),
};

/**
 * Waits for a call that `begin` hands to native code under a number. Resolves to its value;
 * undefined if node:fs has to do the call.
 */
export function later(path: string, begin: (id: number) => void): Promise<unknown> {
  return new Promise((resolve) => {
    const made: Request = {
      kind: ofTree, encoding: null, path, namesPath: true, callNode: () => { resolve(undefined); },
      target: path, data: undefined, options: undefined, receiver: { resolve },
    };
    begin(keep(made));
  });
}

type AnyFunction = (...args: unknown[]) => unknown;

/**
 * Calls back as node:fs does when a promise is settled: with null and `more` after a success. An
 * exception of the callback is an uncaught one, since it has a tick of its own.
 */
export function callBack(callback: unknown, promise: Promise<unknown>, ...more: unknown[]): void {
  const resource = new AsyncResource('SMALLFRY');
  const end = (...results: unknown[]): void => {
    process.nextTick(() => { resource.runInAsyncScope(callback as AnyFunction, undefined, ...results); });
  };
  promise.then(() => { end(null, ...more); }, end);
}
