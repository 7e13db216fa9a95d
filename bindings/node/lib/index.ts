// The package's main entry: the functions that `api.ts` describes. Each loads what does it
// when it is called.

import { wholeFile, wholeFilePromises } from './stubs.js';

/* eslint-disable @typescript-eslint/no-require-imports -- only at a call */
const loadCore = () => require('./core.js') as typeof import('./core.js');
const loadBulk = () => require('./bulk.js') as typeof import('./bulk.js');
/* eslint-enable */

/** An argument, passed on as it is. */
type Argument = never;

export const { appendFile, appendFileSync, readFile, readFileSync, writeFile, writeFileSync } = wholeFile;
export const promises = wholeFilePromises;

export const readFiles = (paths: Argument, options: Argument) => loadBulk().readFiles(paths, options);
export const readFilesSync = (paths: Argument, options: Argument) => loadBulk().readFilesSync(paths, options);
export const readFilesStream = (paths: Argument, options: Argument) => loadBulk().readFilesStream(paths, options);
export const readTree = (root: Argument, options: Argument) => loadBulk().readTree(root, options);
export const writeFiles = (entries: Argument, options: Argument) => loadBulk().writeFiles(entries, options);
export const writeFilesSync = (entries: Argument, options: Argument) => loadBulk().writeFilesSync(entries, options);
export const copyTree = (from: Argument, to: Argument, options: Argument) => loadBulk().copyTree(from, to, options);
export const mirrorTree = (from: Argument, to: Argument, options: Argument) => loadBulk().mirrorTree(from, to, options);
export const removeTree = (path: Argument, options: Argument) => loadBulk().removeTree(path, options);
export const unpack = (archive: Argument, to: Argument, options: Argument) => loadBulk().unpack(archive, to, options);
export const pack = (from: Argument, archive: Argument, options: Argument) => loadBulk().pack(from, archive, options);
export const hashFiles = (paths: Argument, options: Argument) => loadBulk().hashFiles(paths, options);
export const hashTree = (path: Argument, options: Argument) => loadBulk().hashTree(path, options);
export const flushDirectory = (directory: Argument) => loadCore().flushDirectory(directory);
export const flushDirectorySync = (directory: Argument) => loadCore().flushDirectorySync(directory);
export const removeTemporaryFiles = (directory: Argument, options: Argument) => loadCore().removeTemporaryFiles(directory, options);
export const drainCloses = () => loadCore().drainCloses();
export const drainClosesSync = () => loadCore().drainClosesSync();
export const setClosePolicy = (policy: Argument) => loadCore().setClosePolicy(policy);
export const isNative = () => loadCore().native !== undefined;
