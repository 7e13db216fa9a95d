// What is said otherwise on Windows: paths, to the system and in errors, and modes.

import path = require('node:path');

const isWindows = process.platform === 'win32';

/** Windows knows no longer path, in UTF-16 units: to make one absolute would only take time. */
const LONGEST = 32_767;

/**
 * A path as node:fs hands it to the system. On Windows that is an absolute one behind `\\?\`, whose names are taken
 * literally and which may be long; elsewhere it is what was given.
 */
export const systemPath: (text: string) => string = isWindows
  ? (text) => (text.length > LONGEST ? text : path.toNamespacedPath(text))
  : (text) => text;

/** A path as node:fs names it in errors: as the system saw it, where a lone surrogate is U+FFFD, but without the prefix. */
export const shownPath: (text: string) => string = isWindows
  ? (text) => withoutPrefix(path.toNamespacedPath(text)).toWellFormed()
  : (text) => text.toWellFormed();

function withoutPrefix(text: string): string {
  if (text.startsWith('\\\\?\\UNC\\')) return `\\\\${text.slice(8)}`;
  return text.startsWith('\\\\?\\') ? text.slice(4) : text;
}

/** Whether native code takes a path that is given as bytes. On Windows paths are not made of them. */
export const takesBytes = !isWindows;

/**
 * Permissions of a new file as the system is to have them. On Windows it knows no umask, and that of the C runtime is
 * known to the program alone.
 */
export const systemMode: (mode: number) => number = isWindows
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- it is set to 0 for a moment, as libuv does for each open
  ? (mode) => mode & ~process.umask()
  : (mode) => mode;
