// Paths of files, given as such or as URLs.

import path = require('node:path');
import url = require('node:url');

import { refused } from '../core/many.js';

const isWindows = process.platform === 'win32';

/**
 * Matches a file URL that contains its path as it is: no host, nothing encoded, no query, no dots
 * or separators that a URL drops. On Windows, node:url converts all URLs.
 */
const PLAIN = isWindows ? /^(?!)/ : /^file:\/\/(?!.*\/\.)(?=\/)[!-~]*$/;
const SPECIAL = /[%?#\\|]/;

/**
 * Does what `fileURLToPath` of node:url does, faster for URLs with nothing to decode.
 *
 * @throws what node:url throws: ERR_INVALID_URL, ERR_INVALID_URL_SCHEME, ERR_INVALID_FILE_URL_HOST,
 * ERR_INVALID_FILE_URL_PATH
 */
export function fileURLToPath(from: string | URL): string {
  if (typeof from === 'string' && PLAIN.test(from) && !SPECIAL.test(from)) return from.slice(7);
  return url.fileURLToPath(from);
}

const F = 102;

/** Converts a path, or a file URL as an object or a string, to a path. */
export function pathOf(given: unknown): string {
  if (typeof given === 'string') {
    return (given.charCodeAt(0) | 32) === F && /^file:/i.test(given) ? fileURLToPath(given) : given;
  }
  if (given instanceof URL) return url.fileURLToPath(given);
  throw refused('ERR_INVALID_ARG_TYPE', 'The "path" argument must be a string or a URL', given);
}

/** Converts a path as {@link pathOf} does, and makes it absolute. */
export function absolute(given: unknown): string {
  return path.resolve(pathOf(given));
}

const SLASH = 47;
const BACKSLASH = 92;
const DOT = 46;

/**
 * Returns the directory of a file with its last separator: every file directly in it has the same
 * answer. Undefined if the text alone does not say: for a relative path, a URL, a path that ends in
 * dots, or one that no file can have.
 */
export function directoryOf(file: string): string | undefined {
  if (isWindows ? file.charCodeAt(1) !== 58 : file.charCodeAt(0) !== SLASH) return undefined;
  let end = file.length - 1;
  for (; end >= 0; end--) {
    const code = file.charCodeAt(end);
    if (code === SLASH || (isWindows && code === BACKSLASH)) break;
    if (code === 0) return undefined;
  }
  return endsInDots(file, end + 1) ? undefined : file.slice(0, end + 1);
}

/**
 * Tells whether a file is directly in a directory of {@link directoryOf}. Neighbours are found so
 * without a table.
 */
export function isDirectlyIn(file: string, directory: string): boolean {
  const { length } = directory;
  // Comparing two strings is far faster than startsWith, which is slow for slices of other strings.
  return file.slice(0, length) === directory && !file.includes('/', length) && !file.includes('\0', length) &&
    !(isWindows && file.includes('\\', length)) && !endsInDots(file, length);
}

/**
 * Tells whether the name that begins there is `.` or `..`; true also for some other names of that
 * length.
 */
function endsInDots(file: string, start: number): boolean {
  return file.length - start <= 2 && file.charCodeAt(start) === DOT;
}
