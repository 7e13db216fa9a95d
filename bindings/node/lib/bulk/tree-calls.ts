// What calls for a tree have in common: options, progress, and errors.

import { type TreeOutcome } from '../core/addon.js';
import { failure, flag, listenerOf, listenTo, type Progress, progressOf, refused, signalOf } from '../core/many.js';
import { nativeHere } from '../core/native.js';
import { later } from '../core/trees/later.js';

/** The options of all calls for a tree. */
export interface TreeOptions {
  /**
   * The number of threads. By default, as many as measuring shows to be fastest, beginning with
   * one.
   */
  threads?: number | undefined;
  /**
   * Aborts the call: nothing more begins, and the call rejects with the signal's reason when the
   * entries that were begun are done. What was copied, removed or unpacked until then stays so.
   */
  signal?: AbortSignal | undefined;
  /**
   * Called ten times a second, and at the end unless the call fails. The total is not known before
   * the end. An exception in it is an uncaught one.
   */
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** The entries of a tree that were copied, mirrored, removed, packed, unpacked or hashed. */
export interface TreeCounts {
  /** The number of files and links, and of special files that were removed. */
  files: number;
  directories: number;
  /** The number of bytes that the files have; 0 for a removal. */
  bytes: number;
}

/**
 * The error of a call that could not do all of its work. It is the first error, which also says
 * what was done nevertheless.
 */
export interface TreeError extends NodeJS.ErrnoException {
  /** The errors of all entries that were left. */
  errors: Error[];
  done: TreeCounts;
}

/** The time between two calls of `onProgress`, in ms. */
const PROGRESS_INTERVAL = 100;

export function countsOf([files, directories, bytes]: TreeOutcome): TreeCounts {
  return { files, directories, bytes };
}

/**
 * Runs a call that `begin` hands to native code under a number, as `later` does. `doneOf` reads
 * what an error says was done.
 */
export async function run(
  path: string, options: TreeOptions, begin: (id: number) => string | undefined, doneOf: (outcome: TreeOutcome) => TreeCounts = countsOf,
): Promise<TreeOutcome> {
  const here = nativeHere();
  const signal = signalOf(options.signal);
  const report = progressOf(listenerOf(options.onProgress));
  signal?.throwIfAborted();
  let id = -1;
  const show = (): void => {
    const progress = here?.treeProgress(id);
    // The call is done, and its outcome comes next.
    if (progress === undefined) return;
    const [done, bytes] = progress;
    report?.({ done, total: done, bytes });
  };
  const timer = report && setInterval(show, PROGRESS_INTERVAL);
  let ignore: (() => void) | undefined;
  try {
    const outcome = await later(path, (number) => {
      const wrong = begin(number);
      if (wrong !== undefined) return wrong;
      id = number;
      ignore = listenTo(signal, () => { here?.cancelTree(id); });
      return undefined;
    }) as TreeOutcome;
    signal?.throwIfAborted();
    const [files, directories, bytes, errors, , unchanged, deleted] = outcome;
    const failures = errors.map((error) => failure(error, path));
    const first = failures.at(0);
    if (first !== undefined) {
      Error.captureStackTrace(first, run);
      throw Object.assign(first, { errors: failures, done: doneOf(outcome) });
    }
    const total = files + directories + unchanged + deleted;
    report?.({ done: total, total, bytes });
    return outcome;
  } finally {
    clearInterval(timer);
    ignore?.();
  }
}

/** Checks an option with a few values. */
export function choice<T extends string>(name: string, value: T | undefined, choices: readonly T[]): T | undefined {
  if (value === undefined || choices.includes(value)) return value;
  throw refused('ERR_INVALID_ARG_VALUE', `The "${name}" option must be one of ${choices.map((one) => `'${one}'`).join(', ')}`, value);
}

/** Checks a boolean. */
export const flagOr = (fallback: boolean, name: string, value: unknown): boolean => (value === undefined ? fallback : flag(name, value));

/** Checks one pattern or several. */
export function patternsOf(name: string, value: string | readonly string[] | undefined): string[] {
  const list: unknown = value === undefined ? [] : typeof value === 'string' ? [value] : value;
  const isPattern = (pattern: unknown): boolean => typeof pattern === 'string' && pattern !== '' && !pattern.includes('\0');
  if (Array.isArray(list) && list.every(isPattern)) return list as string[];
  throw refused('ERR_INVALID_ARG_VALUE', `The "${name}" option must be a pattern or an array of patterns`, value);
}
