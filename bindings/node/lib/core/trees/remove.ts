// Removes trees as `fs.rm` does with `recursive`. Native code tries first. Node then does what is
// left, so that retries and errors are its own.

import { AsyncResource } from 'node:async_hooks';

import { type TreeOutcome } from '../addon.js';
import { mayRemove, mayRemoveSync } from '../heard.js';
import { native } from '../native.js';
import { MISSING_OK, MOUNTS } from '../option-bits.js';
import { original, uncounted } from '../../original.js';
import { type Callback, fulfilRequest, keep, type Receiver, rejectRequest, REPEAT, type Request, type RequestKind } from '../requests.js';
import { isUsable, once, plainPath } from './usable.js';

const DEFAULTS = { force: false, recursive: false, maxRetries: 0, retryDelay: 100 };

interface Plan {
  path: string;
  bits: number;
}

/** Plans a call for native code; undefined if node:fs has to do it. */
function plan(path: unknown, options: unknown): Plan | undefined {
  if (typeof options !== 'object' || options === null || Array.isArray(options) || !isUsable()) return undefined;
  const { force, recursive, maxRetries, retryDelay }: Record<string, unknown> = { ...DEFAULTS, ...options };
  if (recursive !== true || typeof force !== 'boolean' || !isCount(maxRetries) || !isCount(retryDelay)) return undefined;
  const plain = plainPath(path);
  return plain === undefined ? undefined : { path: plain, bits: force ? MOUNTS | MISSING_OK : MOUNTS };
}

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31;

/**
 * Has Node load the functions that its own `rm` calls. It would load replaced ones if it did that
 * later, and then keep them. An empty path leads nowhere.
 */
const loadNodes = once(() => { uncounted.rm('', { recursive: true, force: true }, () => undefined); });
const loadNodesSync = once(() => { uncounted.rmSync('', { recursive: true, force: true }); });

const removing: RequestKind = {
  hasResult: false,
  convert: (_made, outcome) => ((outcome as TreeOutcome).length > 3 ? REPEAT : undefined),
  failed: () => undefined,
};

function callNode(made: Request): void {
  const { target, options, receiver } = made;
  if ('resolve' in receiver) {
    receiver.resolve(original.promises.rm(target as string, options as object));
    return;
  }
  original.rm(target as string, options as object, (error) => {
    if (error) rejectRequest(made, error);
    else fulfilRequest(made, undefined);
  });
}

function start({ path, bits }: Plan, target: unknown, options: unknown, receiver: Receiver): void {
  loadNodes();
  const made: Request = {
    kind: removing, encoding: null, path, namesPath: true, callNode, target, data: undefined, options, receiver,
  };
  native?.removeTree?.(path, keep(made), 'callback' in receiver ? 1 : 0, bits, 0);
}

type AnyFunction = (...args: unknown[]) => unknown;

/** Does `fs.rm`. */
export const rm = ((path: unknown, options: unknown, callback: unknown) => {
  const planned = typeof callback === 'function' && mayRemove() ? plan(path, options) : undefined;
  if (planned === undefined) return (original.rm as AnyFunction)(path, options, callback);
  const receiver = { callback: callback as Callback, resource: new AsyncResource('SMALLFRY') };
  start(planned, path, { ...(options as object) }, receiver);
  return undefined;
}) as AnyFunction as typeof original.rm;

/** Does `fs.rmSync`. */
export const rmSync = ((path: unknown, options: unknown) => {
  const planned = mayRemoveSync() ? plan(path, options) : undefined;
  if (planned !== undefined) {
    loadNodesSync();
    if (native?.removeTreeSync?.(planned.path, planned.bits, 0).length === 3) return;
  }
  (original.rmSync as AnyFunction)(path, options);
}) as AnyFunction as typeof original.rmSync;

/** Does `fs.promises.rm`. */
export const rmPromised = ((path: unknown, options: unknown) => {
  const planned = mayRemove() ? plan(path, options) : undefined;
  if (planned === undefined) return (original.promises.rm as AnyFunction)(path, options);
  return new Promise<unknown>((resolve) => { start(planned, path, { ...(options as object) }, { resolve }); });
}) as AnyFunction as typeof original.promises.rm;
