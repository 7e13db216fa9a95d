// Copies trees as `fs.cp` does with `recursive`.
//
// Native code copies all that it can. Then node:fs is given each entry that failed, so that errors
// are its own.

import fs = require('node:fs');
import path = require('node:path');

import { type TreeCopy, type TreeOutcome } from '../addon.js';
import { mayCopy, mayCopySync } from '../heard.js';
import { metadataPromises } from '../metadata/index.js';
import { native } from '../native.js';
import { ABSOLUTE_LINKS, CREATE_NEW, CREATE_PARENTS, FOLLOW_LINKS, LINKS_REPLACE_NOTHING, MOUNTS, TIMES } from '../option-bits.js';
import { original, uncounted } from '../../original.js';
import { type Filter, find, findSync, type Found } from './filtered.js';
import { callBack, later } from './later.js';
import { hasFailed, isUsable, once, type Path, plainPath } from './usable.js';

const DEFAULTS = {
  dereference: false, errorOnExist: false, filter: undefined, force: true, mode: 0, preserveTimestamps: false, recursive: false,
  verbatimSymlinks: false,
};

interface Plan extends Path {
  bits: number;
  filter: Filter | undefined;
  /** True if the copy follows links. */
  follows: boolean;
  /**
   * Native code does the copy only if nothing is there. Otherwise node:fs writes through links that
   * are in the place of copies, or looks at each entry that is there.
   */
  onlyNew: boolean;
}

/** Plans a call for native code; undefined if node:fs has to do it. */
function plan(from: unknown, to: unknown, options: unknown): Plan | undefined {
  if (typeof options !== 'object' || options === null || Array.isArray(options) || !isUsable()) return undefined;
  const given: Record<string, unknown> = { ...DEFAULTS, ...options };
  const { dereference, errorOnExist, filter, force, mode, preserveTimestamps, verbatimSymlinks } = given;
  // Native code shares blocks in any case where it can do that, which is on Linux.
  const isMode = mode === 0 || (mode === fs.constants.COPYFILE_FICLONE && process.platform === 'linux');
  if (given.recursive !== true || !isMode) return undefined;
  if (![dereference, errorOnExist, force, preserveTimestamps, verbatimSymlinks].every((one) => typeof one === 'boolean')) return undefined;
  if (dereference === true && verbatimSymlinks === true) return undefined;
  // Versions of Node differ in the errors for directories that are there.
  if (force === false && errorOnExist === true) return undefined;
  // With a filter directories would have to get their times here, and links are not listed. It may
  // write files.
  if (filter !== undefined && (typeof filter !== 'function' || preserveTimestamps || dereference || !force)) return undefined;
  const [source, copy] = [plainPath(from), plainPath(to)];
  if (source === undefined || copy === undefined) return undefined;
  const follows = dereference === true;
  const links = follows ? FOLLOW_LINKS : verbatimSymlinks === true ? 0 : ABSOLUTE_LINKS;
  const bits = CREATE_PARENTS | LINKS_REPLACE_NOTHING | MOUNTS | (preserveTimestamps === true ? TIMES : 0) |
    (force === true ? 0 : CREATE_NEW) | links;
  return { from: source, to: copy, bits, filter: filter as Filter | undefined, follows, onlyNew: follows || force !== true };
}

/** Has Node load the functions that its own `cp` calls, as `remove.ts` does for `rm`. */
const loadNodes = once(() => { uncounted.cp('', '', () => undefined); });
const loadNodesSync = once(() => {
  try {
    uncounted.cpSync('', '');
  } catch {
    // An empty path leads nowhere.
  }
});

/** The error of an entry as `many.ts` reads it: code, path, perhaps a text, and a destination. */
type Failed = [code: number, path: string, text?: string, destination?: string];

/** Returns the paths of the entries that were not copied. */
function failedOf({ from, to }: Path, [, , , errors]: TreeOutcome): Path[] {
  const [source, copy] = [from, to].map((one) => one.replace(/\/+$/, '')) as [string, string];
  return errors.map((error): Path => {
    if (!Array.isArray(error)) return { from, to };
    const [, first, , second] = error as Failed;
    if (second !== undefined) return { from: first, to: second };
    // Errors of directories name one path.
    const isOf = (root: string) => first === root || first.startsWith(`${root}/`);
    if (isOf(copy)) return { from: source + first.slice(copy.length), to: first };
    return isOf(source) ? { from: first, to: copy + first.slice(source.length) } : { from, to };
  });
}

/** Returns the arguments of native code for a copy of a tree, or of the entries of it. */
const callOf = ({ from, to, bits }: Plan, entries: readonly string[] | undefined): TreeCopy => (
  { from, to, bits, threads: 0, method: 0, exclude: '', entries: entries?.join('\0') }
);

/** Copies a tree, or the entries of it that are given. node:fs does the entries that fail. */
async function copy(planned: Plan, options: object, entries?: readonly string[]): Promise<void> {
  const outcome = await later(planned.from, (id) => native?.copyTree({ id, ...callOf(planned, entries) })) as TreeOutcome;
  if (!hasFailed(outcome)) return;
  for (const one of failedOf(planned, outcome)) await original.promises.cp(one.from, one.to, { ...options, filter: undefined });
}

/** Does a copy with a filter. node:fs does the unusual cases before the filter is asked. */
async function copyFiltered(planned: Plan, filter: Filter, options: object): Promise<void> {
  const { lstat } = original.promises;
  const [source, there] = await Promise.all([planned.from, planned.to].map((one) => lstat(one).catch(without)));
  if (!source?.isDirectory() || there?.isDirectory() === false || isInside(planned)) {
    await original.promises.cp(planned.from, planned.to, options);
    return;
  }
  const found = await find(planned, there === undefined, filter);
  if (found === undefined) return;
  if (found.entries.length > 0) await copy(planned, options, found.entries);
  await Promise.all(found.made.map((one) => metadataPromises.chmod(one.path, one.mode & 0o7777)));
}

/** Does a copy to where nothing is. node:fs does it if anything is there. */
async function copyNew(planned: Plan, options: object): Promise<void> {
  const there = await original.promises.lstat(planned.to).catch(without);
  if (there === undefined) await copy(planned, options);
  else await original.promises.cp(planned.from, planned.to, options);
}

/** Returns the status in place of an error: undefined for nothing, and else one that is unusual. */
const without = (error: unknown): Pick<fs.Stats, 'isDirectory'> | undefined =>
  ((error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : { isDirectory: () => false });

function lookSync(one: string): Pick<fs.Stats, 'isDirectory'> | undefined {
  try {
    return original.lstatSync(one);
  } catch (error) {
    return without(error);
  }
}

const isIn = (one: string, other: string): boolean => `${one}/`.startsWith(`${other}/`);

/** Tells whether the copy would be in its source, by the names of both. */
const isInsideByName = ({ from, to }: Path): boolean => isIn(path.resolve(to), path.resolve(from));

/** Tells whether the copy would be in its source, an existing directory, by name or by links. */
const isInside = (paths: Path): boolean => isInsideByName(paths) || isIn(existing(paths.to), existing(paths.from));

/** Returns the path without links of the part that exists. */
function existing(part: string): string {
  for (let next = path.resolve(part); ; next = path.dirname(next)) {
    try {
      return original.realpathSync.native(next);
    } catch {
      if (next === path.dirname(next)) return next;
    }
  }
}

type AnyFunction = (...args: unknown[]) => unknown;

/** Does a copy that was planned. */
function begin(planned: Plan, options: unknown): Promise<void> {
  loadNodes();
  const given = { ...(options as object) };
  if (planned.filter !== undefined) return copyFiltered(planned, planned.filter, given);
  return planned.onlyNew ? copyNew(planned, given) : copy(planned, given);
}

/** Does `fs.cp`. */
export const cp = ((from: unknown, to: unknown, options: unknown, callback: unknown) => {
  const planned = typeof callback === 'function' && mayCopy() ? plan(from, to, options) : undefined;
  if (planned === undefined) return (original.cp as AnyFunction)(from, to, options, callback);
  callBack(callback, begin(planned, options), undefined);
  return undefined;
}) as AnyFunction as typeof original.cp;

/** Does `fs.promises.cp`. */
export const cpPromised = ((from: unknown, to: unknown, options: unknown) => {
  const planned = mayCopy() ? plan(from, to, options) : undefined;
  return planned === undefined ? (original.promises.cp as AnyFunction)(from, to, options) : begin(planned, options);
}) as AnyFunction as typeof original.promises.cp;

/** Does `fs.cpSync`. */
export const cpSync = ((from: unknown, to: unknown, options: unknown) => {
  const planned = mayCopySync() ? plan(from, to, options) : undefined;
  // What Node's own cpSync does with links differs between its versions.
  if (planned === undefined || planned.follows) return (original.cpSync as AnyFunction)(from, to, options);
  loadNodesSync();
  const { filter } = planned;
  const [source, there] = [lookSync(planned.from), lookSync(planned.to)];
  if (planned.onlyNew && there !== undefined) return (original.cpSync as AnyFunction)(from, to, options);
  const isTree = source?.isDirectory() === true;
  // Node 24 copies such a tree into itself until the process ends with an exception of C++.
  if (isTree && !isInsideByName(planned) && isInside(planned)) {
    const reason = `Cannot copy '${planned.from}' to '${planned.to}', which is in it by a link`;
    throw Object.assign(new Error(reason), { code: 'ERR_FS_CP_EINVAL', path: planned.to });
  }
  let found: Found | undefined;
  if (filter !== undefined) {
    if (!isTree || there?.isDirectory() === false || isInsideByName(planned)) {
      return (original.cpSync as AnyFunction)(from, to, options);
    }
    found = findSync(planned, there === undefined, filter);
    if (found === undefined) return undefined;
  } else if (isTree && there?.isDirectory() === true && native?.linksHaveEntriesInTheWay(planned.from, planned.to) === 1) {
    // The errors of a link that is copied by itself are others than in a tree.
    return (original.cpSync as AnyFunction)(from, to, options);
  }
  if (found === undefined || found.entries.length > 0) {
    const outcome = native?.copyTreeSync(callOf(planned, found?.entries));
    // Node's own copies the entries that failed, or throws their errors.
    const failed = outcome === undefined ? [planned] : failedOf(planned, outcome);
    for (const one of failed) {
      // A filter changes the errors of links in a tree, but not those of a link by itself.
      const isInTree = found !== undefined && one.from !== planned.from;
      const [source, copy] = isInTree ? [path.dirname(one.from), path.dirname(one.to)] : [one.from, one.to];
      original.cpSync(source, copy, { ...(options as object), filter: (entry) => !isInTree || entry === source || isIn(entry, one.from) });
    }
  }
  for (const one of found?.made ?? []) original.chmodSync(one.path, one.mode);
  return undefined;
}) as AnyFunction as typeof original.cpSync;
