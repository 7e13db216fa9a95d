/**
 * Fast drop-in forms of node:fs's whole-file functions.
 *
 * | use | for |
 * |---|---|
 * | `import { readFiles, writeFiles } from 'smallfry'` | many files in one call, by name |
 * | `import { readFilesStream } from 'smallfry'` | many files in turn, in bounded memory |
 * | `import { readTree } from 'smallfry'` | all files of a tree, or those that match patterns |
 * | `import { copyTree, removeTree } from 'smallfry'` | a tree copied or removed |
 * | `import { mirrorTree } from 'smallfry'` | a copy of a tree brought up to date |
 * | `import { unpack, pack } from 'smallfry'` | a tar or zip unpacked or made |
 * | `import { hashFiles, hashTree } from 'smallfry'` | digests of many files, or of a tree |
 * | `import { writeFileSync, readFile } from 'smallfry'` | a few functions of node:fs by name |
 * | `import fs from 'smallfry/fs'` | all of node:fs, with these functions replaced |
 * | `import fsp from 'smallfry/fs/promises'` | all of node:fs/promises, likewise |
 * | `node --require smallfry/register app.js` | a program as it is, its dependencies included |
 * | `import { flushDirectory, removeTemporaryFiles } from 'smallfry'` | help for durable writes |
 *
 * Results, argument checks and errors are node:fs's own. Calls that are not done natively
 * (FileHandle, iterables, signals, unusual flags) are passed to node:fs unchanged. Without the
 * native addon all calls go to node:fs.
 *
 * Writes have the options `durability`, to survive a power failure, and `replace`, to take an old
 * file's place in one step ({@link DurabilityOptions}). `replace` and `readTree` need the native
 * addon.
 *
 * Files that were written are closed later where closing is slow: see `drainCloses`.
 *
 * Not promised, as in node:fs: an order between calls that are in flight on one path. Without
 * `durability` or `flush`, a power failure may lose data. Without `replace`, a reader may see half
 * of a file.
 *
 * @module smallfry
 */

export { readFiles, readFilesSync } from './bulk/read-files.js';
export { type ReadFilesOptions, type ReadFilesSyncOptions } from './bulk/read-plan.js';
export { readFilesStream, type FileContents } from './bulk/read-files-stream.js';
export { readTree, type ReadTreeOptions, type TreeFile } from './bulk/read-tree.js';
export { type Entry } from './bulk/entries.js';
export { writeFiles, writeFilesSync, type Written } from './bulk/write-files.js';
export { type WriteFilesOptions, type WriteFilesSyncOptions } from './bulk/write-plan.js';
export {
  copyTree, type CopyTreeOptions, mirrorTree, type MirrorReport, type MirrorTreeOptions, removeTree, type RemoveTreeOptions, type TreeChange,
} from './bulk/trees.js';
export { type TreeCounts, type TreeError, type TreeOptions } from './bulk/tree-calls.js';
export { type ArchiveFormat, pack, type PackOptions, unpack, type UnpackOptions } from './bulk/archives.js';
export {
  type Digest, type DigestEncoding, type HashAlgorithm, hashFiles, type HashFilesOptions, type HashOptions, hashTree,
  type HashTreeOptions, type TreeDigest,
} from './bulk/hash.js';
export { appendFile, promises, readFile, writeFile } from './core/async.js';
export { appendFileSync, readFileSync, writeFileSync } from './core/sync.js';

export {
  type Durability, type DurabilityOptions, flushDirectory, flushDirectorySync, removeTemporaryFiles,
} from './core/durable/options.js';
export { type ClosePolicy, drainCloses, drainClosesSync, setClosePolicy } from './core/closes.js';

import { native } from './core/native.js';

/** Tells whether the native addon can be used. Without it, node:fs does all that it can. */
export const isNative = (): boolean => native !== undefined;
