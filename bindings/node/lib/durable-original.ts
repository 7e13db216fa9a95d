// Single writes of which more is asked than to write, by node:fs: where there is no native code, or it does not take the call.
//
// The steps are written once, as generators that yield what has to be waited for; `runSync` and `runLater` go through them
// with the two forms of node:fs's functions.

import { randomBytes } from 'node:crypto';
import fs = require('node:fs');
import path = require('node:path');
import util = require('node:util');

import { DATA, type Durable, FULL, named as namedAlways, NOTHING } from './durability.js';
import { bareError, makeError, OPEN } from './errors.js';
import { refused } from './many.js';
import { original } from './original.js';

type Data = string | NodeJS.ArrayBufferView | AsyncIterable<unknown> | Iterable<unknown>;
type Steps = Generator<unknown, void, never>;

interface Plan extends Durable {
  readonly encoding: BufferEncoding;
  readonly flags: number;
  readonly mode: number;
  readonly signal?: AbortSignal | undefined;
}

/** An open file. Each answers what is to be waited for. */
interface OpenFile {
  write(data: Data, plan: Plan): unknown;
  sync(): unknown;
  datasync(): unknown;
  chmod(mode: number): unknown;
  chown(user: number, group: number): unknown;
  close(): unknown;
}

/** One of the two forms of node:fs. */
interface System {
  open(name: string | Uint8Array, flags: number, mode: number): unknown;
  lstat(name: string): unknown;
  realpath(name: string): unknown;
  readFile(name: string): unknown;
  rename(from: string, to: string): unknown;
  copyFile(from: string, to: string): unknown;
  unlink(name: string): unknown;
}

/** What the caller's own iterables threw, which may be errors of system calls as well: about other files. */
const foreign = new WeakSet();

async function* watched(pieces: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator {
  try {
    yield* pieces;
  } catch (error) {
    if (error instanceof Error) foreign.add(error);
    throw error;
  }
}

const named = (error: unknown, of: string): unknown =>
  (error instanceof Error && foreign.has(error) ? error : namedAlways(error, of));

const descriptor = (fd: number): OpenFile => ({
  write: (data, { encoding }) => { original.writeFileSync(fd, data as string, encoding); },
  sync: () => { fs.fsyncSync(fd); },
  datasync: () => { fs.fdatasyncSync(fd); },
  chmod: (mode) => { fs.fchmodSync(fd, mode); },
  chown: (user, group) => { fs.fchownSync(fd, user, group); },
  close: () => { fs.closeSync(fd); },
});

const handle = (file: fs.promises.FileHandle): OpenFile => ({
  write: (data, { encoding, signal }) => {
    const given = typeof data === 'string' || ArrayBuffer.isView(data) ? data : watched(data);
    return original.promises.writeFile(file, given as string, { encoding, signal });
  },
  sync: () => file.sync(),
  datasync: () => file.datasync(),
  chmod: (mode) => file.chmod(mode),
  chown: (user, group) => file.chown(user, group),
  close: () => file.close(),
});

const now: System = {
  open: (name, flags, mode) => descriptor(fs.openSync(name as string, flags, mode)),
  lstat: (name) => fs.lstatSync(name),
  realpath: (name) => fs.realpathSync(name),
  readFile: (name) => original.readFileSync(name),
  rename: (from, to) => { fs.renameSync(from, to); },
  copyFile: (from, to) => { fs.copyFileSync(from, to); },
  unlink: (name) => { fs.unlinkSync(name); },
};

const later: System = {
  open: async (name, flags, mode) => handle(await fs.promises.open(name as string, flags, mode)),
  lstat: (name) => fs.promises.lstat(name),
  realpath: (name) => fs.promises.realpath(name),
  readFile: (name) => original.promises.readFile(name),
  rename: (from, to) => fs.promises.rename(from, to),
  copyFile: (from, to) => fs.promises.copyFile(from, to),
  unlink: (name) => fs.promises.unlink(name),
};

function runSync(steps: Steps): void {
  let step = steps.next();
  while (step.done !== true) step = steps.next(step.value as never);
}

async function runLater(steps: Steps): Promise<void> {
  let step = steps.next();
  while (step.done !== true) {
    let value: unknown;
    try {
      value = await step.value;
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(value as never);
  }
}

/** Writes to a path or a descriptor. */
export function writeOriginalSync(target: string | Uint8Array | number, data: Data, plan: Plan): void {
  if (typeof target === 'number') runSync(writeOpen(descriptor(target), data, plan));
  else runSync(plan.replace ? replace(now, textOf(target), data, plan) : writePath(now, target, data, plan));
}

/** The same later. */
export function writeOriginal(
  target: string | Uint8Array | number | fs.promises.FileHandle, data: Data, plan: Plan,
): Promise<void> {
  if (typeof target === 'string' || target instanceof Uint8Array) {
    return runLater(plan.replace ? replace(later, textOf(target), data, plan) : writePath(later, target, data, plan));
  }
  if (typeof target !== 'number') return runLater(writeOpen(handle(target), data, plan));
  return new Promise((resolve, reject) => {
    const flush = plan.level === DATA ? fs.fdatasync : fs.fsync;
    original.writeFile(target, data as string, { encoding: plan.encoding, signal: plan.signal }, (error) => {
      if (error) reject(error);
      else if (plan.level === NOTHING) resolve();
      else flush(target, (failed) => { if (failed) reject(failed); else resolve(); });
    });
  });
}

/** A file that was left alone, as nobody knows whether it was flushed. */
export function flushOriginalSync(name: string, durable: Durable): void {
  runSync(flushPath(now, name, durable));
}

function textOf(target: string | Uint8Array): string {
  const text = typeof target === 'string' ? target : Buffer.from(target).toString();
  if (typeof target === 'string' || Buffer.from(text).equals(target)) return text;
  throw refused('ERR_INVALID_ARG_VALUE', 'The argument \'path\' must be UTF-8 for a file to be replaced', target);
}

function* flush(file: OpenFile, { level }: Durable): Steps {
  if (level === DATA) yield file.datasync();
  else if (level !== NOTHING) yield file.sync();
}

function* flushDirectory(system: System, name: string, { level }: Durable): Steps {
  if (level !== FULL || process.platform === 'win32') return;
  // Where links lead is where the name is.
  const resolved: string = yield system.realpath(name);
  const directory = path.dirname(resolved);
  const file: OpenFile = yield system.open(directory, fs.constants.O_RDONLY, 0);
  try {
    yield file.sync();
  } catch (error) {
    throw named(error, directory);
  } finally {
    yield file.close();
  }
}

function* flushPath(system: System, name: string, durable: Durable): Steps {
  const access = process.platform === 'win32' ? fs.constants.O_RDWR : fs.constants.O_RDONLY;
  const file: OpenFile = yield system.open(name, access, 0);
  try {
    yield* flush(file, durable);
  } finally {
    yield file.close();
  }
  yield* flushDirectory(system, name, durable);
}

function* writeOpen(file: OpenFile, data: Data, plan: Plan): Steps {
  yield file.write(data, plan);
  yield* flush(file, plan);
}

function* writePath(system: System, target: string | Uint8Array, data: Data, plan: Plan): Steps {
  const name = typeof target === 'string' ? target : Buffer.from(target).toString();
  const file: OpenFile = yield system.open(target, plan.flags, plan.mode);
  try {
    yield* writeOpen(file, data, plan);
  } catch (error) {
    throw named(error, name);
  } finally {
    yield file.close();
  }
  yield* flushDirectory(system, name, plan);
}

function isDirectory(name: string): Error {
  const known = [...util.getSystemErrorMap()].find(([, [code]]) => code === 'EISDIR');
  return makeError(OPEN << 16 | -(known?.[0] ?? 0), name, undefined);
}

/** What is at `name` behind links; nothing if there is nothing. */
function* find(system: System, name: string): Generator<unknown, { target: string; old: fs.Stats | undefined }, never> {
  try {
    yield system.lstat(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { target: name, old: undefined };
  }
  const target: string = yield system.realpath(name);
  const old: fs.Stats = yield system.lstat(target);
  if (old.isDirectory()) throw isDirectory(name);
  if (!old.isFile()) throw bareError(`open ${name}: only a regular file can be replaced`, { code: 'ERR_SMALLFRY_REFUSED', path: name });
  return { target, old };
}

function* replace(system: System, name: string, data: Data, plan: Plan): Steps {
  const { target, old } = yield* find(system, name);
  const { O_APPEND, O_CREAT, O_EXCL, O_WRONLY } = fs.constants;
  const temporary = path.join(path.dirname(target), `.${path.basename(target).slice(0, 50)}.${randomBytes(8).toString('hex')}.smallfry`);
  const file: OpenFile = yield* asIf(name, temporary, () => system.open(temporary, O_WRONLY | O_CREAT | O_EXCL, old === undefined ? plan.mode : 0o600));
  let isLeft = true;
  try {
    try {
      if (old !== undefined && (plan.flags & O_APPEND) !== 0) yield file.write((yield system.readFile(target)) as Buffer, plan);
      yield file.write(data, plan);
      if (old !== undefined && process.platform !== 'win32') {
        if (old.uid !== process.getuid?.() || old.gid !== process.getgid?.()) yield file.chown(old.uid, old.gid);
        yield file.chmod(old.mode & 0o7777);
      }
      if (plan.level !== NOTHING) yield file.sync();
    } catch (error) {
      throw named(error, name);
    } finally {
      yield file.close();
    }
    try {
      yield system.rename(temporary, target);
      isLeft = false;
    } catch (error) {
      if (!plan.inPlaceIfBusy || (error as NodeJS.ErrnoException).code !== 'EBUSY') throw error;
      yield system.copyFile(temporary, target);
      yield* flushPath(system, target, plan);
    }
  } finally {
    if (isLeft) yield* unlink(system, temporary);
  }
  yield* flushDirectory(system, target, plan);
}

/** Has errors about the temporary file name the file that was to be written. */
function* asIf(name: string, temporary: string, call: () => unknown): Generator<unknown, never, never> {
  try {
    return yield call();
  } catch (error) {
    const about = error as NodeJS.ErrnoException;
    if (about.path === temporary) {
      about.message = about.message.replace(temporary, () => name);
      about.path = name;
    }
    throw error;
  }
}

function* unlink(system: System, temporary: string): Steps {
  try {
    yield system.unlink(temporary);
  } catch {
    // There is an error to report already, and this one tells nothing more.
  }
}
