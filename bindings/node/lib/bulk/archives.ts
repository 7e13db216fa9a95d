// Packs a tree into an archive, and unpacks one.

import { flag, optionsOf, type PathLike, pathText, positive, refused, threadsOf } from '../core/many.js';
import { nativeHere, needsNative } from '../core/native.js';
import {
  CREATE_NEW, KEEP_EXISTING, LAST_WINS, LINKS_MAY_LEAVE, PERMISSIONS, REPRODUCIBLE, TIMES,
} from '../core/option-bits.js';
import { choice, countsOf, flagOr, patternsOf, run, type TreeCounts, type TreeOptions } from './tree-calls.js';

export interface UnpackOptions extends TreeOptions {
  /** Drops so many names from the start of each path, and entries without more. 0 by default. */
  stripComponents?: number | undefined;
  /**
   * Leaves out entries that match one of these patterns, and everything in such directories. A
   * pattern without a slash is compared with names at any depth, another one with the whole path
   * below `to`. `*` and `?` stand for anything but `/`, and `**` as a whole name for any number of
   * directories.
   */
  exclude?: string | readonly string[] | undefined;
  /**
   * The treatment of a file that is there already: `'replace'` puts the new one in its place in one
   * step, `'keep'` leaves it alone, and `'error'` is an error. `'replace'` by default. Directories
   * are merged.
   */
  existing?: 'replace' | 'keep' | 'error' | undefined;
  /** Gives entries the times of modification that the archive states. True by default. */
  times?: boolean | undefined;
  /**
   * Gives entries exactly the permissions that the archive states, without subtracting the umask.
   * False by default. Bits that let a program run as the owner of its file are never set.
   */
  permissions?: boolean | undefined;
  /**
   * Makes also symbolic links to absolute paths and out of `to`, and those that may lead out by way
   * of another link, which are errors otherwise. Entries never go through them. False by default.
   */
  linksMayLeave?: boolean | undefined;
  /**
   * Lets the last of several entries of one name win, as in a tar that was appended to. The later
   * ones are errors otherwise. False by default.
   */
  lastWins?: boolean | undefined;
  /** Stops at an archive with more entries. No limit by default. */
  maxEntries?: number | undefined;
  /** Stops at an archive whose files have more bytes together. No limit by default. */
  maxBytes?: number | undefined;
  /** Stops at an archive that becomes more than so many times as large, and larger than 1 MiB. */
  maxRatio?: number | undefined;
}

/** A format of archives: a tar, one that gzip or zstd has compressed, or a zip. */
export type ArchiveFormat = 'tar' | 'tar.gz' | 'tar.zst' | 'zip';

export interface PackOptions extends TreeOptions {
  /**
   * The format. By default, the one that the name of the archive tells: `.tar`, `.tar.gz` or
   * `.tgz`, `.tar.zst` or `.tzst`, `.zip`.
   */
  format?: ArchiveFormat | undefined;
  /** The directory in the archive that entries are put in, such as `'package'`. None by default. */
  prefix?: string | undefined;
  /** As for {@link unpack}. A pattern with a slash is compared with the path below `from`. */
  exclude?: string | readonly string[] | undefined;
  /**
   * Makes the same archive of the same names and contents: with owner 0, permissions 0755 or 0644,
   * and times of 1970, or 1980 in a zip. False by default.
   */
  reproducible?: boolean | undefined;
  /**
   * The level of compression of a tar.gz or zip: from 1, which is fastest, to 9, which makes the
   * smallest archive. 6 by default.
   */
  level?: number | undefined;
}

/** Checks what is unpacked: a path, or bytes. */
function archiveOf(archive: unknown): string | ArrayBufferView {
  if (ArrayBuffer.isView(archive)) return archive;
  if (archive instanceof ArrayBuffer) return new Uint8Array(archive);
  if (typeof archive === 'string' || archive instanceof URL) return pathText(archive);
  const rule = 'The "archive" argument must be a path as a string or file: URL, or the bytes of an archive as a Buffer, TypedArray, ' +
    'DataView or ArrayBuffer';
  throw refused('ERR_INVALID_ARG_TYPE', rule, archive);
}

/** Checks the directory in an archive: names, and not `..`. */
function prefixOf(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string' && !value.startsWith('/') && !value.includes('\0') && !value.split('/').includes('..')) return value;
  throw refused('ERR_INVALID_ARG_VALUE', 'The "prefix" option must be a relative path without `..`', value);
}

/** Checks a whole number; 0 for none. */
function wholeNumber(name: string, value: unknown, min: number, max: number): number {
  if (value === undefined) return 0;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw refused('ERR_INVALID_ARG_VALUE', `The "${name}" option must be a whole number from ${min} to ${max}`, value);
}

/**
 * Unpacks an archive into the directory `to`, which is made if it is missing.
 *
 * ```js
 * const { files } = await unpack('node-v24.tar.gz', 'node', { stripComponents: 1 });
 * await unpack(Buffer.from(await response.arrayBuffer()), 'site', { maxBytes: 100_000_000 });
 * ```
 *
 * The archive is a tar, tar.gz, tar.zst or zip; its first bytes tell which. It is at a path, or in
 * memory; bytes are copied when the call is made. Bytes are never taken for those of a path.
 *
 * All entries stay in `to`, and no link is followed below it. These entries are errors, and the
 * rest is unpacked: absolute names and names with `..`, links that lead out, devices and pipes, and
 * a second entry of a name. Set `maxBytes` or `maxRatio` for archives from strangers. Owners are
 * not restored. Nothing is flushed: after a power failure files may be missing, empty or torn. A
 * process that exits ends the call: small files that were begun are finished, and a large one is
 * removed, as after an abort.
 *
 * @throws TreeError if entries could not be unpacked; the others are unpacked. An entry that is
 * refused has the code ERR_SMALLFRY_REFUSED and its path. So has an archive that is damaged,
 * truncated, of another format or beyond a limit, with the path of the archive. TypeError for wrong
 * arguments. An error with the code ERR_SMALLFRY_NOT_NATIVE without the native addon
 */
export async function unpack(
  archive: string | URL | ArrayBufferView | ArrayBuffer, to: PathLike, options?: UnpackOptions,
): Promise<TreeCounts> {
  const given = optionsOf(options);
  const existing = choice('existing', given.existing, ['replace', 'keep', 'error']);
  const call = {
    archive: archiveOf(archive),
    to: pathText(to),
    bits: (existing === 'keep' ? KEEP_EXISTING : 0) | (existing === 'error' ? CREATE_NEW : 0) |
      (flagOr(true, 'times', given.times) ? TIMES : 0) | (flag('permissions', given.permissions) ? PERMISSIONS : 0) |
      (flag('linksMayLeave', given.linksMayLeave) ? LINKS_MAY_LEAVE : 0) | (flag('lastWins', given.lastWins) ? LAST_WINS : 0),
    threads: threadsOf(given.threads),
    stripComponents: wholeNumber('stripComponents', given.stripComponents, 0, 0xffff),
    maxEntries: positive('maxEntries', given.maxEntries, 0),
    maxBytes: positive('maxBytes', given.maxBytes, 0),
    maxRatio: positive('maxRatio', given.maxRatio, 0),
    exclude: patternsOf('exclude', given.exclude).join('\0'),
  };
  const native = nativeHere();
  if (native === undefined) throw needsNative('unpack', 'Use a package for archives');
  const path = typeof call.archive === 'string' ? call.archive : '';
  return countsOf(await run(path, given, (id) => native.unpack({ id, ...call })));
}

/**
 * Packs the directory at `from` into an archive, which replaces an older one in one step.
 *
 * ```js
 * await pack('dist', 'dist.tar.gz', { exclude: '*.map', reproducible: true });
 * ```
 *
 * The archive holds what is in the directory, so that {@link unpack} makes the same directory
 * again. A file or link at `from` is packed under its own name. Entries are sorted by name, and
 * links are packed as links. Further names of a file are hard links in a tar. Owners are those of
 * the files, unless the archive is to be reproducible; extended attributes and access control lists
 * are not packed. The archive itself is left out. Nothing is flushed. A process that exits ends the
 * call, and then no archive is left, as after an abort.
 *
 * @throws TreeError if entries could not be read; the others are packed. If the archive cannot be
 * written, none is left, and an old one stays. TypeError for wrong arguments. An error with the
 * code ERR_SMALLFRY_NOT_NATIVE without the native addon
 */
export async function pack(from: PathLike, archive: PathLike, options?: PackOptions): Promise<TreeCounts> {
  const given = optionsOf(options);
  const [source, text] = [pathText(from), pathText(archive)];
  const format = choice('format', given.format, ['tar', 'tar.gz', 'tar.zst', 'zip']);
  const call = {
    from: source,
    archive: text,
    format: format === undefined ? text : `archive.${format}`,
    prefix: prefixOf(given.prefix),
    bits: flag('reproducible', given.reproducible) ? REPRODUCIBLE : 0,
    level: wholeNumber('level', given.level, 1, 9),
    threads: threadsOf(given.threads),
    exclude: patternsOf('exclude', given.exclude).join('\0'),
  };
  const native = nativeHere();
  if (native === undefined) throw needsNative('pack', 'Use a package for archives');
  return countsOf(await run(source, given, (id) => native.pack({ id, ...call })));
}
