// Errors of files that were closed by other threads.

import { type Native } from './addon.js';
import { failure } from './many.js';

/** Converts what native code left for such errors. */
export const closeErrors = (left: unknown[]): Error[] => left.map((error) => failure(error, ''));

/**
 * Waits for pending closes as the process ends, and prints the errors that the program did not ask
 * for.
 */
export function reportAtExit(native: Native): void {
  const errors = closeErrors(native.drainCloses());
  try {
    for (const error of errors) {
      process.stderr.write(`smallfry: ${error.message} '${(error as NodeJS.ErrnoException).path ?? ''}'\n`);
    }
  } catch {
    // The program may have replaced stderr with something that fails. The exit code still tells.
  }
  if (errors.length > 0 && !process.exitCode) process.exitCode = 1;
}
