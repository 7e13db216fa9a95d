// The functions for many files, which the first call of one of them loads.

export { pack, unpack } from './bulk/archives.js';
export { hashFiles, hashTree } from './bulk/hash.js';
export { readFiles, readFilesSync } from './bulk/read-files.js';
export { readFilesStream } from './bulk/read-files-stream.js';
export { readTree } from './bulk/read-tree.js';
export { copyTree, mirrorTree, removeTree } from './bulk/trees.js';
export { writeFiles, writeFilesSync } from './bulk/write-files.js';
