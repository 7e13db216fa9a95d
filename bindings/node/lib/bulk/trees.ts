// Copies, mirrors or removes a tree in one call.

import { type TreeOutcome } from '../core/addon.js';
import { flag, optionsOf, type PathLike, pathText, threadsOf } from '../core/many.js';
import { nativeHere, needsNative } from '../core/native.js';
import {
  ABSOLUTE_LINKS, ATTRIBUTES, COMPARE_CONTENTS, CREATE_NEW, CREATE_PARENTS, DELETE, DRY_RUN, FLUSH_DATA, FLUSH_FULL, FOLLOW_LINKS,
  HARD_LINKS, KEEP_EXISTING, MISSING_OK, MOUNTS, NO_CLONE, ONLY_IF_CHANGED, OWNER, PERMISSIONS, SKIP_SPECIAL, TIMES,
} from '../core/option-bits.js';
import { choice, countsOf, flagOr, patternsOf, run, type TreeCounts, type TreeOptions } from './tree-calls.js';

/** The ways of copying, by the numbers that native code knows. */
const METHODS = ['auto', 'clone', 'hard-link', 'copy'] as const;

const LEVELS = ['none', 'data', 'full'] as const;

export interface CopyTreeOptions extends TreeOptions {
  /**
   * The treatment of a file that is there already: `'replace'` puts the copy in its place in one
   * step, `'keep'` leaves it alone, and `'error'` is an error. `'replace'` by default. Directories
   * are merged.
   */
  existing?: 'replace' | 'keep' | 'error' | undefined;
  /**
   * The way in which a copy comes to its contents. `'auto'` shares blocks with the source until one
   * of both changes, where the file system can do that (Btrfs, XFS, APFS, ReFS). `'clone'` does so
   * or is an error, and `'copy'` never does. `'hard-link'` makes a hard link to the source, with its
   * permissions, owner, attributes and times, as by `cp -lP`. The system refuses that between file
   * systems. `'auto'` by default.
   */
  method?: 'auto' | 'clone' | 'hard-link' | 'copy' | undefined;
  /**
   * The treatment of symbolic links: `'keep'` copies them with the same targets. `'absolute'` makes
   * relative targets absolute, the paths that they have in the source, as `fs.cp` does. `'follow'`
   * copies the file or directory that a link leads to in its place, as `cp -L` does; a link that
   * leads to nothing is an error. That is also one on Windows. `'keep'` by default.
   */
  links?: 'keep' | 'absolute' | 'follow' | undefined;
  /**
   * Leaves out entries that match one of these patterns, and everything in such directories. A
   * pattern without a slash is compared with names at any depth, another one with the whole path
   * below `from`. `*` and `?` stand for anything but `/`, and `**` as a whole name for any number
   * of directories.
   */
  exclude?: string | readonly string[] | undefined;
  /** Gives the copies the times of access and modification of their sources. False by default. */
  times?: boolean | undefined;
  /**
   * Gives the copies the owners and groups of their sources, as `cp -p` does. Where the system
   * refuses that to a user other than root, a copy gets the group alone, or keeps its own. False by
   * default. On Windows it is an error, as are the next two.
   */
  owner?: boolean | undefined;
  /**
   * Gives the copies the access control lists of their sources. One that cannot be given is an
   * error. False by default.
   */
  accessLists?: boolean | undefined;
  /**
   * Gives the copies the extended attributes of their sources, except for those that the file
   * system of the copy does not have, or that the user may not set. False by default.
   */
  attributes?: boolean | undefined;
  /** Makes names of one file in the source names of one file in the copy. True by default. */
  hardLinks?: boolean | undefined;
  /**
   * Leaves a file as it is if it has the size and time of its source, and a link that has the same
   * target and time. It needs `times`, or each copy has a time of its own. False by default.
   */
  onlyIfChanged?: boolean | undefined;
  /**
   * Flushes the copy: with `'full'` all of it survives a power failure after the call, with `'data'`
   * the contents of files whose names do. Files that are replaced are the old or the new ones, and
   * each is flushed. ext4, XFS and Btrfs are flushed once for all others, at the end. `'none'` by
   * default.
   */
  durability?: 'none' | 'data' | 'full' | undefined;
  /** Makes missing directories above the destination. False by default. */
  createParents?: boolean | undefined;
  /** Copies what is in directories of other file systems. True by default. */
  mounts?: boolean | undefined;
  /** Leaves out pipes, sockets and devices, which are errors otherwise. False by default. */
  skipSpecial?: boolean | undefined;
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
  /** Lets copies share blocks with their sources, as the method `'auto'`. True by default. */
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
 * links. Holes of sparse files are kept. Permissions are those of the source; times, owner, access
 * control lists and extended attributes are copied if that is asked. Neither at `to` nor below it a
 * link is followed. Without `durability` nothing is flushed: after a power failure files may be
 * missing, empty or torn. A process that exits ends the call: a file that was begun is finished.
 *
 * No function is asked about each entry, since threads copy them, which would wait for JavaScript.
 * `cp` of `smallfry/fs` has a `filter`, and asks it about all entries before it copies files.
 *
 * On Windows a copy is read-only or hidden if its source is, and holes are filled with zeros.
 * Junctions are links. A symbolic link takes a privilege, or developer mode.
 *
 * @throws TreeError if entries could not be copied; the others are copied. Also if `to` is `from`
 * or in it, and for pipes, sockets and devices that are not left out. TypeError for wrong
 * arguments. An error with the code ERR_SMALLFRY_NOT_NATIVE without the native addon
 */
export async function copyTree(from: PathLike, to: PathLike, options?: CopyTreeOptions): Promise<TreeCounts> {
  const given = optionsOf(options);
  const existing = choice('existing', given.existing, ['replace', 'keep', 'error']);
  const links = choice('links', given.links, ['keep', 'absolute', 'follow']);
  const level = choice('durability', given.durability, LEVELS);
  const call = {
    from: pathText(from),
    to: pathText(to),
    bits: (level === 'full' ? FLUSH_FULL : level === 'data' ? FLUSH_DATA : 0) | (existing === 'keep' ? KEEP_EXISTING : 0) | (existing === 'error' ? CREATE_NEW : 0) |
      (links === 'absolute' ? ABSOLUTE_LINKS : 0) | (links === 'follow' ? FOLLOW_LINKS : 0) |
      (flag('times', given.times) ? TIMES : 0) | (flag('owner', given.owner) ? OWNER : 0) |
      (flag('accessLists', given.accessLists) ? PERMISSIONS : 0) | (flag('attributes', given.attributes) ? ATTRIBUTES : 0) |
      (flagOr(true, 'hardLinks', given.hardLinks) ? HARD_LINKS : 0) | (flag('onlyIfChanged', given.onlyIfChanged) ? ONLY_IF_CHANGED : 0) |
      (flag('createParents', given.createParents) ? CREATE_PARENTS : 0) | (flagOr(true, 'mounts', given.mounts) ? MOUNTS : 0) |
      (flag('skipSpecial', given.skipSpecial) ? SKIP_SPECIAL : 0),
    method: METHODS.indexOf(choice('method', given.method, METHODS) ?? 'auto'),
    threads: threadsOf(given.threads),
    exclude: patternsOf('exclude', given.exclude).join('\0'),
    entries: undefined,
  };
  const native = nativeHere();
  if (native === undefined) throw needsNative('copyTree', 'Use fs.cp');
  return countsOf(await run(call.from, given, (id) => native.copyTree({ id, ...call })));
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
 * error with the code ERR_SMALLFRY_NOT_NATIVE without the native addon
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
  if (native === undefined) throw needsNative('mirrorTree', 'Use fs.cp');
  const outcome = await run(call.from, given, (id) => native.mirrorTree({ id, ...call }), mirrorReportOf);
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
 * There is nothing like `smallfry rm --later`, which renames the tree and has another process
 * remove it. That takes a program that is there later, and looks for what a killed process has left.
 *
 * On Windows read-only files are removed. A file that another program has open and does not share
 * is waited for, up to a second in each directory.
 *
 * @throws TreeError if entries could not be removed; the others are removed. Also for a path that
 * ends in `.` or `..`, or is the root directory. TypeError for wrong arguments. An error with the
 * code ERR_SMALLFRY_NOT_NATIVE without the native addon
 */
export async function removeTree(path: PathLike, options?: RemoveTreeOptions): Promise<TreeCounts> {
  const given = optionsOf(options);
  const text = pathText(path);
  const bits = (flag('force', given.force) ? MISSING_OK : 0) | (flag('mounts', given.mounts) ? MOUNTS : 0);
  const threads = threadsOf(given.threads);
  const native = nativeHere();
  if (native === undefined) throw needsNative('removeTree', 'Use fs.rm with `recursive`');
  return countsOf(await run(text, given, (id) => native.removeTree(text, id, 0, bits, threads)));
}
