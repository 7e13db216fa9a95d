// Durable writes: their options, flushing directories, removing temporary files.

import fs = require('node:fs');
import path = require('node:path');

import { util } from '../builtins.js';
import { refused } from '../many.js';
import { FLUSH_DATA, type FLUSH_FILE, FLUSH_FULL, FLUSH_NOTHING, IN_PLACE_IF_BUSY, REPLACE } from '../option-bits.js';
import { nativePath } from '../options.js';

/**
 * The part of a write that survives a crash of the system, such as a power failure, once the call
 * has returned or its promise is fulfilled.
 *
 * - `'none'`: nothing. The data are in the system's memory, which a crash of the program does not
 *   touch. The default.
 * - `'data'`: the contents and the size of the file (fdatasync). A new file may lose its name,
 *   and is then lost itself.
 * - `'full'`: the name as well (fsync of the file, of its directory, and of directories above
 *   those that were made).
 */
export type Durability = 'none' | 'data' | 'full';

/**
 * The options of `writeFile`, `appendFile`, `writeFiles` and their `Sync` and promise forms besides
 * node:fs's options.
 *
 * ```js
 * import { writeFiles, writeFileSync } from 'smallfry';
 *
 * // A crash of the machine leaves the old contents or the new ones, never a mixture.
 * writeFileSync('settings.json', text, { durability: 'full', replace: true });
 * // All files share the flushes, so that many cost little more than one.
 * await writeFiles(pages, { createParents: true, durability: 'full', replace: true });
 * ```
 *
 * Flushing takes milliseconds. Calls for single files that are in flight at the same time share
 * their flushes if they write whole files of up to 1 MiB. If both `flush` and `durability` are
 * given, the stronger one counts.
 *
 * A call that was aborted before it began fails with `AbortError`. Later, a `signal` stops the call
 * only if its data are an iterable.
 *
 * Errors have the system call and its path: `EIO: i/o error, fsync 'settings.json'`. If flushing a
 * directory failed, that is the directory's path. An error of `rename` has both paths. Do not
 * repeat a flush that failed: the system may have thrown away the data, and a second flush would
 * succeed without them. Write the file anew.
 *
 * With `smallfry/register` any code of the process calls these functions. Then a `replace` that is
 * no boolean is ignored if it is the only one of these options. Everywhere else it is an error.
 *
 * Not promised: that the disk keeps what it has reported as flushed; that names of older
 * directories survive, if they were never flushed; an order between files.
 */
export interface DurabilityOptions {
  /** The part of the write that survives a crash of the system. */
  durability?: Durability | null | undefined;
  /**
   * Puts a new file in the place of the old one, in one step. A program that opens the file finds
   * all of the old contents or all of the new ones, also after a crash of this program. From
   * `durability: 'data'` on, this holds after a crash of the system too.
   *
   * A temporary file, with a name like `.settings.json.0123456789abcdef.smallfry`, is written
   * beside the file. It gets the file's permissions, owner, access control list and extended
   * attributes, and takes its name. A symbolic link stays, and the file that it leads to is
   * replaced; a link that leads nowhere is an error. Other hard links keep the old contents. An
   * error leaves no temporary file, but the end of the process by a signal may (see
   * {@link removeTemporaryFiles}). `appendFile` copies the old contents first. Calls of one process
   * that append to one file take turns.
   *
   * The flag must be `'w'`, `'w+'`, `'a'` or `'a+'`. Descriptors, FileHandles and `createNew` are
   * refused. Data that are an iterable are gathered in memory first. Without the native addon the
   * call fails with `ERR_SMALLFRY_NOT_NATIVE` before anything is touched.
   */
  replace?: boolean | null | undefined;
  /**
   * With `replace`, writes into the old file if it cannot be exchanged because something is mounted
   * on it, as on `/etc/hosts` in many containers. A crash may then leave a mixture of old and new
   * contents.
   */
  inPlaceIfBusy?: boolean | null | undefined;
}

/** The part of a file that a write flushes. */
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

let ignoresForeignReplace = false;

/**
 * Makes all later calls ignore a `replace` that is not smallfry's. Code that does not know smallfry
 * may pass one.
 */
export function ignoreForeignReplace(): void {
  ignoresForeignReplace = true;
}

/**
 * Reads and checks the durability options of a write.
 *
 * @param isOurs whether the function is one that node:fs does not have
 * @returns undefined if they ask for nothing
 * @throws what node:fs throws for wrong options
 */
export function durableOf(options: unknown, isOurs = false): Durable | undefined {
  if (typeof options !== 'object' || options === null) return undefined;
  // A String object has a method `replace`.
  if (options instanceof String) return undefined;
  const { durability, replace, inPlaceIfBusy } = options as Record<string, unknown>;
  if (ignoresForeignReplace && !isOurs && typeof replace !== 'boolean' && durability === undefined && inPlaceIfBusy === undefined) return undefined;
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

/** Describes a value of a wrong type, as node:fs does. */
function kindOf(value: unknown): string {
  if (typeof value === 'function') return `function ${value.name}`;
  if (typeof value === 'object' && value !== null) {
    const name: unknown = (value as { constructor?: { name?: unknown } }).constructor?.name;
    return typeof name === 'string' && name !== '' ? `an instance of ${name}` : util().inspect(value, { depth: -1 });
  }
  if (typeof value === 'string' && value.length > 28) return `type string ('${value.slice(0, 25)}...')`;
  return `type ${typeof value} (${util().inspect(value, { colors: false })})`;
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

/** Returns the path of a directory as text; undefined where directories are not flushed. */
function directoryOf(directory: string | Buffer | URL): string | undefined {
  if (process.platform === 'win32') return undefined;
  const given = nativePath(directory);
  // node:fs refuses this when it is opened, with an error of its own.
  return given === undefined ? (directory as string) : Buffer.from(given as string).toString();
}

/**
 * Flushes a directory: the names in it, as they are now. Use it after you have renamed files
 * without `replace`, or linked or removed files. On Windows, which has no such call, it does
 * nothing.
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

/** Flushes a directory, as {@link flushDirectory} does, and blocks until that is done. */
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

/** The names of temporary files. */
const TEMPORARY_NAME = /^\..*\.[0-9a-f]{16}\.smallfry$/su;

/**
 * Removes temporary files of `replace` that a killed process or a power failure has left in
 * `directory`, not below it. Gives the paths of the removed files.
 *
 * Only the age of a temporary file tells whether it is still being written. So files that were
 * written to in the last `unused` milliseconds are kept. Choose a time longer than any batch takes:
 * an hour, say. Rejects with node:fs's error if the directory cannot be listed or a temporary file
 * cannot be removed. The files before it are gone by then.
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
    if (!TEMPORARY_NAME.test(name)) continue;
    const temporary = path.join(directory, name);
    try {
      const status = await fs.promises.lstat(temporary);
      if (!status.isFile() || Date.now() - status.mtimeMs < unused) continue;
      await fs.promises.unlink(temporary);
      removed.push(temporary);
    } catch (error) {
      // Another process has removed it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return removed;
}
