// All that the first call loads, in one file of its own.

import { appendFile, promises, readFile, writeFile } from './core/async.js';
import { metadataPromises, realpath } from './core/metadata/index.js';
import { waitingForCloses, waitingForClosesPromised } from './core/removing.js';
import { appendFileSync, readFileSync, writeFileSync } from './core/sync.js';
import { original } from './original.js';

type Promised = typeof promises & Omit<typeof original.promises, keyof typeof promises>;
let promised: Promised | undefined;

const { renameSync, rmSync, rmdirSync, unlinkSync, rename, rm, rmdir, unlink } = original;

/** The functions that do the calls of the stubs. */
export const calls = {
  appendFile, appendFileSync, readFile, readFileSync, writeFile, writeFileSync,
  ...waitingForCloses({ renameSync, rmSync, rmdirSync, unlinkSync, rename, rm, rmdir, unlink }),
  realpath,
  get promises(): Promised {
    promised ??= { ...waitingForClosesPromised(original.promises), ...metadataPromises, ...promises };
    return promised;
  },
};

export { drainCloses, drainClosesSync, setClosePolicy } from './core/closes.js';
export { flushDirectory, flushDirectorySync, ignoreForeignReplace, removeTemporaryFiles } from './core/durable/options.js';
export { native } from './core/native.js';
