// The options of calls for one file. Calls that native code does not take go to node:fs, which also
// refuses wrong options.

import fs = require('node:fs');

import { url, util } from './builtins.js';

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

/** Returns the flags of `open` for a `flag` option; undefined if node:fs has to decide. */
export function flagsOf(flag: unknown, none: number): number | undefined {
  // node:fs takes `''` and 0 for no flag.
  if (!flag) return none;
  return typeof flag === 'number' && (flag | 0) === flag ? flag : FLAGS.get(flag as string);
}

/**
 * Tells whether `replace` is possible with these flags: they write or add to a file, and make it if
 * it is missing.
 */
export function isReplacing(flags: number): boolean {
  const rest = flags & ~(O_WRONLY | O_RDWR);
  return rest !== flags && (rest === (O_TRUNC | O_CREAT) || rest === (O_APPEND | O_CREAT));
}

export const DEFAULT_MODE = 0o666;
export const WRITE_FLAGS = O_TRUNC | O_CREAT | O_WRONLY;
export const APPEND_FLAGS = O_APPEND | O_CREAT | O_WRONLY;

/** The checked options of a write. */
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

/** Tells whether node:fs takes a first argument for a descriptor. */
export function isDescriptor(path: unknown): path is number {
  return typeof path === 'number' && (path | 0) === path && path >= 0;
}

/**
 * Reads the options of a write whose defaults are `defaults`.
 *
 * @returns the plan, or undefined if node:fs has to decide: a signal, an unusual flag or mode,
 * anything invalid
 */
export function planWrite(options: unknown, defaults: Readonly<WritePlan>): Readonly<WritePlan> | undefined {
  if (options === undefined || options === null) return defaults;
  if (typeof options === 'string') {
    if (isUtf8(options)) return defaults;
    return Buffer.isEncoding(options) ? { ...defaults, encoding: options } : undefined;
  }
  if (typeof options !== 'object') return undefined;
  // To append, node:fs copies the enumerable properties only. So it does the call if some are not
  // enumerable.
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

/** The encoding of the contents; null for a Buffer. */
export type ReadPlan = BufferEncoding | null;

/**
 * On Bun, Buffers over memory of the addon cannot be transferred to a worker, and copying is slower
 * than Bun's own reading.
 */
const LEAVES_BUFFERS = process.versions.bun !== undefined;

/** Reads the options of a read. Returns undefined if node:fs has to decide. */
export function planRead(options: unknown): ReadPlan | undefined {
  const plan = planAnyRead(options);
  return LEAVES_BUFFERS && plan !== 'utf8' ? undefined : plan;
}

function planAnyRead(options: unknown): ReadPlan | undefined {
  if (options === undefined || options === null) return null;
  if (typeof options === 'string') return readEncoding(options);
  if (typeof options !== 'object') return undefined;
  const { encoding, flag, signal, buffer } = options as Record<string, unknown>;
  if (buffer !== undefined || (signal !== undefined && !isPending(signal))) return undefined;
  if (flag !== undefined && flag !== null && flag !== 'r') return undefined;
  return readEncoding(encoding);
}

/** Tells whether node:fs takes a value for a signal, and the signal is not aborted. */
function isPending(signal: unknown): boolean {
  return typeof signal === 'object' && signal !== null && 'aborted' in signal && !signal.aborted;
}

/** Tells whether the signal in the options of a read is aborted. node:fs then refuses the call. */
export function isAborted(options: unknown): boolean {
  return typeof options === 'object' && options !== null && Boolean((options as { signal?: AbortSignal }).signal?.aborted);
}

function readEncoding(encoding: unknown): ReadPlan | undefined {
  if (encoding === undefined || encoding === null) return null;
  if (typeof encoding !== 'string' || !Buffer.isEncoding(encoding)) return undefined;
  return isUtf8(encoding) ? 'utf8' : encoding;
}

/**
 * Converts a path to a form that native code takes: a string, or the bytes of one. Undefined if
 * node:fs has to decide.
 */
export function nativePath(path: unknown): string | Uint8Array | undefined {
  if (typeof path === 'string' || util().types.isUint8Array(path)) return path;
  if (path instanceof URL) {
    try {
      return url().fileURLToPath(path);
    } catch {
      return undefined;
    }
  }
  return undefined;
}
