// The options of calls that read many files, and the decoding of results.

import {
  encodingOf, flag, listenerOf, type ManyAsyncOptions, type ManyOptions, MAX_IN_FLIGHT, optionsOf, positive, signalOf,
  threadsOf,
} from '../core/many.js';
import { FAIL_FAST, TEXT } from '../core/option-bits.js';

/** The default of `maxFileSize` in bytes, which is node:fs's own limit. */
export const MAX_FILE_SIZE = 2 ** 31 - 1;

export interface ReadFilesSyncOptions extends ManyOptions {
  /** Gives strings in this encoding; Buffers for null, which is the default. */
  encoding?: BufferEncoding | null | undefined;
  /** Refuses larger files before memory is allocated for them. In bytes, 2 GiB by default. */
  maxFileSize?: number | undefined;
  /**
   * Gives the outcome of each file, as `Promise.allSettled` does. By default the call fails with
   * the first failure.
   */
  settle?: boolean | undefined;
}

export interface ReadFilesOptions extends ReadFilesSyncOptions, ManyAsyncOptions {}

/** The checked options of one call. */
export interface ReadPlan {
  encoding: BufferEncoding | null;
  threads: number;
  maxFileSize: number;
  maxInFlight: number;
  settle: boolean;
  signal: AbortSignal | undefined;
  onProgress: ReadFilesOptions['onProgress'];
}

/** Checks the options of a call. */
export function planReadFiles(options: ReadFilesOptions | BufferEncoding | null | undefined): ReadPlan {
  const given = optionsOf(options);
  return {
    encoding: encodingOf(given.encoding),
    threads: threadsOf(given.threads),
    maxFileSize: positive('maxFileSize', given.maxFileSize, MAX_FILE_SIZE),
    maxInFlight: positive('maxInFlight', given.maxInFlight, MAX_IN_FLIGHT),
    settle: flag('settle', given.settle),
    signal: signalOf(given.signal),
    onProgress: listenerOf(given.onProgress),
  };
}

/** Tells whether native code makes the strings. */
export const wantsUtf8 = ({ encoding }: ReadPlan): boolean => encoding === 'utf8' || encoding === 'utf-8';

/** Returns the bits for native code. */
export const readBits = (plan: ReadPlan): number => (wantsUtf8(plan) ? TEXT : 0) | (plan.settle ? 0 : FAIL_FAST);

/** Converts a result to what the caller asked for. */
export function decoded(result: unknown, { encoding }: ReadPlan): Buffer | string {
  if (typeof result === 'string' || encoding === null) return result as Buffer | string;
  return (result as Buffer).toString(encoding);
}
