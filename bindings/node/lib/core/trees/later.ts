// Calls for trees that finish later, with promises and callbacks.

import { AsyncResource } from 'node:async_hooks';

import { failure } from '../many.js';
import { forget, keep, type Request, type RequestKind } from '../requests.js';

const ofTree: RequestKind = {
  hasResult: true,
  convert: (_made, value) => value,
  failed: ({ path }) => failure(undefined, path ?? ''),
};

/**
 * Waits for a call that `begin` hands to native code under a number. Resolves to its value;
 * undefined if node:fs has to do the call. Rejects if `begin` returns a text that says which option
 * is wrong.
 */
export function later(path: string, begin: (id: number) => string | undefined): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const made: Request = {
      kind: ofTree, encoding: null, path, namesPath: true, callNode: () => { resolve(undefined); },
      target: path, data: undefined, options: undefined, receiver: { resolve },
    };
    const id = keep(made);
    const wrong = begin(id);
    if (wrong === undefined) return;
    forget(id);
    reject(Object.assign(new TypeError(wrong), { code: 'ERR_INVALID_ARG_VALUE' }));
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
