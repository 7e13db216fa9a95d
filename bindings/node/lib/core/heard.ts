// Tells whether the functions that Node's whole-file functions call are still Node's own. Mocks,
// tracers and queues for open files replace them, and expect to be called. Then node:fs does the
// whole call.
//
// The source of node:fs shows these calls. They are the same in Node 20 to 26, with one exception:
// only Node 26 ends the reading of a large file by `fs.close`.

import fs = require('node:fs');
import path = require('node:path');

import { isNodesOwn } from '../nodes-own.js';
import { COPYING, facts, inner, original, rememberHandles, REMOVING } from '../original.js';

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

type Functions = Partial<Record<string, unknown>>;

/** Functions that were looked at when they had not been replaced since smallfry was loaded. */
const lookedAt = new Map<unknown, boolean>();
/** The wrappers that count calls, in the places of functions. */
let wrappers: Functions = {};
let promiseWrappers: Functions = {};

/** Accepts the wrappers that count calls: what is in node:fs now counts as Node's own. */
export function acceptWrappers(): void {
  for (const name of names.filter((one) => own[one] === inner[one])) own[name] = fs[name] as never;
  wrappers = { ...fs };
  promiseWrappers = { ...fs.promises };
}

/**
 * Tells whether a function is Node's own, or what replaces it. `register` replaces some of those
 * that others of Node's functions call.
 */
function isOwn(name: string, there: object, before: object, stubs: Functions | undefined, accepted: Functions): boolean {
  const present = (there as Functions)[name];
  if (present === stubs?.[name] || present === accepted[name]) return true;
  return present === (before as Functions)[name] && wasOwn(present, name);
}

/** Tells whether a function was Node's own when smallfry was loaded. */
function wasOwn(one: unknown, name: string): boolean {
  if (facts.runsFirst) return true;
  const known = lookedAt.get(one) ?? isNodesOwn(one, name);
  lookedAt.set(one, known);
  return known;
}

/**
 * The functions that were found to be Node's own last. To compare is faster than to look again, and
 * fastest with all names from the start: V8 makes a dictionary of an object that gets many later.
 */
const seen: Functions = {
  chmod: undefined, lstat: undefined, readdir: undefined, readlink: undefined, rmdir: undefined, stat: undefined, unlink: undefined,
  writeFile: undefined, chmodSync: undefined, copyFileSync: undefined, existsSync: undefined, lstatSync: undefined, mkdirSync: undefined,
  opendirSync: undefined, readdirSync: undefined, readlinkSync: undefined, rmdirSync: undefined, statSync: undefined,
  symlinkSync: undefined, unlinkSync: undefined, utimesSync: undefined, writeFileSync: undefined,
};
const seenPromises: Functions = {
  chmod: undefined, copyFile: undefined, lstat: undefined, mkdir: undefined, opendir: undefined, readlink: undefined, stat: undefined,
  symlink: undefined, unlink: undefined, utimes: undefined,
};

function look(name: string): boolean {
  const mayUse = isOwn(name, fs, original, facts.stubs, wrappers);
  if (mayUse) seen[name] = (fs as Functions)[name];
  return mayUse;
}

function lookAtPromise(name: string): boolean {
  const mayUse = isOwn(name, fs.promises, original.promises, facts.promiseStubs, promiseWrappers);
  if (mayUse) seenPromises[name] = (fs.promises as Functions)[name];
  return mayUse;
}

const isShared = (name: string): boolean => (fs as Functions)[name] === seen[name] || look(name);
const isSharedPromise = (name: string): boolean => (fs.promises as Functions)[name] === seenPromises[name] || lookAtPromise(name);

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
  mayWrite(flush) && (fs.writeFile === seen.writeFile || look('writeFile'));

/**
 * Tells whether native code may do `fs.writeFileSync`. `isUtf8` says that Node would write a string
 * without other functions.
 */
export const mayWriteSync = (isUtf8: boolean, flush: boolean): boolean =>
  (isUtf8 || (fs.openSync === own.openSync && fs.writeSync === own.writeSync && fs.closeSync === own.closeSync)) &&
  (!flush || fs.fsyncSync === own.fsyncSync);

/** Tells whether native code may do `fs.appendFileSync`, which calls `fs.writeFileSync`. */
export const mayAppendSync = (isUtf8: boolean, flush: boolean): boolean =>
  mayWriteSync(isUtf8, flush) && (fs.writeFileSync === seen.writeFileSync || look('writeFileSync'));

/** Tells whether native code may do `fs.realpath`. */
export const mayResolve = (): boolean =>
  (fs.lstat === seen.lstat || look('lstat')) && (fs.stat === seen.stat || look('stat')) && (fs.readlink === seen.readlink || look('readlink'));

const paths = path as unknown as Functions;
const isOfPath = (name: string): boolean => String(paths[name]).includes('validateString(');
/** Node's own functions of node:path, which check their arguments. */
const ownPaths: Functions = isOfPath('join') && isOfPath('relative') ? { ...paths } : {};

/** Tells whether native code may do a recursive `readdir`, which uses no other public functions. */
export const mayList = (): boolean => paths.join === ownPaths.join && paths.relative === ownPaths.relative;

/**
 * Tells whether native code may do `fs.rm` and `fs.promises.rm`. A loop over the names takes 90 ns,
 * so it comes only after the comparisons.
 */
export const mayRemove = (): boolean =>
  (fs.chmod === seen.chmod && fs.lstat === seen.lstat && fs.readdir === seen.readdir && fs.rmdir === seen.rmdir &&
    fs.stat === seen.stat && fs.unlink === seen.unlink) || REMOVING.every(isShared);

const removing = REMOVING.map((name) => `${name}Sync`);
/** Tells whether native code may do `fs.rmSync`. */
export const mayRemoveSync = (): boolean =>
  (fs.chmodSync === seen.chmodSync && fs.lstatSync === seen.lstatSync && fs.readdirSync === seen.readdirSync &&
    fs.rmdirSync === seen.rmdirSync && fs.statSync === seen.statSync && fs.unlinkSync === seen.unlinkSync) || removing.every(isShared);

/** Tells whether native code may do `fs.cp` and `fs.promises.cp`. */
export function mayCopy(): boolean {
  const { promises } = fs;
  return (promises.chmod === seenPromises.chmod && promises.copyFile === seenPromises.copyFile && promises.lstat === seenPromises.lstat &&
    promises.mkdir === seenPromises.mkdir && promises.opendir === seenPromises.opendir && promises.readlink === seenPromises.readlink &&
    promises.stat === seenPromises.stat && promises.symlink === seenPromises.symlink && promises.unlink === seenPromises.unlink &&
    promises.utimes === seenPromises.utimes) || COPYING.every(isSharedPromise);
}

const copying = ['existsSync', ...COPYING.map((name) => `${name}Sync`)];
/** Tells whether native code may do `fs.cpSync`. */
export const mayCopySync = (): boolean =>
  (fs.existsSync === seen.existsSync && fs.chmodSync === seen.chmodSync && fs.copyFileSync === seen.copyFileSync &&
    fs.lstatSync === seen.lstatSync && fs.mkdirSync === seen.mkdirSync && fs.opendirSync === seen.opendirSync &&
    fs.readlinkSync === seen.readlinkSync && fs.statSync === seen.statSync && fs.symlinkSync === seen.symlinkSync &&
    fs.unlinkSync === seen.unlinkSync && fs.utimesSync === seen.utimesSync) || copying.every(isShared);

/**
 * Tells whether native code may flush what a promise writes, which Node does by
 * `FileHandle.prototype.sync`. If the program could replace that before, a file has to be opened
 * first, and node:fs does the calls meanwhile.
 */
export function mayFlushPromised(): boolean {
  if (facts.handles !== undefined) return facts.handles.sync === facts.ownSync;
  if (!facts.runsFirst) learnHandles();
  return facts.runsFirst;
}

let isLearning = false;
function learnHandles(): void {
  // A function that is not Node's own would hear the call.
  if (isLearning || !wasOwn(original.promises.open, 'open')) return;
  isLearning = true;
  original.promises.open(__filename).then((handle) => {
    rememberHandles(handle);
    return handle.close();
  }).catch(() => { isLearning = false; });
}
