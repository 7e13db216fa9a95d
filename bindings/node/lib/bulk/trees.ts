// Copies or removes a tree in one call.

import { flag, optionsOf, type PathLike, pathText, threadsOf } from '../core/many.js';
import { nativeHere, needsNative } from '../core/native.js';
import {
  ABSOLUTE_LINKS, CREATE_NEW, CREATE_PARENTS, HARD_LINKS, KEEP_EXISTING, MISSING_OK, MOUNTS, NO_CLONE, TIMES,
} from '../core/option-bits.js';
import { choice, countsOf, flagOr, run, type TreeCounts, type TreeOptions } from './tree-calls.js';

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
  return countsOf(await run(source, given, (id) => native.copyTree?.(source, copy, id, 0, bits, threads, undefined)));
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
  return countsOf(await run(text, given, (id) => native.removeTree?.(text, id, 0, bits, threads)));
}
