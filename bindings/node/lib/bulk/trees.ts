// Copies, mirrors or removes a tree in one call.

import { type TreeOutcome } from '../core/addon.js';
import { flag, optionsOf, type PathLike, pathText, threadsOf } from '../core/many.js';
import { nativeHere, needsNative } from '../core/native.js';
import {
  ABSOLUTE_LINKS, COMPARE_CONTENTS, CREATE_NEW, CREATE_PARENTS, DELETE, DRY_RUN, HARD_LINKS, KEEP_EXISTING, MISSING_OK, MOUNTS, NO_CLONE,
  TIMES,
} from '../core/option-bits.js';
import { choice, countsOf, flagOr, patternsOf, run, type TreeCounts, type TreeOptions } from './tree-calls.js';

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

export interface MirrorTreeOptions extends TreeOptions {
  /** Deletes entries that are not in the source, but none that are excluded. False by default. */
  delete?: boolean | undefined;
  /**
   * The comparison of files of the same size: `'time'` takes those with the same time of
   * modification for the same, and `'contents'` those with the same bytes. `'time'` by default.
   */
  compare?: 'time' | 'contents' | undefined;
  /** Changes nothing, and only lists what would change. False by default. */
  dryRun?: boolean | undefined;
  /**
   * Leaves out entries that match one of these patterns, and everything in such directories. In the
   * mirror they stay as they are. A pattern without a slash is compared with names at any depth,
   * another one with the whole path below `from`.
   */
  exclude?: string | readonly string[] | undefined;
  /** Makes names of one file in the source names of one file in the mirror. True by default. */
  hardLinks?: boolean | undefined;
  /** As for {@link copyTree}. True by default. */
  clone?: boolean | undefined;
  /**
   * Mirrors what is in directories of other file systems. True by default. Without it a new one is
   * made empty, and what is in an older one stays.
   */
  mounts?: boolean | undefined;
}

/** A change of an entry, and its path below both directories, which have an empty one. */
export interface TreeChange {
  change: 'create' | 'update' | 'set attributes' | 'delete';
  path: string;
}

/** The entries that were changed in any way, as `files` and `directories`, and the others. */
export interface MirrorReport extends TreeCounts {
  /** The number of entries that were the same. */
  unchanged: number;
  /** The number of entries that were deleted. */
  deleted: number;
  /**
   * With `dryRun`, the changes. A new directory comes before its entries, a deleted one after them;
   * other entries have no order.
   */
  changes?: TreeChange[];
}

export interface RemoveTreeOptions extends TreeOptions {
  /** Takes a tree that is not there for removed. False by default. */
  force?: boolean | undefined;
  /** Removes what is in mount points, too, also of `mount --bind` on Linux. False by default. */
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

const mirrorReportOf = (outcome: TreeOutcome): MirrorReport => {
  const [, , , , , unchanged, deleted] = outcome;
  return { ...countsOf(outcome), unchanged, deleted };
};

function changesOf([, , , , , , , changes]: TreeOutcome): TreeChange[] {
  return Array.from({ length: changes.length / 2 }, (_, index) => (
    { change: changes[2 * index], path: changes[2 * index + 1] } as TreeChange
  ));
}

/**
 * Makes the directory `to` the same as the directory `from`, by copying only what has changed.
 *
 * ```js
 * const { changes } = await mirrorTree('photos', '/mnt/photos', { delete: true, dryRun: true });
 * await mirrorTree('photos', '/mnt/photos', { delete: true });
 * ```
 *
 * Each entry of `from` is then in `to`, with its kind, contents or target, permissions and time of
 * modification. Owner, extended attributes and access control lists are not copied. `to` is made if
 * it is missing. A file is replaced in one step. A directory in the place of a file or link is
 * replaced with `delete`, and is an error without. Below the two directories no link is followed.
 *
 * After an abort, or if the process ends, another call does the rest. Nothing is flushed: after a
 * power failure, call it with `compare: 'contents'`.
 *
 * @throws TreeError if entries are not the same or not deleted; the rest is done. Also if `from` is
 * no directory, or one of both directories is in the other one. TypeError for wrong arguments. An
 * error with the code ERR_SMALLFRY_NOT_NATIVE without the native addon, and on Windows
 */
export async function mirrorTree(from: PathLike, to: PathLike, options?: MirrorTreeOptions): Promise<MirrorReport> {
  const given = optionsOf(options);
  const compare = choice('compare', given.compare, ['time', 'contents']);
  const isDry = flag('dryRun', given.dryRun);
  const call = {
    from: pathText(from),
    to: pathText(to),
    bits: (flag('delete', given.delete) ? DELETE : 0) | (compare === 'contents' ? COMPARE_CONTENTS : 0) | (isDry ? DRY_RUN : 0) |
      (flagOr(true, 'hardLinks', given.hardLinks) ? HARD_LINKS : 0) | (flagOr(true, 'clone', given.clone) ? 0 : NO_CLONE) |
      (flagOr(true, 'mounts', given.mounts) ? MOUNTS : 0),
    threads: threadsOf(given.threads),
    exclude: patternsOf('exclude', given.exclude).join('\0'),
  };
  const native = nativeHere();
  if (native?.mirrorTree === undefined) throw needsNative('mirrorTree', 'Use fs.cp');
  const outcome = await run(call.from, given, (id) => native.mirrorTree?.({ id, ...call }), mirrorReportOf);
  const report = mirrorReportOf(outcome);
  return isDry ? { ...report, changes: changesOf(outcome) } : report;
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
