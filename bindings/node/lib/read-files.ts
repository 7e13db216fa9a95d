// Reading many files in one call.

import { usesVirtualFiles } from './addon.js';
import {
  encodingOf, failure, flag, iterable, isCancelled, listenerOf, type ManyAsyncOptions, type ManyOptions, MAX_IN_FLIGHT,
  optionsOf, type PathLike, pathText, positive, progressOf, settled, signalOf, threadsOf,
} from './many.js';
import { native } from './native.js';
import { Original } from './read-files-original.js';
import { follow, unfollow } from './sessions.js';

/** Files larger than this are refused, as by node:fs. */
export const MAX_FILE_SIZE = 2 ** 31 - 1;
export interface ReadFilesSyncOptions extends ManyOptions {
  /** Gives strings in this encoding; Buffers for null, which is the default. */
  encoding?: BufferEncoding | null | undefined;
  /** Refuse files of more bytes than this, before anything is allocated. 2 GiB by default. */
  maxFileSize?: number | undefined;
  /** Give the outcome of each file, as `Promise.allSettled` does, rather than fail with the first that fails. */
  settle?: boolean | undefined;
}

export interface ReadFilesOptions extends ReadFilesSyncOptions, ManyAsyncOptions {}

export interface ReadPlan {
  encoding: BufferEncoding | null;
  threads: number;
  maxFileSize: number;
  maxInFlight: number;
  settle: boolean;
  signal: AbortSignal | undefined;
  onProgress: ReadFilesOptions['onProgress'];
}

export function planOf(options: ReadFilesOptions | BufferEncoding | null | undefined): ReadPlan {
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

export const isUtf8 = (encoding: BufferEncoding | null): boolean => encoding === 'utf8' || encoding === 'utf-8';

/** A result as the caller asked for it. */
export function decoded(result: unknown, { encoding }: ReadPlan): Buffer | string {
  if (typeof result === 'string' || encoding === null) return result as Buffer | string;
  return (result as Buffer).toString(encoding);
}

/** Turns what native code left into what the caller gets; throws the first failure unless all are wanted. */
function conclude(results: unknown[], texts: string[], plan: ReadPlan): unknown[] {
  // A string or a Buffer is what was asked for; there is no need to look at each twice.
  const asked = plan.encoding === null || isUtf8(plan.encoding);
  if (!plan.settle && asked && areContents(results)) return results;
  const outcomes = texts.map((text, index) => {
    const error = failure(results[index], text);
    return settled(error, () => decoded(results[index], plan));
  });
  if (plan.settle) return outcomes;
  // What was stopped because of the first failure is not the first failure.
  const rejected = outcomes.filter((outcome) => outcome.status === 'rejected');
  const first = rejected.find(({ reason }) => !isCancelled(reason)) ?? rejected.at(0);
  if (first !== undefined) throw first.reason;
  return outcomes.map((outcome) => (outcome as PromiseFulfilledResult<unknown>).value);
}

function areContents(results: unknown[]): boolean {
  for (const result of results) {
    if (typeof result !== 'string' && !Buffer.isBuffer(result)) return false;
  }
  return true;
}

/** Whether native code may do it. */
export const nativeHere = (): typeof native => (usesVirtualFiles() ? undefined : native);

/** Reads many files, and blocks until all are read: for programs that do nothing else meanwhile. */
function readManySync(paths: Iterable<PathLike>, options?: ReadFilesSyncOptions | BufferEncoding | null): unknown[] {
  const plan = planOf(options);
  const texts = Array.from(iterable('paths', paths), pathText);
  const results: unknown[] = new Array<unknown>(texts.length);
  const here = nativeHere();
  if (here === undefined) return new Original(plan).readAllSync(texts);
  if (texts.length > 0) {
    const { threads, maxFileSize } = plan;
    here.readManySync(texts.join('\0'), results, isUtf8(plan.encoding) ? 1 : 0, threads, maxFileSize, plan.settle ? 0 : 1);
  }
  try {
    return conclude(results, texts, plan);
  } catch (error) {
    if (error instanceof Error) Error.captureStackTrace(error, readManySync);
    throw error;
  }
}

/** As {@link readManySync} without blocking: native threads read, and values are made a few milliseconds at a time. */
function readMany(paths: Iterable<PathLike>, options?: ReadFilesOptions | BufferEncoding | null): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const plan = planOf(options);
    plan.signal?.throwIfAborted();
    const texts = Array.from(iterable('paths', paths), pathText);
    plan.signal?.throwIfAborted();
    const total = texts.length;
    const results: unknown[] = new Array<unknown>(total);
    let report = progressOf(plan.onProgress);
    const abort = (): void => {
      here?.cancel(id);
      report = undefined;
      reject(plan.signal?.reason as Error);
    };
    const follower = {
      advance(done: number, bytes: number, ended: boolean): void {
        report?.({ done, total, bytes });
        if (!ended) return;
        plan.signal?.removeEventListener('abort', abort);
        // A promise's own function turns what it throws into a rejection.
        Promise.resolve().then(() => conclude(results, texts, plan)).then(resolve, reject);
      },
    };
    const here = nativeHere();
    const id = follow(follower);
    const { threads, maxInFlight, maxFileSize } = plan;
    const stop = plan.settle ? 0 : 1;
    const utf8 = isUtf8(plan.encoding) ? 1 : 0;
    if (here?.openRead(id, results, utf8, 0, threads, maxInFlight, maxFileSize, stop) !== undefined || here === undefined) {
      unfollow(id);
      resolve(new Original(plan).readAll(texts));
      return;
    }
    plan.signal?.addEventListener('abort', abort, { once: true });
    if (total > 0) here.pushPaths(id, texts.join('\0'), 0);
    here.close(id);
  });
}

export type Encoded<O> = O extends BufferEncoding | { encoding: BufferEncoding } ? string : Buffer;
type Outcomes<O> = O extends { settle: true } ? PromiseSettledResult<Encoded<O>>[] : Encoded<O>[];
/**
 * The contents of many files, in the order of paths, read in one call by native threads.
 *
 * Rejects with the first failure, as `Promise.all` does; with `{settle: true}` it gives each file's outcome, as
 * `Promise.allSettled` does. `paths` may be any iterable. Other code runs meanwhile: results are made into values for 2 ms
 * at a time.
 */
export const readFiles = readMany as <const O extends ReadFilesOptions | BufferEncoding | null | undefined = undefined>(
  paths: Iterable<PathLike>, options?: O,
) => Promise<Outcomes<O>>;

/** As {@link readFiles}; the calling thread works too and nothing else runs until it is done. Throws the first failure. */
export const readFilesSync = readManySync as <
  const O extends ReadFilesSyncOptions | BufferEncoding | null | undefined = undefined,
>(paths: Iterable<PathLike>, options?: O) => Outcomes<O>;
