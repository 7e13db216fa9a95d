// What calls for many files have in common: options, paths, results.

import { type AsyncResource } from 'node:async_hooks';

import { DELEGATE, makeError } from './errors.js';
import { nativePath } from './options.js';

/** A path as node:fs takes it. */
export type PathLike = string | Buffer | URL;

/** How far a call for many files is. */
export interface Progress {
  /** Files that have a result. */
  done: number;
  /** Files asked for, as far as the iterable has been gone through. */
  total: number;
  /** Bytes read. */
  bytes: number;
}

/** Options that all calls for many files have. */
export interface ManyOptions {
  /** Files worked on at once. By default as many as measuring shows to be fastest, beginning with one. */
  threads?: number | undefined;
}

/** Options of those that finish later. */
export interface ManyAsyncOptions extends ManyOptions {
  /** Bytes, at most, that are held for files under way. 32 MiB by default. */
  maxInFlight?: number | undefined;
  /** Aborts the call: nothing more is begun, and it rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called now and then, and at the end. */
  onProgress?: ((progress: Progress) => void) | undefined;
}

export const MAX_IN_FLIGHT = 32 << 20;

/** An entry that was not begun. */
const CANCELLED = -2;

function invalid(name: string, value: unknown, what: string): TypeError {
  const error = new TypeError(`The "${name}" option must be ${what}. Received ${describe(value)}`);
  return Object.assign(error, { code: 'ERR_INVALID_ARG_VALUE' });
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** A whole number from 1 up, or `fallback` for none. */
export function positive(name: string, value: unknown, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  throw invalid(name, value, 'a whole number from 1 up');
}

/** Yes or no; no for none. */
export function flag(name: string, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw invalid(name, value, 'true or false');
}

/** The name of an encoding, or null for none. */
export function encodingOf(value: unknown): BufferEncoding | null {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && Buffer.isEncoding(value)) return value;
  throw invalid('encoding', value, 'the name of an encoding');
}

/** Refuses what cannot be gone through, as early as the call is made. */
export function iterable<T>(name: string, value: Iterable<T>): Iterable<T> {
  const given: unknown = value;
  if (typeof given === 'object' && given !== null && Symbol.iterator in given) return value;
  const error = new TypeError(`The "${name}" argument must be an iterable, other than a string. Received ${describe(value)}`);
  throw Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' });
}

/** Options as an object, with an encoding in place of it allowed. */
export function optionsOf<T extends object>(options: T | BufferEncoding | null | undefined): T & { encoding?: unknown } {
  if (options === undefined || options === null) return {} as T;
  if (typeof options === 'string') return { encoding: options } as unknown as T;
  if (typeof options === 'object') return options;
  throw invalid('options', options, 'an object or the name of an encoding');
}

/**
 * A path as text for native code.
 *
 * @throws TypeError as node:fs, for what is no path or contains NUL
 */
export function pathText(path: unknown): string {
  const native = nativePath(path);
  const text = typeof native === 'string' ? native : native === undefined ? undefined : textOf(native);
  if (text === undefined) {
    const error = new TypeError(`A path must be a string, a file: URL or a Buffer of UTF-8. Received ${describe(path)}`);
    throw Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' });
  }
  if (text.includes('\0')) {
    const error = new TypeError(`A path must be without null bytes. Received ${JSON.stringify(text)}`);
    throw Object.assign(error, { code: 'ERR_INVALID_ARG_VALUE' });
  }
  return text;
}

function textOf(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  return Buffer.from(text).equals(bytes) ? text : undefined;
}

/** Why an entry failed, from what native code left for it; undefined if it did not. */
export function failure(result: unknown, path: string): Error | undefined {
  if (typeof result === 'number') {
    if (result === CANCELLED) return cancelled();
    if (result === DELEGATE) {
      const error = new Error(`Cannot create a string or Buffer for '${path}': it is too large`);
      return Object.assign(error, { code: 'ERR_STRING_TOO_LONG', path });
    }
    return makeError(result, path, undefined);
  }
  if (Array.isArray(result)) {
    const [code, text] = result as [number, string];
    if (code > 0xffff) return makeError(code, text, undefined);
    return Object.assign(new Error(text), { code: codeOf(text), path });
  }
  if (result === undefined) {
    return Object.assign(new Error(`smallfry: internal error at '${path}'`), { code: 'ERR_SMALLFRY_INTERNAL', path });
  }
  return undefined;
}

function codeOf(text: string): string {
  return text.includes('more than the limit') ? 'ERR_FS_FILE_TOO_LARGE' : 'ERR_SMALLFRY_REFUSED';
}

/** The error of an entry that was not begun. */
function cancelled(): Error {
  return Object.assign(new Error('Cancelled before it began'), { code: 'ERR_SMALLFRY_CANCELLED' });
}

export function isCancelled(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'ERR_SMALLFRY_CANCELLED';
}

/** Calls `onProgress` in the context of the call that it belongs to. */
export function progressOf(
  onProgress: ((progress: Progress) => void) | undefined,
  resource: () => AsyncResource,
): ((progress: Progress) => void) | undefined {
  if (onProgress === undefined) return undefined;
  const context = resource();
  return (progress) => { context.runInAsyncScope(onProgress, undefined, progress); };
}

/** What `Promise.allSettled` gives for one. */
export function settled<T>(error: Error | undefined, value: () => T): PromiseSettledResult<T> {
  return error === undefined ? { status: 'fulfilled', value: value() } : { status: 'rejected', reason: error };
}
