// The functions of node:fs as they were when smallfry was loaded. They do the calls that native
// code does not take.

import fs = require('node:fs');

import { shared } from './shared.js';

/**
 * The functions of node:fs/promises for paths that native code does. In node:fs only `realpath` is
 * native: other callbacks cost Node as little as native code.
 */
export const METADATA = ['access', 'chmod', 'lstat', 'mkdir', 'readdir', 'readlink', 'stat', 'utimes'] as const;
export type Metadata = (typeof METADATA)[number];

/** Returns the functions with these names. */
function picked<Functions extends object, Name extends keyof Functions>(from: Functions, names: readonly Name[]) {
  const found = {} as Pick<Functions, Name>;
  for (const name of names) found[name] = from[name];
  return found;
}

const PROMISES = [
  ...METADATA, 'appendFile', 'copyFile', 'cp', 'open', 'opendir', 'readFile', 'rename', 'rm', 'rmdir', 'symlink', 'unlink', 'writeFile',
] as const;
let promises: Pick<typeof fs.promises, (typeof PROMISES)[number]> | undefined;

/** The functions that Node's own `rm` calls, once it has loaded them. */
export const REMOVING = ['chmod', 'lstat', 'readdir', 'rmdir', 'stat', 'unlink'] as const;
/** The functions of node:fs/promises that Node's own `cp` calls. */
export const COPYING = [
  'chmod', 'copyFile', 'lstat', 'mkdir', 'opendir', 'readlink', 'stat', 'symlink', 'unlink', 'utimes',
] as const;

/**
 * The functions that smallfry does, those that wait for its closes, and those that Node's own ones
 * call.
 */
export const original = shared('original', {
  ...picked(fs, REMOVING),
  ...picked(fs, REMOVING.map((name) => `${name}Sync` as const)),
  ...picked(fs, COPYING.map((name) => `${name}Sync` as const)),
  existsSync: fs.existsSync,
  realpathSync: fs.realpathSync,
  cp: fs.cp,
  cpSync: fs.cpSync,
  writeFileSync: fs.writeFileSync,
  appendFileSync: fs.appendFileSync,
  readFileSync: fs.readFileSync,
  renameSync: fs.renameSync,
  rmSync: fs.rmSync,
  writeFile: fs.writeFile,
  appendFile: fs.appendFile,
  readFile: fs.readFile,
  rename: fs.rename,
  rm: fs.rm,
  readlink: fs.readlink,
  realpath: fs.realpath,
  /** Node loads node:fs/promises only when a program asks for it, and so does this. */
  get promises() {
    return promises ??= picked(fs.promises, PROMISES);
  },
});

/**
 * The function that calls another one in the next turn of the event loop. A test may mock timers
 * before the first call loads the core, and files must not wait for its clock.
 */
export const nextTurn = shared('nextTurn', { call: setImmediate });

/** The functions that Node's own whole-file functions call. */
export const inner = shared('inner', {
  open: fs.open,
  write: fs.write,
  close: fs.close,
  fsync: fs.fsync,
  openSync: fs.openSync,
  readSync: fs.readSync,
  writeSync: fs.writeSync,
  closeSync: fs.closeSync,
  fsyncSync: fs.fsyncSync,
});

/** Node's own functions, whose calls are never counted. */
export const uncounted = shared('uncounted', { rm: fs.rm, rmSync: fs.rmSync, cp: fs.cp, cpSync: fs.cpSync });

/** Facts that the functions in node:fs's place learn. */
export const facts: Facts = shared('facts', {
  runsFirst: false, stubs: undefined, promiseStubs: undefined, handles: undefined, ownSync: undefined,
});

interface Facts {
  /** All of these functions are Node's own, since no other code has run before. */
  runsFirst: boolean;
  /** The stand-ins of `register`, which others of Node's functions call. */
  stubs: Partial<Record<keyof typeof fs, unknown>> | undefined;
  /** The same of node:fs/promises. */
  promiseStubs: Partial<Record<keyof typeof fs.promises, unknown>> | undefined;
  /** `FileHandle.prototype`, once a file was opened by a promise. */
  handles: { sync: unknown } | undefined;
  /** Its `sync`, if that was Node's own then. */
  ownSync: unknown;
}

/** Remembers `FileHandle.prototype`, to which an open file leads. */
export function rememberHandles(handle: fs.promises.FileHandle): void {
  if (facts.handles !== undefined) return;
  const handles = Object.getPrototypeOf(handle) as { sync: unknown };
  // Only the files of Node can call `fsCall`.
  const isOwn = facts.runsFirst || String(handles.sync).includes('fsCall(fsync, this)');
  Object.assign(facts, { handles, ownSync: isOwn ? handles.sync : undefined });
}

/** Remembers the functions of node:fs/promises as they are now, unless that is done already. */
export function rememberPromises(): void {
  Reflect.get(original, 'promises');
}
