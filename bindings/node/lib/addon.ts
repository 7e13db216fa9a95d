// Finds and loads the native half.

import fs = require('node:fs');
import nodeModule = require('node:module');
import path = require('node:path');

import { type NativePackageJSON } from './package-json/native.js';
import { later } from './turns.js';

/** A path, or a descriptor. A Uint8Array holds the bytes of a path. */
export type Target = string | Uint8Array | number;

/**
 * Called for each finished job; `code` is 0, what `errors.ts` explains, or -3 if the value is an error as `many.ts`
 * understands it.
 */
export type Complete = (id: number, code: number, value: unknown) => void;

/** Called when a call for many files has new results: how many it has by now, how many of them are failures, their bytes,
 * and 1 if these are all. */
export type Advance = (id: number, done: number, failed: number, bytes: number, ended: number) => void;

/** Called when more could be done at once, but other things come first: `again` is to be called in the next turn. */
export type Rest = () => void;

/** What the addon puts on the object given to `start`. Codes: undefined is success; see `errors.ts`. */
export interface Native extends NativePackageJSON {
  writeSync(target: Target, data: string | ArrayBufferView, flags: number, mode: number): number | undefined;
  /**
   * Writes and makes it last: `durable` has a level (0 none, 1 data, 2 the file, 3 its name as well), 4 to replace it, 8 to
   * write in place if it is busy. A failure may also be an array, as `many.ts` understands it.
   */
  writeDurablySync(
    target: Target, data: string | ArrayBufferView, flags: number, mode: number, durable: number,
  ): number | unknown[] | undefined;
  readSync(target: Target, utf8: 0 | 1): Buffer | string | number;
  read(target: Target, id: number, alone: 0 | 1, utf8: 0 | 1): number | undefined;
  write(
    target: Target,
    id: number,
    alone: 0 | 1,
    data: string | ArrayBufferView,
    flags: number,
    mode: number,
  ): number | undefined;
  /** As `write` and `writeDurablySync`. */
  writeDurably(
    target: Target, id: number, alone: 0 | 1, data: string | ArrayBufferView, flags: number, mode: number, durable: number,
  ): number | undefined;
  /**
   * Begins a call for many files, whose results go into an array; 0 or 1 for yes or no. -1 if there is no thread for it.
   * With `places` it is gone through in steps, by `consume`, and result n goes to n modulo `places`.
   */
  openRead(
    id: number, results: unknown[], utf8: number, places: number, threads: number, maxInFlight: number,
    maxFileSize: number, failFast: number,
  ): number | undefined;
  openWrite(
    id: number, results: unknown[], threads: number, failFast: number, flags: number, mode: number, maxInFlight: number,
  ): number | undefined;
  /** Walks a tree and reads it. An error is told as results are; see `read-tree.ts`. */
  openTree(
    id: number, results: unknown[], root: string, patterns: string, flags: number, maxDepth: number, utf8: number,
    threads: number, maxInFlight: number, maxFileSize: number, failFast: number,
  ): number | [number, string, string?] | undefined;
  /** Paths are joined by NUL; `beyond` says how many more will follow, -1 if that is not known. */
  pushPaths(id: number, joined: string, beyond: number): void;
  /** Answers how many bytes it has copied. */
  pushEntries(id: number, joined: string, data: (string | ArrayBufferView)[], beyond: number): number;
  close(id: number): void;
  cancel(id: number): void;
  consume(id: number, count: number): void;
  /** Whether the process stays for a call that is read in steps; it does for others. */
  hold(id: number, yes: 0 | 1): void;
  /** Goes on with what was left when `rest` was called. */
  again(): void;
  /** Answers how many files were read. */
  readManySync(
    joined: string[], results: unknown[], utf8: number, threads: number, maxFileSize: number, failFast: number,
  ): number;
  /** Answers how many entries did not fail. */
  writeManySync(
    joined: string, data: (string | ArrayBufferView)[], results: unknown[], threads: number, failFast: number,
    flags: number, mode: number,
  ): number;
  /** How many files wait to be closed or are being closed. */
  pendingCloses(): number;
  /** 1 if `drainCloses` would have something to wait for or to tell. */
  hasCloses(): 0 | 1;
  /** Waits until all is closed that is pending; the errors since the last time, each as `many.ts` understands it. */
  drainCloses(): unknown[];
  /** The same without waiting: the errors of what is closed by now. */
  takeCloseErrors(): unknown[];
  /** Waits until all is closed that is pending. */
  finishCloses(): void;
  /** The same without blocking; undefined if there is no thread for that. */
  waitForCloses(): Promise<void> | undefined;
  /** Waits until no file of that name is pending; why closing that one failed, else undefined. */
  confirmClose(path: string): unknown;
  /** 0 for auto, 1 for always, 2 for never. */
  setClosePolicy(policy: number): void;
  /** Returns when every accepted write is done; for the end of the process. */
  finish(): void;
}

interface Addon {
  start(
    exports: object, complete: Complete, advance: Advance, rest: Rest, runtime: 0 | 1 | 2, writesNothing: 0 | 1,
  ): number;
}

/** The native functions, or why there are none. */
export interface Loaded {
  native: Native | undefined;
  /** Longest string that one call takes, in UTF-16 units. */
  longestString: number;
  /** Why `native` is undefined; the empty string if it is not. */
  reason: string;
}

/** Node versions whose string interface the addon was tested with; elsewhere it uses Node-API alone. */
const KNOWN_MAJORS = new Set([20, 22, 24, 26]);

const major = Number.parseInt(process.versions.node, 10);

/** What the addon may build on: 1 for Node as it was tested with, 2 for Bun, 0 for Node-API alone. */
function runtime(): 0 | 1 | 2 {
  const { electron, bun, deno } = process.versions;
  if (bun) return 2;
  return process.release.name === 'node' && !electron && !deno && KNOWN_MAJORS.has(major) ? 1 : 0;
}

/** File names under which an addon for this system may lie, such as `smallfry.linux-x64-gnu.node`. */
export function addonNames(): string[] {
  const system = `smallfry.${process.platform}-${process.arch}`;
  return process.platform === 'linux' ? [`${system}-gnu.node`, `${system}-musl.node`] : [`${system}.node`];
}

const none = (reason: string): Loaded => ({ native: undefined, longestString: 0, reason });

export function load(complete: Complete, advance: Advance): Loaded {
  if ((process as { permission?: unknown }).permission !== undefined) {
    return none('the permission model is on, and native file calls would go around it');
  }
  const files = addonNames().map((name) => path.join(__dirname, '..', name));
  const file = files.find((candidate) => fs.existsSync(candidate));
  if (file === undefined) return none(`there is no native addon at ${files.join(' or ')}`);
  try {
    const native = {} as Native;
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- a .node file has no other way in
    const addon = require(file) as Addon;
    // Before 26 fs.writeFile calls write(2) even for no bytes, which some files refuse.
    const rest = (): void => { later(() => { native.again(); }); };
    const longest = addon.start(native, complete, advance, rest, runtime(), major < 26 ? 1 : 0);
    if (longest < 0) return none(`${file} could not start: out of memory`);
    return { native, longestString: longest === 0 ? Infinity : longest, reason: '' };
  } catch (error) {
    const text = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    return none(`the native addon did not load from ${file}: ${text}`);
  }
}

export function isMainThread(): boolean {
  // Loaded only here: it takes longer than all the rest.
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- as above
  return (require('node:worker_threads') as typeof import('node:worker_threads')).isMainThread;
}

/** Says once per process that node:fs does the work instead. */
export function warn(reason: string): void {
  if (isMainThread()) {
    process.emitWarning(`smallfry: ${reason}; node:fs is used as it is`, { code: 'SMALLFRY_NOT_NATIVE' });
  }
}

const hasVirtualFiles = nodeModule.isBuiltin('node:vfs');
let modulesSeen = 0;
let virtualFilesLoaded = false;

/** Whether the program uses node:vfs, whose files only node:fs sees. Costs a comparison per call where it exists. */
export function usesVirtualFiles(): boolean {
  if (!hasVirtualFiles || virtualFilesLoaded) return virtualFilesLoaded;
  const list = (process as unknown as { moduleLoadList: string[] }).moduleLoadList;
  if (list.length !== modulesSeen) {
    modulesSeen = list.length;
    virtualFilesLoaded = list.includes('NativeModule vfs');
  }
  return virtualFilesLoaded;
}
