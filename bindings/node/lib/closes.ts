// Files that are closed later, where closing is slow.

import { failure, refused } from './many.js';
import { native } from './native.js';

/**
 * When closing a written file is left to other threads: where it is slow, which is measured (`auto`, the default), always
 * or never.
 */
export type ClosePolicy = 'auto' | 'always' | 'never';

const POLICIES = ['auto', 'always', 'never'];

/**
 * Waits until all files are closed that smallfry's functions have written so far, and gives the errors of closing that
 * nobody has been told of: as node:fs makes them, with `code`, `syscall` `'close'` and `path`. Empty if all is well.
 *
 * Where closing is slow, as on Windows and on network file systems, `writeFile`, `writeFileSync`, `writeFiles` and the like are
 * done when the bytes are written, and other threads close the files. What closing then reports, such as a quota of a file
 * server, is told here. Errors that are left when the process ends are printed to standard error, and its exit code is 1
 * if it was 0; of writes that were under way at `process.exit`, they are printed only.
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
  // Without waiting: others may have gone on writing, and nothing else would run until that is closed too.
  return failures(native.takeCloseErrors());
}

/** The same, blocking. */
export function drainClosesSync(): Error[] {
  return native === undefined ? [] : failures(native.drainCloses());
}

const failures = (errors: unknown[]): Error[] => errors.map((error) => failure(error, ''));

/** Says when closing is left to other threads, from now on and for the whole process. */
export function setClosePolicy(policy: ClosePolicy): void {
  const number = POLICIES.indexOf(policy);
  if (number < 0) {
    throw refused('ERR_INVALID_ARG_VALUE', 'The "policy" argument must be \'auto\', \'always\' or \'never\'', policy);
  }
  native?.setClosePolicy(number);
}

/** Waits for pending closes as the process ends, and says what nobody has asked for. */
export function tellAtExit(): void {
  const errors = drainClosesSync();
  try {
    for (const error of errors) {
      process.stderr.write(`smallfry: ${error.message} '${(error as NodeJS.ErrnoException).path ?? ''}'\n`);
    }
  } catch {
    // A program may have put something else there. The exit code tells.
  }
  if (errors.length > 0 && !process.exitCode) process.exitCode = 1;
}
