// Which calls can be done natively. Everything else goes to node:fs, which then also does the complaining.

import fs = require('node:fs');
import url = require('node:url');
import util = require('node:util');

const { O_APPEND, O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_SYNC, O_TRUNC, O_WRONLY } = fs.constants;

/** The flag strings of node:fs that a write may use. */
const FLAGS = new Map<string, number>([
  ['r', O_RDONLY],
  ['r+', O_RDWR],
  ['rs+', O_RDWR | O_SYNC],
  ['sr+', O_RDWR | O_SYNC],
  ['w', O_TRUNC | O_CREAT | O_WRONLY],
  ['wx', O_TRUNC | O_CREAT | O_WRONLY | O_EXCL],
  ['xw', O_TRUNC | O_CREAT | O_WRONLY | O_EXCL],
  ['w+', O_TRUNC | O_CREAT | O_RDWR],
  ['wx+', O_TRUNC | O_CREAT | O_RDWR | O_EXCL],
  ['xw+', O_TRUNC | O_CREAT | O_RDWR | O_EXCL],
  ['a', O_APPEND | O_CREAT | O_WRONLY],
  ['ax', O_APPEND | O_CREAT | O_WRONLY | O_EXCL],
  ['xa', O_APPEND | O_CREAT | O_WRONLY | O_EXCL],
  ['as', O_APPEND | O_CREAT | O_WRONLY | O_SYNC],
  ['sa', O_APPEND | O_CREAT | O_WRONLY | O_SYNC],
  ['a+', O_APPEND | O_CREAT | O_RDWR],
  ['ax+', O_APPEND | O_CREAT | O_RDWR | O_EXCL],
  ['xa+', O_APPEND | O_CREAT | O_RDWR | O_EXCL],
  ['as+', O_APPEND | O_CREAT | O_RDWR | O_SYNC],
  ['sa+', O_APPEND | O_CREAT | O_RDWR | O_SYNC],
]);

/** What `open` is to be asked for by a `flag` option; undefined if node:fs has to decide. */
export function flagsOf(flag: unknown, none: number): number | undefined {
  // As in node:fs, for which `''` and 0 are none.
  if (!flag) return none;
  return typeof flag === 'number' && (flag | 0) === flag ? flag : FLAGS.get(flag as string);
}

/** Whether a whole new file can do what these flags say: one that is written or added to, and made if it is missing. */
export function isReplacing(flags: number): boolean {
  const rest = flags & ~(O_WRONLY | O_RDWR);
  return rest !== flags && (rest === (O_TRUNC | O_CREAT) || rest === (O_APPEND | O_CREAT));
}

export const DEFAULT_MODE = 0o666;
export const WRITE_FLAGS = O_TRUNC | O_CREAT | O_WRONLY;
export const APPEND_FLAGS = O_APPEND | O_CREAT | O_WRONLY;

/** What a write was asked to do. */
export interface WritePlan {
  /** The caller's encoding; undefined or null if it gave none. */
  encoding: BufferEncoding | undefined | null;
  flags: number;
  mode: number;
  flush: boolean;
}

export const PLAIN_WRITE: Readonly<WritePlan> = plain(WRITE_FLAGS);
export const PLAIN_APPEND: Readonly<WritePlan> = plain(APPEND_FLAGS);

function plain(flags: number): Readonly<WritePlan> {
  return Object.freeze({ encoding: 'utf8', flags, mode: DEFAULT_MODE, flush: false });
}

export function isUtf8(encoding: unknown): boolean {
  return encoding === 'utf8' || encoding === 'utf-8';
}

/** Whether a first argument is a descriptor as node:fs understands it. */
export function isDescriptor(path: unknown): path is number {
  return typeof path === 'number' && (path | 0) === path && path >= 0;
}

/**
 * Reads the options of a write whose defaults are `defaults`.
 *
 * @returns the plan, or undefined if node:fs has to decide: a signal, an unusual flag or mode, anything invalid
 */
export function planWrite(options: unknown, defaults: Readonly<WritePlan>): Readonly<WritePlan> | undefined {
  if (options === undefined || options === null) return defaults;
  if (typeof options === 'string') {
    if (isUtf8(options)) return defaults;
    return Buffer.isEncoding(options) ? { ...defaults, encoding: options } : undefined;
  }
  if (typeof options !== 'object') return undefined;
  // Appending looks at a copy of the enumerable properties, in node:fs; whoever hides some is served there.
  if (defaults === PLAIN_APPEND && hidesSome(options)) return undefined;
  const { encoding, mode, flag, flush, signal } = options as Record<string, unknown>;
  if (signal !== undefined) return undefined;
  if (encoding !== undefined && encoding !== null && !(typeof encoding === 'string' && Buffer.isEncoding(encoding))) {
    return undefined;
  }
  const flags = flag === undefined || flag === null ? defaults.flags : FLAGS.get(flag as string);
  if (flags === undefined) return undefined;
  if (mode !== undefined && mode !== null && !(Number.isInteger(mode) && (mode as number) >= 0 && (mode as number) <= 0xffffffff)) {
    return undefined;
  }
  if (flush !== undefined && flush !== null && typeof flush !== 'boolean') return undefined;
  return {
    encoding: encoding,
    flags,
    mode: (mode as number | undefined | null) ?? DEFAULT_MODE,
    flush: (flush) ?? false,
  };
}

function hidesSome(options: object): boolean {
  return ['encoding', 'mode', 'flag', 'flush'].some(
    (name) => name in options && Object.getOwnPropertyDescriptor(options, name)?.enumerable !== true,
  );
}

/** An encoding to give the contents in; null for a Buffer. */
export type ReadPlan = BufferEncoding | null;

/** Bun can be lent memory for Buffers, which can then not be transferred as its own can; a copy is slower than its own. */
const KEEPS_ITS_BUFFERS = process.versions.bun !== undefined;

/** As {@link planWrite}, for a read. */
export function planRead(options: unknown): ReadPlan | undefined {
  const plan = planAnyRead(options);
  return KEEPS_ITS_BUFFERS && plan !== 'utf8' ? undefined : plan;
}

function planAnyRead(options: unknown): ReadPlan | undefined {
  if (options === undefined || options === null) return null;
  if (typeof options === 'string') return readEncoding(options);
  if (typeof options !== 'object') return undefined;
  const { encoding, flag, signal, buffer } = options as Record<string, unknown>;
  if (signal !== undefined || buffer !== undefined) return undefined;
  if (flag !== undefined && flag !== null && flag !== 'r') return undefined;
  return readEncoding(encoding);
}

function readEncoding(encoding: unknown): ReadPlan | undefined {
  if (encoding === undefined || encoding === null) return null;
  if (typeof encoding !== 'string' || !Buffer.isEncoding(encoding)) return undefined;
  return isUtf8(encoding) ? 'utf8' : encoding;
}

/**
 * A path in a form that native code takes: a string, or the bytes of one. Undefined if node:fs has to decide.
 */
export function nativePath(path: unknown): string | Uint8Array | undefined {
  if (typeof path === 'string' || util.types.isUint8Array(path)) return path;
  if (path instanceof URL) {
    try {
      return url.fileURLToPath(path);
    } catch {
      return undefined;
    }
  }
  return undefined;
}
