// All that the first call loads, in one file of its own.

import { appendFile, promises, readFile, writeFile } from './core/async.js';
import { metadataPromises, realpath } from './core/metadata/index.js';
import { readdir, readdirSync } from './core/metadata/recursive.js';
import { waitingForCloses, waitingForClosesPromised } from './core/removing.js';
import { appendFileSync, readFileSync, writeFileSync } from './core/sync.js';
import { cp, cpPromised, cpSync } from './core/trees/copy.js';
import { rm, rmPromised, rmSync } from './core/trees/remove.js';
import { original } from './original.js';

type Promised = typeof promises & Omit<typeof original.promises, keyof typeof promises>;
let promised: Promised | undefined;

const { renameSync, rmdirSync, unlinkSync, rename, rmdir, unlink } = original;

/** The functions that do the calls of the stubs. */
export const calls = {
  appendFile, appendFileSync, readFile, readFileSync, writeFile, writeFileSync,
  ...waitingForCloses({ renameSync, rmSync, rmdirSync, unlinkSync, rename, rm, rmdir, unlink }),
  realpath, readdir, readdirSync, cp, cpSync,
  get promises(): Promised {
    promised ??= {
      ...waitingForClosesPromised({ ...original.promises, rm: rmPromised }), ...metadataPromises, ...promises, cp: cpPromised,
    };
    return promised;
  },
};

export { drainCloses, drainClosesSync, setClosePolicy } from './core/closes.js';
export { flushDirectory, flushDirectorySync, ignoreForeignReplace, removeTemporaryFiles } from './core/durable/options.js';
export { native } from './core/native.js';
