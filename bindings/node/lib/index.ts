/**
 * Fast drop-in forms of node:fs's whole-file functions.
 *
 * | use | for |
 * |---|---|
 * | `import { readFiles, writeFiles } from 'smallfry'` | many files in one call, their names known |
 * | `import { readFilesStream } from 'smallfry'` | the same, one file after the other, in bounded memory |
 * | `import { readTree } from 'smallfry'` | all files of a tree, or those that match patterns |
 * | `import { writeFileSync, readFile } from 'smallfry'` | a few functions of node:fs by name |
 * | `import fs from 'smallfry/fs'` | all of node:fs, these functions replaced |
 * | `import fsp from 'smallfry/fs/promises'` | all of node:fs/promises, likewise |
 * | `node --require smallfry/register app.js` | a program as it is, its dependencies included |
 * | `import { flushDirectory, removeTemporaryFiles } from 'smallfry'` | what goes with durable writes |
 *
 * Results, argument checks and errors are node:fs's own. What is not done natively (FileHandle, iterables, signals,
 * unusual flags) is passed to node:fs unchanged, and so is everything where the native addon cannot be loaded.
 *
 * To survive a power failure, or to take an old file's place in one step, writes have the options `durability` and `replace`
 * ({@link DurabilityOptions}).
 *
 * Where closing is slow, files that were written are closed later: see `drainCloses`.
 *
 * Not promised: an order between calls that are under way on one path at the same time, as in node:fs; that data
 * survive a power failure, unless `durability` or `flush` ask for it; that nobody sees half of a file, but with `replace`.
 */

export { readFiles, readFilesSync } from './read-files.js';
export { type ReadFilesOptions, type ReadFilesSyncOptions } from './read-plan.js';
export { readFilesStream, type FileContents } from './read-files-stream.js';
export { readTree, type ReadTreeOptions, type TreeFile } from './read-tree.js';
export { type Entry } from './entries.js';
export { writeFiles, writeFilesSync, type Written } from './write-files.js';
export { type WriteFilesOptions, type WriteFilesSyncOptions } from './write-plan.js';
export { appendFile, promises, readFile, writeFile } from './async.js';
export { appendFileSync, readFileSync, writeFileSync } from './sync.js';

export {
  type Durability, type DurabilityOptions, flushDirectory, flushDirectorySync, removeTemporaryFiles,
} from './durability.js';
export { type ClosePolicy, drainCloses, drainClosesSync, setClosePolicy } from './closes.js';

import { native } from './native.js';

/** Whether the native addon does the work; if false, node:fs does all of it. */
export const isNative: boolean = native !== undefined;
