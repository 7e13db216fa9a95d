// Files that are closed later, where closing is slow.

import { closeErrors } from './close-errors.js';
import { refused } from './many.js';
import { native } from './native.js';

/**
 * The rule by which other threads close written files: `'auto'`, the default, where measuring shows
 * that closing is slow, `'always'` or `'never'`.
 */
export type ClosePolicy = 'auto' | 'always' | 'never';

const POLICIES = ['auto', 'always', 'never'];

/**
 * Waits until all files are closed that smallfry's functions have written so far. Gives the errors
 * of closing since the last call, as node:fs makes them: with `code`, `syscall` `'close'` and
 * `path`. Gives an empty array if there were none.
 *
 * Closing is slow on Windows and on network file systems, for example. There `writeFile`,
 * `writeFileSync`, `writeFiles` and the like are done when the bytes are written, and other threads
 * close the files. This function gives the errors that closing then reports, such as an exceeded
 * quota of a file server. When the process ends, errors that are left are printed to standard
 * error, and the exit code becomes 1 if it was 0. For writes that were in flight at `process.exit`,
 * errors are printed only.
 *
 * ```js
 * await writeFiles(pages);
 * for (const error of await drainCloses()) console.error(error.message);
 * ```
 */
export async function drainCloses(): Promise<Error[]> {
  if (native === undefined) return [];
  if (native.pendingCloses() > 0) {
    const closed = native.waitForCloses();
    if (closed === undefined) return drainClosesSync();
    await closed;
  }
  // This does not wait again. Other calls may have gone on writing, and waiting here would block
  // the event loop.
  return closeErrors(native.takeCloseErrors());
}

/** Waits and gives errors, as {@link drainCloses} does, and blocks meanwhile. */
export function drainClosesSync(): Error[] {
  return native === undefined ? [] : closeErrors(native.drainCloses());
}

/** Sets when other threads close files, from now on and for the whole process. */
export function setClosePolicy(policy: ClosePolicy): void {
  const number = POLICIES.indexOf(policy);
  if (number < 0) {
    throw refused('ERR_INVALID_ARG_VALUE', 'The "policy" argument must be \'auto\', \'always\' or \'never\'', policy);
  }
  native?.setClosePolicy(number);
}
