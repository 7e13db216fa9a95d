// Finds and loads the native half.

import nodeModule = require('node:module');
import path = require('node:path');

import { type NativePackageJSON } from './addon-package-json.js';
import { original } from '../original.js';
import { systems } from './systems.js';
import { later } from './turns.js';

/** A path, the bytes of a path, or a descriptor. */
export type Target = string | Uint8Array | number;

/**
 * Called for each finished job. `code` is 0, a code that `errors.ts` explains, or -3 if the value
 * is an error as `many.ts` reads it.
 */
export type Complete = (id: number, code: number, value: unknown) => void;

/**
 * Called when a call for many files has new results: their number by now, the failures among them,
 * their bytes, and 1 if there are no more.
 */
export type Advance = (id: number, done: number, failed: number, bytes: number, ended: number) => void;

/**
 * Called when the event loop should do other things first. JavaScript must call `resume` in the
 * next turn.
 */
export type Defer = () => void;

/**
 * The options of a call for many files that goes on in the background. `bits` are those of
 * `option-bits.ts`.
 */
export interface SessionOptions {
  /** The number under which `advance` is called. */
  id: number;
  /** An array for the results. */
  results: unknown[];
  bits: number;
  /** 0 for `Auto`. */
  threads: number;
  /** In bytes. */
  maxInFlight: number;
}

export interface ReadSessionOptions extends SessionOptions {
  /** In bytes. */
  maxFileSize: number;
  /**
   * The number of places in `results`: result n goes to the place n modulo `places`. JavaScript
   * calls `consume` for results that it has taken. 0: each result has a place of its own.
   */
  places: number;
  /** 1 if `results` keeps each result as it is until the call ends. */
  keeps: 0 | 1;
}

export interface WriteSessionOptions extends SessionOptions {
  mode: number;
}

export interface TreeSessionOptions extends SessionOptions {
  root: string;
  /** The patterns, joined by NUL: a `+` and what to match, or a `-` and what to ignore. */
  patterns: string;
  /** 0 for no limit. */
  maxDepth: number;
  /** In bytes. */
  maxFileSize: number;
}

export interface HashSessionOptions extends Omit<SessionOptions, 'maxInFlight'> {
  /** An index of the algorithms in `bulk/hash.ts`. */
  algorithm: number;
  /** A number of `openCache`; 0 for none. */
  cache: number;
}

/** The arguments of a call for a tree. */
interface TreeCall {
  id: number;
  /** 0 for as many as pay. */
  threads: number;
  /** Patterns, joined by NUL. */
  exclude: string;
}

/** The arguments of a copy. */
export interface TreeCopy extends Omit<TreeCall, 'id'> {
  from: string;
  to: string;
  bits: number;
  /** An index of the methods in `bulk/trees.ts`. */
  method: number;
  /**
   * The paths below the source of the only entries that are copied, joined by NUL; undefined for
   * all that are not excluded.
   */
  entries: string | undefined;
}

export interface CopyCall extends TreeCopy {
  id: number;
}

export interface MirrorCall extends TreeCall {
  from: string;
  to: string;
  bits: number;
}

export interface UnpackCall extends TreeCall {
  /** The path of the archive, or its bytes. */
  archive: string | ArrayBufferView;
  to: string;
  bits: number;
  stripComponents: number;
  /** 0 for no limit, as for the next two. */
  maxEntries: number;
  maxBytes: number;
  maxRatio: number;
}

export interface PackCall extends TreeCall {
  from: string;
  archive: string;
  /** A name that ends as archives of the format do. */
  format: string;
  /** The directory in the archive; empty for none. */
  prefix: string;
  bits: number;
  /** 0 for the default. */
  level: number;
}

export interface HashTreeCall extends TreeCall {
  path: string;
  /** As for files. */
  algorithm: number;
  cache: number;
}

/**
 * The functions that the addon puts on the object given to `start`. They return undefined on
 * success, and codes that `errors.ts` explains.
 */
export interface Native extends NativePackageJSON {
  writeSync(path: string | Uint8Array, data: string | ArrayBufferView, flags: number, mode: number): number | undefined;
  writeOpenSync(descriptor: number, data: string | ArrayBufferView): number | undefined;
  /**
   * Writes as the bits of `option-bits.ts` say. A failure may also be an array, as `many.ts` reads
   * it.
   */
  writeDurablySync(
    target: Target, data: string | ArrayBufferView, flags: number, mode: number, bits: number,
  ): number | unknown[] | undefined;
  readSync(target: Target, utf8: 0 | 1): Buffer | string | number;
  /** With `ownScope`, `complete` is called in a callback scope of its own. */
  read(target: Target, id: number, ownScope: 0 | 1, utf8: 0 | 1): number | undefined;
  write(
    target: Target, id: number, ownScope: 0 | 1, data: string | ArrayBufferView, flags: number, mode: number,
  ): number | undefined;
  /** Writes as `writeDurablySync` does, and calls `complete` as `write` does. */
  writeDurably(
    target: Target, id: number, ownScope: 0 | 1, data: string | ArrayBufferView, flags: number, mode: number, bits: number,
  ): number | undefined;
  /**
   * Makes a call for paths, with a number of `metadata/operations.ts`, and calls `complete` as
   * `read` does.
   */
  metadata(
    path: string | Uint8Array, id: number, ownScope: 0 | 1, operation: number, number: number, other: number,
  ): number | undefined;
  /**
   * Does `access`, `stat` or `lstat` at once, if the kernel has the answer in memory. Returns
   * undefined if it has not, 0, or the number of an error. Only Linux has it.
   */
  lookUp?(path: string | Uint8Array, operation: number, mode: number): number | undefined;
  /**
   * Lists a directory with all that is below it, as `src/jobs/listing.rs` describes it, and calls
   * `complete` with the text. Only Unix systems have it.
   */
  listAll?(path: string, below: string, bits: number, id: number, ownScope: 0 | 1): number | undefined;
  /** Does the same at once. Returns undefined if node:fs has to do it. */
  listAllSync?(path: string, below: string, bits: number): string | undefined;
  /** Sets the array in which `complete` and `lookUp` put the status of a file. */
  setStatusArray(array: Float64Array): void;
  /**
   * Copies, mirrors, unpacks, packs or hashes, and calls `complete` with the outcome. Returns a
   * text if an option is wrong.
   */
  copyTree(call: CopyCall): string | undefined;
  mirrorTree(call: MirrorCall): string | undefined;
  unpack(call: UnpackCall): string | undefined;
  pack(call: PackCall): string | undefined;
  hashTree(call: HashTreeCall): string | undefined;
  copyTreeSync(copy: TreeCopy): TreeOutcome;
  /**
   * Removes a tree as the bits of `option-bits.ts` say, and calls `complete` with the outcome. 0
   * threads stand for as many as pay.
   */
  removeTree(path: string, id: number, ownScope: 0 | 1, bits: number, threads: number): undefined;
  removeTreeSync(path: string, bits: number, threads: number): TreeOutcome;
  /** Opens a cache of digests, and calls `complete` with its number. */
  openCache(path: string, id: number, ownScope: 0 | 1): undefined;
  /** Saves and closes a cache, and calls `complete`. */
  saveCache(cache: number, id: number, ownScope: 0 | 1): undefined;
  /**
   * Lists a directory and some of those in it, as `src/trees/list.rs` describes it. A directory
   * that cannot be listed, or has names that are not UTF-8, gives no listing. Only Unix systems
   * have it.
   */
  listTree?(path: string, id: number, ownScope: 0 | 1): undefined;
  listTreeSync?(path: string): string | undefined;
  /** Tells whether a copy of a directory meets an entry where a link goes. */
  linksHaveEntriesInTheWay(from: string, to: string): 0 | 1;
  /** Begins nothing more for a tree. */
  cancelTree(id: number): void;
  /** Returns the number of entries that are done and their bytes; undefined once all is done. */
  treeProgress(id: number): [entries: number, bytes: number] | undefined;
  /** Begins a call that reads many files. Returns -1 if there is no thread for it. */
  openRead(options: ReadSessionOptions): number | undefined;
  /** Begins a call that writes many files. Returns -1 if there is no thread for it. */
  openWrite(options: WriteSessionOptions): number | undefined;
  /** Begins a call that hashes many files. Returns -1 if there is no thread for it. */
  openHash(options: HashSessionOptions): number | undefined;
  /** Begins a call that walks a tree and reads it. An error is an array, as `many.ts` reads it. */
  openTree(options: TreeSessionOptions): number | [number, string, string?] | undefined;
  /**
   * Adds paths, joined by NUL. `beyond` says how many more will follow, -1 if that is not known.
   */
  pushPaths(id: number, joined: string, beyond: number): void;
  /** Adds entries. Returns the number of bytes of data that were copied. */
  pushEntries(id: number, joined: string, data: (string | ArrayBufferView)[], beyond: number): number;
  close(id: number): void;
  cancel(id: number): void;
  consume(id: number, count: number): void;
  /** Sets whether a call with `places` keeps the process alive. Other calls always do. */
  hold(id: number, yes: 0 | 1): void;
  /** Goes on with the work that was left when `defer` was called. */
  resume(): void;
  /** Returns the number of files that were read. */
  readManySync(joined: string[], results: unknown[], bits: number, threads: number, maxFileSize: number): number;
  /** Returns the number of entries that did not fail. */
  writeManySync(
    joined: string, data: (string | ArrayBufferView)[], results: unknown[], bits: number, threads: number, mode: number,
  ): number;
  /** Returns the number of files that wait to be closed or are being closed. */
  pendingCloses(): number;
  /** Returns 1 if `drainCloses` has something to wait for or an error to give. */
  hasCloses(): 0 | 1;
  /**
   * Waits for all pending closes. Returns the errors since the last call, each as `many.ts` reads
   * it.
   */
  drainCloses(): unknown[];
  /** Returns the errors since the last call, without waiting. */
  takeCloseErrors(): unknown[];
  /** Waits for all pending closes. */
  finishCloses(): void;
  /** Waits as `finishCloses` does, without blocking. Undefined if there is no thread for it. */
  waitForCloses(): Promise<void> | undefined;
  /**
   * Waits until no close of a file of that name is pending. Returns the error if one failed, else
   * undefined.
   */
  confirmClose(path: string): unknown;
  /** Sets the policy: 0 for auto, 1 for always, 2 for never. */
  setClosePolicy(policy: number): void;
  /** Waits until every accepted write is done. It is for the end of the process. */
  finish(): void;
}

/**
 * The number of files, of directories and of bytes, an error for each entry that failed, the digest
 * of a tree that was hashed, and of a mirror the entries that have stayed, those that were deleted,
 * and the changes of a dry run: the name of each and, after that, its path.
 */
export type TreeOutcome = [
  files: number, directories: number, bytes: number, errors: unknown[], digest: string | undefined, unchanged: number, deleted: number,
  changes: string[],
];

interface Addon {
  start(
    exports: object, complete: Complete, advance: Advance, defer: Defer, runtime: 0 | 1 | 2, writesNothing: 0 | 1,
  ): number;
}

/** The native functions, or the reason why there are none. */
export interface Loaded {
  native: Native | undefined;
  /** The longest string that one call takes, in UTF-16 units. */
  longestString: number;
  /** The reason why `native` is undefined; empty if it is not. */
  reason: string;
}

/**
 * Major versions of Node whose string interface the addon was tested with. Elsewhere it uses
 * Node-API alone.
 */
const KNOWN_MAJORS = new Set([20, 22, 24, 26]);

const major = Number.parseInt(process.versions.node, 10);

/**
 * Returns the interface that the addon may use: 1 for that of a tested Node, 2 for Bun, 0 for
 * Node-API alone.
 */
function runtime(): 0 | 1 | 2 {
  const { electron, bun, deno } = process.versions;
  if (bun) return 2;
  return process.release.name === 'node' && !electron && !deno && KNOWN_MAJORS.has(major) ? 1 : 0;
}

/** Tells whether the classes of results are those of a Node that the package was tested with. */
export const isTestedNode = runtime() === 1;

/**
 * Returns the places where an addon may be: in this package, as in the source tree, and in that of
 * this system, which npm and pnpm put beside this one.
 */
function addonFiles(): string[] {
  const own = path.join(__dirname, '..');
  const above = path.dirname(own);
  const places = systems().map((system) => {
    const name = `smallfry.${system}.node`;
    return { inside: path.join(own, name), beside: path.join(above, `smallfry-${system}`, name) };
  });
  const inside = places.map((place) => place.inside);
  const beside = places.map((place) => place.beside);
  // A file that is not there takes as long as an exception.
  return path.basename(above) === 'node_modules' ? [...beside, ...inside] : [...inside, ...beside];
}

/** Returns the addon that this package's dependencies are: package managers may have it anywhere. */
function resolvedAddon(): string | undefined {
  // A bundler would take `require.resolve` for its own.
  const { resolve } = nodeModule.createRequire(__filename);
  for (const system of systems()) {
    try {
      return resolve(`smallfry-${system}`);
    } catch {
      // The package of the other C library may be there.
    }
  }
  return undefined;
}

const none = (reason: string): Loaded => ({ native: undefined, longestString: 0, reason });

export function load(complete: Complete, advance: Advance): Loaded {
  if ((process as { permission?: unknown }).permission !== undefined) {
    return none('the permission model is on, and native file calls would go around it');
  }
  const files = addonFiles();
  const packages = systems().map((system) => `smallfry-${system}`).join(' or ');
  let reason = `there is no native addon: neither the package ${packages} nor ${files.at(-1)} is there`;
  // The resolver is slower, and asked when the usual places have nothing.
  for (let index = 0; index <= files.length; index++) {
    const file = index < files.length ? files[index] : resolvedAddon();
    if (file === undefined) break;
    try {
      const native = {} as Native;
      // `require` would look for the package of the file first.
      const made = { exports: {} as Addon };
      process.dlopen(made, path.toNamespacedPath(file));
      const addon = made.exports;
      // Before 26 fs.writeFile calls write(2) even for no bytes, which some files refuse.
      const defer = (): void => { later(() => { native.resume(); }); };
      const longest = addon.start(native, complete, advance, defer, runtime(), major < 26 ? 1 : 0);
      if (longest < 0) return none(`${file} could not start: out of memory`);
      return { native, longestString: longest === 0 ? Infinity : longest, reason: '' };
    } catch (error) {
      // Asked only now: a program that has replaced the function would hear it.
      if (!original.existsSync(file)) continue;
      const text = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
      reason = `the native addon did not load from ${file}: ${text}`;
    }
  }
  return none(reason);
}

export function isMainThread(): boolean {
  // This module is loaded only here, since that takes longer than all the rest.
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- as above
  return (require('node:worker_threads') as typeof import('node:worker_threads')).isMainThread;
}

/** Warns once per process that node:fs does the work instead. */
export function warn(reason: string): void {
  if (isMainThread()) {
    process.emitWarning(`smallfry: ${reason}; node:fs is used as it is`, { code: 'SMALLFRY_NOT_NATIVE' });
  }
}

const hasVirtualFiles = nodeModule.isBuiltin('node:vfs');
let modulesSeen = 0;
let virtualFilesLoaded = false;

/**
 * Tells whether the program uses node:vfs, whose files only node:fs sees. Costs one comparison
 * where node:vfs exists.
 */
export function usesVirtualFiles(): boolean {
  if (!hasVirtualFiles || virtualFilesLoaded) return virtualFilesLoaded;
  const list = (process as unknown as { moduleLoadList: string[] }).moduleLoadList;
  if (list.length !== modulesSeen) {
    modulesSeen = list.length;
    virtualFilesLoaded = list.includes('NativeModule vfs');
  }
  return virtualFilesLoaded;
}
