// The functions of node:fs as they were when smallfry was loaded. They do the calls that native
// code does not take.

import fs = require('node:fs');

import { shared } from './shared.js';

let promises: Pick<typeof fs.promises, 'appendFile' | 'readFile' | 'rename' | 'rm' | 'rmdir' | 'unlink' | 'writeFile'> | undefined;

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
      const { writeFile, appendFile, readFile, rename, rm, rmdir, unlink } = fs.promises;
      promises = { writeFile, appendFile, readFile, rename, rm, rmdir, unlink };
    }
    return promises;
  },
});

/** Remembers the functions of node:fs/promises as they are now, unless that is done already. */
export function rememberPromises(): void {
  Reflect.get(original, 'promises');
}
