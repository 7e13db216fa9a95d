// Writes and flushes files by node:fs, without the addon and for calls that native code does not
// take.
//
// Nothing here replaces a file: only native code does that.

import fs = require('node:fs');
import path = require('node:path');

import { type Durable, flushDirectory, flushDirectorySync, type Level, named } from './options.js';
import { FLUSH_DATA, FLUSH_FULL, FLUSH_NOTHING } from '../option-bits.js';
import { original } from '../../original.js';

type Target = string | Uint8Array | number | fs.promises.FileHandle;
type Data = string | NodeJS.ArrayBufferView | AsyncIterable<unknown> | Iterable<unknown>;

interface Plan {
  readonly level: Level;
  readonly encoding: BufferEncoding;
  readonly flags: number;
  readonly mode: number;
  readonly signal?: AbortSignal | undefined;
}

/** Writes to a path or a descriptor, and flushes. */
export function writeDurablyByNodeSync(target: string | Uint8Array | number, data: string | NodeJS.ArrayBufferView, plan: Plan): void {
  if (typeof target === 'number') {
    writeOpenSync(target, data, plan);
    return;
  }
  const name = textOf(target);
  const fd = fs.openSync(target as string, plan.flags, plan.mode);
  try {
    writeOpenSync(fd, data, plan);
  } catch (error) {
    throw named(error, name);
  } finally {
    fs.closeSync(fd);
  }
  flushNameSync(name, plan);
}

/**
 * Flushes a file that was not written because it already holds the right bytes. Those may not be on
 * the disk yet.
 */
export function flushFileSync(name: string, durable: Durable): void {
  const fd = fs.openSync(name, process.platform === 'win32' ? fs.constants.O_RDWR : fs.constants.O_RDONLY);
  try {
    flushOpenSync(fd, durable);
  } finally {
    fs.closeSync(fd);
  }
  flushNameSync(name, durable);
}

function writeOpenSync(fd: number, data: string | NodeJS.ArrayBufferView, plan: Plan): void {
  original.writeFileSync(fd, data, plan.encoding);
  flushOpenSync(fd, plan);
}

function flushOpenSync(fd: number, { level }: { level: Level }): void {
  if (level === FLUSH_DATA) fs.fdatasyncSync(fd);
  else if (level !== FLUSH_NOTHING) fs.fsyncSync(fd);
}

function flushNameSync(name: string, { level }: { level: Level }): void {
  // The name to flush is in the directory that links lead to.
  if (level === FLUSH_FULL && process.platform !== 'win32') flushDirectorySync(path.dirname(fs.realpathSync(name)));
}

/**
 * Writes and flushes as {@link writeDurablyByNodeSync} does, for promises and callbacks. It takes
 * FileHandles and iterables too.
 */
export async function writeDurablyByNode(target: Target, data: Data, plan: Plan): Promise<void> {
  if (typeof target === 'number') {
    await writeDescriptor(target, data, plan);
    return;
  }
  if (typeof target !== 'string' && !(target instanceof Uint8Array)) {
    await writeHandle(target, data, plan);
    return;
  }
  const name = textOf(target);
  const handle = await fs.promises.open(target as string, plan.flags, plan.mode);
  try {
    await writeHandle(handle, data, plan);
  } catch (error) {
    throw error instanceof Error && foreign.has(error) ? error : named(error, name);
  } finally {
    await handle.close();
  }
  // The name to flush is in the directory that links lead to.
  if (plan.level === FLUSH_FULL && process.platform !== 'win32') await flushDirectory(path.dirname(await fs.promises.realpath(name)));
}

async function writeHandle(handle: fs.promises.FileHandle, data: Data, { level, encoding, signal }: Plan): Promise<void> {
  const given = typeof data === 'string' || ArrayBuffer.isView(data) ? data : marked(data);
  await original.promises.writeFile(handle, given as string, { encoding, signal });
  if (level === FLUSH_DATA) await handle.datasync();
  else if (level !== FLUSH_NOTHING) await handle.sync();
}

function writeDescriptor(fd: number, data: Data, { level, encoding, signal }: Plan): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null): void => { if (error) reject(error); else resolve(); };
    original.writeFile(fd, data as string, { encoding, signal }, (error) => {
      if (error || level === FLUSH_NOTHING) done(error);
      else if (level === FLUSH_DATA) fs.fdatasync(fd, done);
      else fs.fsync(fd, done);
    });
  });
}

/**
 * The errors that the caller's own iterables threw. They may be errors of system calls too, about
 * other files.
 */
const foreign = new WeakSet();

/** Passes pieces on, and remembers what their iterable throws. */
async function* marked(pieces: AsyncIterable<unknown> | Iterable<unknown>): AsyncGenerator {
  try {
    yield* pieces;
  } catch (error) {
    if (error instanceof Error) foreign.add(error);
    throw error;
  }
}

const textOf = (target: string | Uint8Array): string => (typeof target === 'string' ? target : Buffer.from(target).toString());
