// Tells whether the functions that Node's whole-file functions call are still Node's own. Mocks,
// tracers and queues for open files replace them, and expect to be called. Then node:fs does the
// whole call.
//
// The source of node:fs shows these calls. They are the same in Node 20 to 26, with one exception:
// only Node 26 ends the reading of a large file by `fs.close`.

import fs = require('node:fs');

import { isNodesOwn } from '../nodes-own.js';
import { facts, inner, original } from '../original.js';

// V8 watches the properties of a prototype, so the comparisons below cost nothing where they are
// compiled. Else each takes 4 ns.
Object.create(fs);

type Name = keyof typeof inner;
const names = Object.keys(inner) as Name[];

/** Node's own functions. Nothing equals one that was replaced before smallfry was loaded. */
const own = { ...inner };
if (!facts.runsFirst) {
  for (const name of names.filter((one) => !callsBinding(inner[one]))) own[name] = (() => undefined) as never;
}

/** Tells whether a function is Node's own. Only the files of Node can call `binding`. */
function callsBinding(candidate: unknown): boolean {
  return typeof candidate === 'function' && /\bbinding\.\w+\(/.test(Function.prototype.toString.call(candidate));
}

/** Node's own functions that `register` replaces as well, and that others of Node's call. */
const SHARED = ['writeFile', 'writeFileSync', 'lstat', 'stat', 'readlink'] as const;
type Shared = (typeof SHARED)[number];

const isOwn = new Map<Shared, boolean>();
/** What counts calls and stands in the place of the shared functions. */
const wrappers: Partial<Record<Shared, unknown>> = {};

/** Accepts the wrappers that count calls: what is in node:fs now counts as Node's own. */
export function acceptWrappers(): void {
  for (const name of names.filter((one) => own[one] === inner[one])) own[name] = fs[name] as never;
  for (const name of SHARED) wrappers[name] = fs[name];
}

/** Tells whether a function that `register` replaces is still Node's own, or what replaces it. */
function isShared(name: Shared): boolean {
  const present = fs[name];
  if (present === facts.stubs?.[name] || present === wrappers[name]) return true;
  return present === original[name] && wasOwn(name);
}

/** Tells whether a function was Node's own when smallfry was loaded. */
function wasOwn(name: Shared): boolean {
  if (facts.runsFirst) return true;
  const known = isOwn.get(name) ?? isNodesOwn(original[name], name);
  isOwn.set(name, known);
  return known;
}

const readsByClose = Number.parseInt(process.versions.node, 10) >= 26;

/** Tells whether native code may do `fs.readFile`. */
export const mayRead = (): boolean => !readsByClose || fs.close === own.close;

/** Tells whether native code may do `fs.readFileSync`. Node reads UTF-8 without other functions. */
export const mayReadSync = (isUtf8: boolean): boolean =>
  isUtf8 || (fs.openSync === own.openSync && fs.readSync === own.readSync && fs.closeSync === own.closeSync);

/** Tells whether native code may do `fs.writeFile`. */
export const mayWrite = (flush: boolean): boolean =>
  fs.open === own.open && fs.write === own.write && fs.close === own.close && (!flush || fs.fsync === own.fsync);

/** Tells whether native code may do `fs.appendFile`, which calls `fs.writeFile`. */
export const mayAppend = (flush: boolean): boolean =>
  mayWrite(flush) && isShared('writeFile');

/**
 * Tells whether native code may do `fs.writeFileSync`. `isUtf8` says that Node would write a string
 * without other functions.
 */
export const mayWriteSync = (isUtf8: boolean, flush: boolean): boolean =>
  (isUtf8 || (fs.openSync === own.openSync && fs.writeSync === own.writeSync && fs.closeSync === own.closeSync)) &&
  (!flush || fs.fsyncSync === own.fsyncSync);

/** Tells whether native code may do `fs.appendFileSync`, which calls `fs.writeFileSync`. */
export const mayAppendSync = (isUtf8: boolean, flush: boolean): boolean =>
  mayWriteSync(isUtf8, flush) && isShared('writeFileSync');

/** Tells whether native code may do `fs.realpath`. */
export const mayResolve = (): boolean => isShared('lstat') && isShared('stat') && isShared('readlink');

/**
 * Tells whether native code may flush what a promise writes, which Node does by
 * `FileHandle.prototype.sync`. Only an open file leads to that, so nobody has replaced it before.
 */
export const mayFlushPromised = (): boolean => facts.handles === undefined || facts.handles.sync === facts.ownSync;
