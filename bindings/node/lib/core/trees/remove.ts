// Removes trees as `fs.rm` does with `recursive`. Native code tries first. Node then does what is
// left, so that retries and errors are its own.

import { type TreeOutcome } from '../addon.js';
import { mayRemove, mayRemoveSync } from '../heard.js';
import { native } from '../native.js';
import { MISSING_OK, MOUNTS } from '../option-bits.js';
import { original, uncounted } from '../../original.js';
import { callBack, later } from './later.js';
import { hasFailed, isUsable, once, plainPath } from './usable.js';

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
const loadNodes = once(() => new Promise<void>((resolve) => { uncounted.rm('', { recursive: true, force: true }, () => { resolve(); }); }));
const loadNodesSync = once(() => { uncounted.rmSync('', { recursive: true, force: true }); });

/** Removes what node:fs would. It has to do what native code could not do. */
async function remove({ path, bits }: Plan, options: object): Promise<void> {
  const removed = later(path, (id) => native?.removeTree(path, id, 0, bits, 0)) as Promise<TreeOutcome>;
  const [outcome] = await Promise.all([removed, loadNodes()]);
  if (hasFailed(outcome)) await original.promises.rm(path, options);
}

type AnyFunction = (...args: unknown[]) => unknown;

/** Does `fs.rm`. */
export const rm = ((path: unknown, options: unknown, callback: unknown) => {
  const planned = typeof callback === 'function' && mayRemove() ? plan(path, options) : undefined;
  if (planned === undefined) return (original.rm as AnyFunction)(path, options, callback);
  callBack(callback, remove(planned, { ...(options as object) }));
  return undefined;
}) as AnyFunction as typeof original.rm;

/** Does `fs.rmSync`. */
export const rmSync = ((path: unknown, options: unknown) => {
  const planned = mayRemoveSync() ? plan(path, options) : undefined;
  if (planned !== undefined) {
    loadNodesSync();
    const outcome = native?.removeTreeSync(planned.path, planned.bits, 0);
    if (outcome !== undefined && !hasFailed(outcome)) return;
  }
  (original.rmSync as AnyFunction)(path, options);
}) as AnyFunction as typeof original.rmSync;

/** Does `fs.promises.rm`. */
export const rmPromised = ((path: unknown, options: unknown) => {
  const planned = mayRemove() ? plan(path, options) : undefined;
  if (planned === undefined) return (original.promises.rm as AnyFunction)(path, options);
  return remove(planned, { ...(options as object) });
}) as AnyFunction as typeof original.promises.rm;
