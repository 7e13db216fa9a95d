// Options, paths and results that calls for many files have in common.

import { AsyncResource } from 'node:async_hooks';

import { util } from './builtins.js';
import { bareError, DELEGATE, makeError } from './errors.js';
import { DEFAULT_MODE, nativePath } from './options.js';
import { shownPath, systemPath } from './platform.js';

/**
 * A path as node:fs takes it, except that bytes of a path must be UTF-8: native code gets many
 * paths as one string. Use the functions for single files for other paths.
 */
export type PathLike = string | Uint8Array | URL;

/** The type of contents: strings if the options name an encoding. */
export type Encoded<O> = O extends BufferEncoding | { encoding: BufferEncoding } ? string : Buffer;

/** The progress of a call for many files. */
export interface Progress {
  /** The number of files that have a result. */
  done: number;
  /** The number of files, as far as they have been taken from the iterable. */
  total: number;
  /** The bytes read or written. Text that was read counts as it is in memory. */
  bytes: number;
}

/** The options of all calls for many files. */
export interface ManyOptions {
  /**
   * The number of workers. By default, as many as measuring shows to be fastest, beginning with
   * one.
   */
  threads?: number | undefined;
}

/** The options of calls for many files that do not block. */
export interface ManyAsyncOptions extends ManyOptions {
  /**
   * The maximum of bytes in flight, with a little for each file. 32 MiB by default. Strings to be
   * written may take up to 12 MiB more, since their bytes are counted when they have been
   * converted.
   */
  maxInFlight?: number | undefined;
  /**
   * Aborts the call: nothing more begins, and the call rejects with the signal's reason when the
   * files in flight are done.
   */
  signal?: AbortSignal | undefined;
  /**
   * Called from time to time, and at the end unless the call was aborted. An exception in it is an
   * uncaught one.
   */
  onProgress?: ((progress: Progress) => void) | undefined;
}

export const MAX_IN_FLIGHT = 32 << 20;

/** The maximum of the `threads` option. Larger numbers count as this one. */
const MAX_THREADS = 512;

/** The result of an entry that was not begun. */
export const CANCELLED = -2;

/** The codes of errors without a system call, by the numbers of `src/errors.rs`. */
const REASONS = ['', 'ERR_FS_FILE_TOO_LARGE', 'ERR_SMALLFRY_REFUSED'] as const;

/** Makes the error for a wrong argument. */
export function refused(code: 'ERR_INVALID_ARG_TYPE' | 'ERR_INVALID_ARG_VALUE', rule: string, value: unknown): TypeError {
  const received = util().inspect(value, { depth: 0, maxArrayLength: 3, maxStringLength: 200, breakLength: Infinity });
  return Object.assign(new TypeError(`${rule}. Received ${received}`), { code });
}

function invalid(name: string, value: unknown, what: string): TypeError {
  return refused('ERR_INVALID_ARG_VALUE', `The "${name}" option must be ${what}`, value);
}

/** Makes the error for a call that needs a thread when the system has none left. */
export function noThread(what: string): Error {
  return bareError(`The system has no thread for ${what}. Try again when fewer threads run`, { code: 'ERR_SMALLFRY_NO_THREAD' });
}

/** Checks a whole number from 1 up; `fallback` for none. */
export function positive(name: string, value: unknown, fallback: number): number {
  if (value === undefined || value === null) return fallback;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value;
  throw invalid(name, value, 'a whole number from 1 up');
}

/**
 * Checks the permissions of new files, a number or an octal string.
 *
 * @throws what node:fs throws: ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE for a string,
 * ERR_OUT_OF_RANGE
 */
export function modeOf(value: unknown): number {
  if (value === undefined || value === null) return DEFAULT_MODE;
  if (typeof value === 'string' && !/^[0-7]+$/.test(value)) throw invalid('mode', value, 'a number or an octal string');
  const mode = typeof value === 'string' ? Number.parseInt(value, 8) : value;
  if (typeof mode !== 'number') {
    throw refused('ERR_INVALID_ARG_TYPE', 'The "mode" option must be a number or an octal string', value);
  }
  if (Number.isInteger(mode) && mode >= 0 && mode <= 0xffffffff) return mode;
  const error = new RangeError(`The value of "mode" is out of range. It must be a whole number from 0 to 0xffffffff. Received ${mode}`);
  throw Object.assign(error, { code: 'ERR_OUT_OF_RANGE' });
}

/** Checks the `threads` option; 0 for none. */
export function threadsOf(value: unknown): number {
  return Math.min(positive('threads', value, 0), MAX_THREADS);
}

/** Checks the `signal` option: an AbortSignal, or an object with its methods. */
export function signalOf(value: unknown): AbortSignal | undefined {
  if (value === undefined || isSignal(value)) return value;
  throw refused('ERR_INVALID_ARG_TYPE', 'The "signal" option must be an AbortSignal', value);
}

function isSignal(value: unknown): value is AbortSignal {
  if (typeof value !== 'object' || value === null || !('aborted' in value)) return false;
  const { addEventListener, removeEventListener, throwIfAborted } = value as Partial<Record<keyof AbortSignal, unknown>>;
  return [addEventListener, removeEventListener, throwIfAborted].every((method) => typeof method === 'function');
}

/**
 * Has `abort` called once when the signal aborts, or now if it has aborted. Returns a function that
 * undoes this.
 */
export function listenTo(signal: AbortSignal | undefined, abort: () => void): () => void {
  if (signal === undefined) return () => { /* nothing to forget */ };
  signal.addEventListener('abort', abort, { once: true });
  const forget = (): void => { signal.removeEventListener('abort', abort); };
  if (signal.aborted) {
    forget();
    abort();
  }
  return forget;
}

/** Checks the `onProgress` option. */
export function listenerOf(value: unknown): ManyAsyncOptions['onProgress'] {
  if (value === undefined || typeof value === 'function') return value as ManyAsyncOptions['onProgress'];
  throw refused('ERR_INVALID_ARG_TYPE', 'The "onProgress" option must be a function', value);
}

/** Checks a boolean; false for none. */
export function flag(name: string, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  if (typeof value === 'boolean') return value;
  throw invalid(name, value, 'true or false');
}

/** Checks the name of an encoding; null for none. */
export function encodingOf(value: unknown): BufferEncoding | null {
  // node:fs takes any falsy value for no encoding.
  if (!value) return null;
  if (typeof value === 'string' && Buffer.isEncoding(value)) return value.toLowerCase() as BufferEncoding;
  throw invalid('encoding', value, 'the name of an encoding');
}

/** Checks an iterable when the call is made, before it is gone through. */
export function iterable<T>(name: string, value: Iterable<T>): Iterable<T> {
  const given: unknown = value;
  if (typeof given === 'object' && given !== null && Symbol.iterator in given) return value;
  throw refused('ERR_INVALID_ARG_TYPE', `The "${name}" argument must be an iterable, other than a string`, value);
}

/** Returns options as an object; an encoding may stand in place of it. */
export function optionsOf<T extends object>(options: T | BufferEncoding | null | undefined): T & { encoding?: unknown } {
  if (options === undefined || options === null) return {} as T;
  if (typeof options === 'string') return { encoding: options } as unknown as T;
  if (typeof options === 'object') return options;
  throw refused('ERR_INVALID_ARG_TYPE', 'The "options" argument must be an object or the name of an encoding', options);
}

/**
 * Converts a path to text for native code.
 *
 * @throws TypeError as node:fs does, for a value that is no path or contains NUL
 */
export function pathText(path: unknown): string {
  // The usual case comes first, since this runs for each file.
  if (typeof path === 'string' && !path.includes('\0')) return path;
  const native = nativePath(path);
  const text = typeof native === 'string' ? native : native === undefined ? undefined : utf8Text(native);
  if (text === undefined) {
    throw refused('ERR_INVALID_ARG_TYPE', 'A path must be a string, a file: URL or a Buffer of UTF-8', path);
  }
  if (text.includes('\0')) {
    throw refused('ERR_INVALID_ARG_VALUE', 'A path must be without null bytes', text);
  }
  return text;
}

/** Converts the path of an entry to what native code hands to the system. */
export const entryText = (path: unknown): string => systemPath(pathText(path));

/** Decodes bytes; undefined if they are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  return Buffer.from(text).equals(bytes) ? text : undefined;
}

/** Tells whether an entry failed, by the result that native code left for it. */
export function isFailure(result: unknown): boolean {
  return typeof result === 'number' || result === undefined || Array.isArray(result);
}

/** Makes the error of an entry from the result that native code left for it. It has no stack. */
export function failure(result: unknown, path: string): Error {
  if (typeof result === 'number') return numbered(result, path);
  if (Array.isArray(result)) {
    const [code, about, text, destination] = result as [number, string, string?, string?];
    return text === undefined ? makeError(code, about, undefined, false, destination) : bareError(text, { code: REASONS[code], path: shownPath(about) });
  }
  return bareError(`smallfry: internal error at '${path}'`, { code: 'ERR_SMALLFRY_INTERNAL', path });
}

function numbered(result: number, path: string): Error {
  if (result === CANCELLED) return bareError('Cancelled before it began', { code: 'ERR_SMALLFRY_CANCELLED' });
  if (result === DELEGATE) {
    const reason = `Cannot create a string or Buffer for '${path}': it is too large`;
    return bareError(reason, { code: 'ERR_STRING_TOO_LONG', path });
  }
  return makeError(result, path, undefined);
}

/** Tells whether an entry was not begun, by the result that native code left for it. */
export const isCancelled = (result: unknown): boolean => result === CANCELLED;

/**
 * Returns a function that calls `onProgress` in the asynchronous context of this call. An exception
 * in it is an uncaught one, as in an event listener, and the call goes on.
 */
export function progressOf(onProgress: ManyAsyncOptions['onProgress']): ((progress: Progress) => void) | undefined {
  if (onProgress === undefined) return undefined;
  const context = new AsyncResource('SMALLFRY');
  return (progress) => {
    try {
      context.runInAsyncScope(onProgress, undefined, progress);
    } catch (error) {
      process.nextTick(() => { throw error; });
    }
  };
}

/** Makes the outcome of one entry as `Promise.allSettled` has it; `value` may throw. */
export function settled<T>(error: Error | undefined, value: () => T): PromiseSettledResult<T> {
  if (error !== undefined) return { status: 'rejected', reason: error };
  try {
    return { status: 'fulfilled', value: value() };
  } catch (reason) {
    return { status: 'rejected', reason };
  }
}
