// The functions of node:fs as they were when smallfry was loaded. They do the calls that native
// code does not take.

import fs = require('node:fs');

import { shared } from './shared.js';

let promises: Pick<typeof fs.promises, 'appendFile' | 'open' | 'readFile' | 'rename' | 'rm' | 'rmdir' | 'unlink' | 'writeFile'> | undefined;

/** The functions that smallfry does, or that wait for its closes, and `mkdirSync`. */
export const original = shared('original', {
  writeFileSync: fs.writeFileSync,
  appendFileSync: fs.appendFileSync,
  readFileSync: fs.readFileSync,
  mkdirSync: fs.mkdirSync,
  renameSync: fs.renameSync,
  rmSync: fs.rmSync,
  rmdirSync: fs.rmdirSync,
  unlinkSync: fs.unlinkSync,
  writeFile: fs.writeFile,
  appendFile: fs.appendFile,
  readFile: fs.readFile,
  rename: fs.rename,
  rm: fs.rm,
  rmdir: fs.rmdir,
  unlink: fs.unlink,
  /** Node loads node:fs/promises only when a program asks for it, and so does this. */
  get promises() {
    if (promises === undefined) {
      const { open, writeFile, appendFile, readFile, rename, rm, rmdir, unlink } = fs.promises;
      promises = { open, writeFile, appendFile, readFile, rename, rm, rmdir, unlink };
    }
    return promises;
  },
});

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

/** Facts that the functions in node:fs's place learn. */
export const facts: Facts = shared('facts', {
  runsFirst: false, writeFile: undefined, writeFileSync: undefined, handles: undefined, ownSync: undefined,
});

interface Facts {
  /** All of these functions are Node's own, since no other code has run before. */
  runsFirst: boolean;
  /** The stand-ins of `register` for two functions that others of Node's call. */
  writeFile: unknown;
  writeFileSync: unknown;
  /** `FileHandle.prototype`, once the program has opened a file by a promise. */
  handles: { sync: unknown } | undefined;
  /** Its `sync` before the program could replace it. */
  ownSync: unknown;
}

/** Remembers the functions of node:fs/promises as they are now, unless that is done already. */
export function rememberPromises(): void {
  Reflect.get(original, 'promises');
}
