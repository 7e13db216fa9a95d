// What a write must survive: the options that say so, and the functions that belong to them.

import fs = require('node:fs');
import path = require('node:path');
import util = require('node:util');

import { refused } from './many.js';
import { FLUSH_DATA, type FLUSH_FILE, FLUSH_FULL, FLUSH_NOTHING, IN_PLACE_IF_BUSY, REPLACE } from './option-bits.js';
import { nativePath } from './options.js';

/**
 * What of a write must survive a crash of the system, such as a power failure, once the call has returned or its promise is
 * fulfilled.
 *
 * - `'none'`: nothing. What was written is in the system's memory, which a crash of the program does not touch. The default.
 * - `'data'`: the contents and the size of the file (fdatasync). Of a new file the name may be lost, and the file with it.
 * - `'full'`: the name as well (fsync, also of the directory, and of those above directories that were made).
 */
export type Durability = 'none' | 'data' | 'full';

/**
 * What `writeFile`, `appendFile`, `writeFiles` and their `Sync` and promise forms take besides node:fs's options.
 *
 * ```js
 * import { writeFiles, writeFileSync } from 'smallfry';
 *
 * // From here on the file holds this, whatever happens to the machine; before, what it held, and never a mixture.
 * writeFileSync('settings.json', text, { durability: 'full', replace: true });
 * // As many as you like, for about the price of one.
 * await writeFiles(pages, { createParents: true, durability: 'full', replace: true });
 * ```
 *
 * Flushing takes milliseconds. Calls for single files that are made together wait together, where they write whole files of
 * up to 1 MiB: they are done as one batch. Of `flush` and `durability` the stronger counts.
 *
 * A call that was aborted before it began fails with `AbortError`; after that a `signal` stops it only if its data are an
 * iterable.
 *
 * Errors have the system call and the path that it was about: `EIO: i/o error, fsync 'settings.json'`; the directory's, if
 * flushing that failed; both paths for `rename`. A flush that failed is not to be tried again: the system may have thrown
 * away what it could not write, and a second flush would succeed without it. Write the file anew.
 *
 * With `smallfry/register`, where any code of the process calls these functions, a `replace` that is no boolean is passed
 * over if it is the only one of them; everywhere else it is an error.
 *
 * Not promised: that a disk obeys; names of directories that were there already and were never flushed; an order between
 * files.
 */
export interface DurabilityOptions {
  /** What must survive a crash of the system. */
  durability?: Durability | null | undefined;
  /**
   * Put a new file in the place of the old one, in one step: whoever opens it finds the old contents or the new ones, whole,
   * also after a crash of the program, and from `durability: 'data'` on after one of the system.
   *
   * A temporary file, with a name like `.settings.json.0123456789abcdef.smallfry`, is written beside the file, gets its permissions,
   * owner, access control list and extended attributes, and takes its name. A symbolic link stays and what it leads to is
   * replaced; one that leads nowhere is an error. Other hard links keep the old contents. An error leaves no temporary file, the end of
   * the process by a signal may: {@link removeTemporaryFiles}. Additions begin with a copy of what is there; those of one process
   * take turns.
   *
   * Only with the flags `'w'`, `'w+'`, `'a'` and `'a+'`, not for descriptors and FileHandles, not with `createNew`. Data that
   * are an iterable are gathered in memory first. Without the native addon the call fails with `ERR_SMALLFRY_NOT_NATIVE`
   * before anything is touched.
   */
  replace?: boolean | null | undefined;
  /**
   * With `replace`: write into the file that is there if it cannot be exchanged because something is mounted on it, as on
   * `/etc/hosts` in many containers. A crash may then leave it torn.
   */
  inPlaceIfBusy?: boolean | null | undefined;
}

/** What a write flushes. */
export type Level = typeof FLUSH_NOTHING | typeof FLUSH_DATA | typeof FLUSH_FILE | typeof FLUSH_FULL;

/** The durability options of a write, checked. */
export interface Durable {
  readonly level: Level;
  readonly replace: boolean;
  readonly inPlaceIfBusy: boolean;
}

/** Returns the bits for native code. */
export function bitsOf({ level, replace, inPlaceIfBusy }: Durable): number {
  return level | (replace ? REPLACE : 0) | (inPlaceIfBusy ? IN_PLACE_IF_BUSY : 0);
}

const LEVELS = new Map<unknown, Level>([['none', FLUSH_NOTHING], ['data', FLUSH_DATA], ['full', FLUSH_FULL]]);

let sparesStrangers = false;

/** From now on code that knows nothing of these options gives them to node:fs's functions: `replace` alone may be its own. */
export function spareStrangers(): void {
  sparesStrangers = true;
}

/**
 * Reads the options for it.
 *
 * @param isOurs whether the function is none of node:fs's
 * @returns undefined if nothing is asked
 * @throws what node:fs throws for options that are wrong
 */
export function durableOf(options: unknown, isOurs = false): Durable | undefined {
  if (typeof options !== 'object' || options === null) return undefined;
  // It has a `replace` of its own.
  if (options instanceof String) return undefined;
  const { durability, replace, inPlaceIfBusy } = options as Record<string, unknown>;
  if (sparesStrangers && !isOurs && typeof replace !== 'boolean' && durability === undefined && inPlaceIfBusy === undefined) return undefined;
  if (durability === undefined && replace === undefined && inPlaceIfBusy === undefined) return undefined;
  const level = LEVELS.get(durability ?? 'none');
  if (level === undefined) {
    throw refused('ERR_INVALID_ARG_VALUE', 'The property \'options.durability\' must be one of: \'none\', \'data\', \'full\'', durability);
  }
  const durable = { level, replace: yes('replace', replace), inPlaceIfBusy: yes('inPlaceIfBusy', inPlaceIfBusy) };
  return level === FLUSH_NOTHING && !durable.replace ? undefined : durable;
}

function yes(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  if (value === undefined || value === null) return false;
  const error = new TypeError(`The "options.${name}" property must be of type boolean. Received ${kindOf(value)}`);
  throw Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' });
}

/** A value as node:fs names one of a wrong type. */
function kindOf(value: unknown): string {
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value === 'object' && value !== null) {
    const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
    return typeof name === 'string' && name !== '' ? `an instance of ${name}` : util.inspect(value, { depth: -1 });
  }
  if (typeof value === 'string' && value.length > 28) return `type string ('${value.slice(0, 25)}...')`;
  return `type ${typeof value} (${util.inspect(value, { colors: false })})`;
}

/** Adds the path to an error of a system call on an open file. */
export function named(error: unknown, of: string): unknown {
  if (!(error instanceof Error)) return error;
  const { path: known, syscall } = error as NodeJS.ErrnoException;
  if (typeof syscall === 'string' && known === undefined) {
    error.message += ` '${of}'`;
    (error as NodeJS.ErrnoException).path = of;
  }
  return error;
}

/** A directory as text, or undefined where directories are not flushed; node:fs says what is wrong with a path. */
function directoryOf(directory: string | Buffer | URL): string | undefined {
  if (process.platform === 'win32') return undefined;
  const given = nativePath(directory);
  // To be opened in vain.
  return given === undefined ? (directory as string) : Buffer.from(given as string).toString();
}

/**
 * Flushes a directory: the names in it, as they are now. For who renames files without `replace`, or links or removes them.
 * Windows has no such call, and nothing happens.
 *
 * Rejects as `fs.promises.open` and `filehandle.sync` do, with the path.
 *
 * ```js
 * await fs.promises.rename('report.new', 'report.txt');
 * await flushDirectory('.');
 * ```
 */
export async function flushDirectory(directory: string | Buffer | URL): Promise<void> {
  const name = directoryOf(directory);
  if (name === undefined) return;
  const handle = await fs.promises.open(name, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    await handle.sync();
  } catch (error) {
    throw named(error, name);
  } finally {
    await handle.close();
  }
}

/** As {@link flushDirectory}, blocking. */
export function flushDirectorySync(directory: string | Buffer | URL): void {
  const name = directoryOf(directory);
  if (name === undefined) return;
  const fd = fs.openSync(name, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    throw named(error, name);
  } finally {
    fs.closeSync(fd);
  }
}

/** Names that temporary files have. */
const DRAFT = /^\..*\.[0-9a-f]{16}\.smallfry$/su;

/**
 * Removes temporary files that were left in `directory`, not below it, by a process that was killed or by a power failure: files with
 * names as `replace` makes them that were not written to for `unused` milliseconds. Gives their paths.
 *
 * Nothing tells a temporary file that is left from one that is being written but its age, so that should be longer than any batch
 * takes: an hour, say. Rejects with node:fs's error if the directory cannot be listed or a temporary file not removed; those before it
 * are gone.
 *
 * ```js
 * const removed = await removeTemporaryFiles('cache', { unused: 3_600_000 });
 * ```
 */
export async function removeTemporaryFiles(directory: string, { unused }: { unused: number }): Promise<string[]> {
  if (typeof unused !== 'number' || !(unused >= 0)) {
    throw refused('ERR_INVALID_ARG_VALUE', 'The property \'options.unused\' must be a number of milliseconds from 0 up', unused);
  }
  const removed: string[] = [];
  for (const name of await fs.promises.readdir(directory)) {
    if (!DRAFT.test(name)) continue;
    const temporary = path.join(directory, name);
    try {
      const status = await fs.promises.lstat(temporary);
      if (!status.isFile() || Date.now() - status.mtimeMs < unused) continue;
      await fs.promises.unlink(temporary);
      removed.push(temporary);
    } catch (error) {
      // Somebody else has removed it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return removed;
}
