// Converts paths and modes as Windows needs them. On other systems they stay as they are.

import path = require('node:path');

const isWindows = process.platform === 'win32';

/**
 * The maximum length of a path on Windows, in UTF-16 units. Longer paths are not made absolute,
 * which would only take time.
 */
const MAX_PATH = 32_767;

/**
 * Converts a path as node:fs does before it calls the system. On Windows that makes it absolute and
 * puts `\\?\` before it: the system then takes names literally, and allows long paths. On other
 * systems the path stays as it is.
 */
export const systemPath: (text: string) => string = isWindows
  ? (text) => (text.length > MAX_PATH ? text : path.toNamespacedPath(text))
  : (text) => text;

/**
 * Converts a path as node:fs shows it in errors: as the system got it, but without the prefix, and
 * with U+FFFD for a lone surrogate.
 */
export const shownPath: (text: string) => string = isWindows
  ? (text) => withoutPrefix(path.toNamespacedPath(text)).toWellFormed()
  : (text) => text.toWellFormed();

function withoutPrefix(text: string): string {
  if (text.startsWith('\\\\?\\UNC\\')) return `\\\\${text.slice(8)}`;
  return text.startsWith('\\\\?\\') ? text.slice(4) : text;
}

/** Tells whether native code takes the bytes of a path. On Windows paths are not made of bytes. */
export const takesBytes = !isWindows;

/**
 * Returns the permissions of a new file for the system. Windows has no umask, and only the program
 * knows that of its C runtime.
 */
export const systemMode: (mode: number) => number = isWindows
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- set to 0 for a moment, as by libuv
  ? (mode) => mode & ~process.umask()
  : (mode) => mode;
