// Copies or removes a tree in one call.

import { type TreeOutcome } from '../core/addon.js';
import {
  failure, flag, listenerOf, listenTo, optionsOf, type PathLike, pathText, type Progress, progressOf, refused, signalOf, threadsOf,
} from '../core/many.js';
import { nativeHere, needsNative } from '../core/native.js';
import {
  ABSOLUTE_LINKS, CREATE_NEW, CREATE_PARENTS, HARD_LINKS, KEEP_EXISTING, MISSING_OK, MOUNTS, NO_CLONE, TIMES,
} from '../core/option-bits.js';
import { later } from '../core/trees/later.js';

/** The options of {@link copyTree} and {@link removeTree}. */
export interface TreeOptions {
  /**
   * The number of threads. By default, as many as measuring shows to be fastest, beginning with
   * one.
   */
  threads?: number | undefined;
  /**
   * Aborts the call: nothing more begins, and the call rejects with the signal's reason when the
   * entries that were begun are done. What was copied or removed until then stays so.
   */
  signal?: AbortSignal | undefined;
  /**
   * Called ten times a second, and at the end unless the call fails. The total is not known before
   * the end. An exception in it is an uncaught one.
   */
  onProgress?: ((progress: Progress) => void) | undefined;
}

export interface CopyTreeOptions extends TreeOptions {
  /**
   * The treatment of a file that is there already: `'replace'` puts the copy in its place in one
   * step, `'keep'` leaves it alone, and `'error'` is an error. `'replace'` by default. Directories
   * are merged.
   */
  existing?: 'replace' | 'keep' | 'error' | undefined;
  /**
   * The targets of copied links: `'keep'` for the same ones, and `'absolute'` for the paths that
   * they lead to in the source, as `fs.cp` makes them. `'keep'` by default.
   */
  links?: 'keep' | 'absolute' | undefined;
  /** Gives the copies the times of access and modification of their sources. False by default. */
  times?: boolean | undefined;
  /** Makes names of one file in the source names of one file in the copy. True by default. */
  hardLinks?: boolean | undefined;
  /**
   * Lets a copy share its blocks with its source until one of both changes, where the file system
   * can do that (Btrfs, XFS). True by default.
   */
  clone?: boolean | undefined;
  /** Makes missing directories above the destination. False by default. */
  createParents?: boolean | undefined;
  /** Copies what is in directories of other file systems. True by default. */
  mounts?: boolean | undefined;
}

export interface RemoveTreeOptions extends TreeOptions {
  /** Takes a tree that is not there for removed. False by default. */
  force?: boolean | undefined;
  /** Removes what is in directories of other file systems, too. False by default. */
  mounts?: boolean | undefined;
}

/** The entries of a tree that were copied or removed. */
export interface TreeCounts {
  /** The number of files and links, and of special files that were removed. */
  files: number;
  directories: number;
  /** The number of bytes that were copied; 0 for a removal. */
  bytes: number;
}

/**
 * The error of a call that could not copy or remove all. It is the first error, which also says
 * what was done nevertheless.
 */
export interface TreeError extends NodeJS.ErrnoException {
  /** The errors of all entries that were left. */
  errors: Error[];
  done: TreeCounts;
}

/** The time between two calls of `onProgress`, in ms. */
const PROGRESS_INTERVAL = 100;

function countsOf([files, directories, bytes]: TreeOutcome): TreeCounts {
  return { files, directories, bytes };
}

/** Runs a call that `begin` hands to native code under a number. */
async function run(path: string, options: TreeOptions, begin: (id: number) => void): Promise<TreeCounts> {
  const here = nativeHere();
  const signal = signalOf(options.signal);
  const report = progressOf(listenerOf(options.onProgress));
  signal?.throwIfAborted();
  let id = -1;
  const show = (): void => {
    const [done, bytes] = here?.treeProgress?.(id) ?? [0, 0];
    report?.({ done, total: done, bytes });
  };
  const timer = report && setInterval(show, PROGRESS_INTERVAL);
  let ignore: (() => void) | undefined;
  try {
    const outcome = await later(path, (number) => {
      id = number;
      begin(id);
      ignore = listenTo(signal, () => { here?.cancelTree?.(id); });
    }) as TreeOutcome;
    signal?.throwIfAborted();
    const [, , , ...errors] = outcome;
    const done = countsOf(outcome);
    const failures = errors.map((error) => failure(error, path));
    const first = failures.at(0);
    if (first !== undefined) {
      Error.captureStackTrace(first, run);
      throw Object.assign(first, { errors: failures, done });
    }
    const total = done.files + done.directories;
    report?.({ done: total, total, bytes: done.bytes });
    return done;
  } finally {
    clearInterval(timer);
    ignore?.();
  }
}

function choice<T extends string>(name: string, value: T | undefined, choices: readonly T[]): T | undefined {
  if (value === undefined || choices.includes(value)) return value;
  throw refused('ERR_INVALID_ARG_VALUE', `The "${name}" option must be one of ${choices.map((one) => `'${one}'`).join(', ')}`, value);
}

const flagOr = (fallback: boolean, name: string, value: unknown): boolean => (value === undefined ? fallback : flag(name, value));

/**
 * Copies the file, link or directory at `from`, and everything in it, to `to`.
 *
 * ```js
 * const { files, bytes } = await copyTree('public', 'dist', { existing: 'keep' });
 * ```
 *
 * A directory is merged into one that is there, which keeps its permissions. Links are copied as
 * links. Holes of sparse files are kept. Permissions are those of the source; owner, extended
 * attributes and access control lists are not copied. Neither at `to` nor below it a link is
 * followed. Nothing is flushed: after a power failure files may be missing, empty or torn. A
 * process that exits ends the call: a file that was begun is finished.
 *
 * @throws TreeError if entries could not be copied; the others are copied. Also if `to` is `from`
 * or in it, and for pipes, sockets and devices. TypeError for wrong arguments. An error with the
 * code ERR_SMALLFRY_NOT_NATIVE without the native addon, and on Windows
 */
export async function copyTree(from: PathLike, to: PathLike, options?: CopyTreeOptions): Promise<TreeCounts> {
  const given = optionsOf(options);
  const [source, copy] = [pathText(from), pathText(to)];
  const existing = choice('existing', given.existing, ['replace', 'keep', 'error']);
  const links = choice('links', given.links, ['keep', 'absolute']);
  const bits = (existing === 'keep' ? KEEP_EXISTING : 0) | (existing === 'error' ? CREATE_NEW : 0) |
    (links === 'absolute' ? ABSOLUTE_LINKS : 0) | (flag('times', given.times) ? TIMES : 0) |
    (flagOr(true, 'hardLinks', given.hardLinks) ? HARD_LINKS : 0) | (flagOr(true, 'clone', given.clone) ? 0 : NO_CLONE) |
    (flag('createParents', given.createParents) ? CREATE_PARENTS : 0) | (flagOr(true, 'mounts', given.mounts) ? MOUNTS : 0);
  const threads = threadsOf(given.threads);
  const native = nativeHere();
  if (native?.copyTree === undefined) throw needsNative('copyTree', 'Use fs.cp');
  return run(source, given, (id) => { native.copyTree?.(source, copy, id, 0, bits, threads, undefined); });
}

/**
 * Removes the file, link or directory at `path`, and everything in it.
 *
 * ```js
 * await removeTree('node_modules', { force: true });
 * ```
 *
 * A link is removed itself, at the path and below it. Another program may exchange directories and
 * links meanwhile: what they lead to stays. Nothing of this is flushed.
 *
 * @throws TreeError if entries could not be removed; the others are removed. Also for a path that
 * ends in `.` or `..`, or is the root directory. TypeError for wrong arguments. An error with the
 * code ERR_SMALLFRY_NOT_NATIVE without the native addon, and on Windows
 */
export async function removeTree(path: PathLike, options?: RemoveTreeOptions): Promise<TreeCounts> {
  const given = optionsOf(options);
  const text = pathText(path);
  const bits = (flag('force', given.force) ? MISSING_OK : 0) | (flag('mounts', given.mounts) ? MOUNTS : 0);
  const threads = threadsOf(given.threads);
  const native = nativeHere();
  if (native?.removeTree === undefined) throw needsNative('removeTree', 'Use fs.rm with `recursive`');
  return run(text, given, (id) => { native.removeTree?.(text, id, 0, bits, threads); });
}
