// Reading many files in one call.

import {
  type Encoded, encodingOf, failure, flag, isFailure, iterable, listenerOf, listenTo, type ManyAsyncOptions,
  type ManyOptions, MAX_IN_FLIGHT, optionsOf, type PathLike, entryText, positive, progressOf, signalOf, threadsOf,
} from './many.js';
import { nativeHere } from './native.js';
import { Outcomes } from './outcomes.js';
import { Original } from './read-files-original.js';
import { follow, type State, unfollow } from './sessions.js';

/** Paths handed to native code at a time. All of them joined could be more than a string holds. */
const CHUNK = 4096;

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

/** The results of one call, on their way to the caller. */
function outcomesOf(results: unknown[], texts: string[], plan: ReadPlan): Outcomes {
  const asked = plan.encoding === null || isUtf8(plan.encoding);
  return new Outcomes(results, plan.settle, {
    isFailure,
    failure: (result, index) => failure(result, texts[index] ?? ''),
    value: asked ? undefined : (result) => decoded(result, plan),
    whole: asked && !plan.settle ? () => results : undefined,
  });
}

/** Paths joined by NUL, some of them at a time, and how many more there are. */
function* joined(texts: string[]): Generator<[some: string, beyond: number]> {
  for (let start = 0; start < texts.length; start += CHUNK) {
    const some = texts.slice(start, start + CHUNK);
    yield [some.join('\0'), texts.length - start - some.length];
  }
}

/** Reads many files, and blocks until all are read: for programs that do nothing else meanwhile. */
function readManySync(paths: Iterable<PathLike>, options?: ReadFilesSyncOptions | BufferEncoding | null): unknown {
  const plan = planOf(options);
  const texts = Array.from(iterable('paths', paths), entryText);
  const results: unknown[] = new Array<unknown>(texts.length);
  const here = nativeHere();
  if (here === undefined) return new Original(plan).readAllSync(texts);
  let read = 0;
  if (texts.length > 0) {
    const { threads, maxFileSize } = plan;
    const parts = Array.from(joined(texts), ([some]) => some);
    read = here.readManySync(parts, results, isUtf8(plan.encoding) ? 1 : 0, threads, maxFileSize, plan.settle ? 0 : 1);
  }
  try {
    return outcomesOf(results, texts, plan).conclude(texts.length, read < texts.length);
  } catch (error) {
    if (error instanceof Error) Error.captureStackTrace(error, readManySync);
    throw error;
  }
}

/** As {@link readManySync} without blocking: native threads read, and values are made a few milliseconds at a time. */
function readMany(paths: Iterable<PathLike>, options?: ReadFilesOptions | BufferEncoding | null): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const plan = planOf(options);
    plan.signal?.throwIfAborted();
    const texts = Array.from(iterable('paths', paths), entryText);
    plan.signal?.throwIfAborted();
    const total = texts.length;
    const results: unknown[] = new Array<unknown>(total);
    const outcomes = outcomesOf(results, texts, plan);
    let report = progressOf(plan.onProgress);
    const follower = {
      advance({ done, failed, bytes, ended }: State): void {
        report?.({ done, total, bytes });
        if (!ended) {
          outcomes.advance(failed > 0);
          return;
        }
        forget();
        // Less than all only if native code broke down.
        outcomes.settle(total, failed > 0 || done < total, resolve, reject);
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
    const abort = (): void => {
      here.cancel(id);
      report = undefined;
      outcomes.drop();
      reject(plan.signal?.reason as Error);
    };
    let forget = (): void => { /* nothing listens yet */ };
    try {
      forget = listenTo(plan.signal, abort);
      for (const [some, beyond] of joined(texts)) here.pushPaths(id, some, beyond);
    } catch (error) {
      here.cancel(id);
      throw error;
    } finally {
      here.close(id);
    }
  });
}

type Result<O> = O extends { settle: true } ? PromiseSettledResult<Encoded<O>>[] : Encoded<O>[];

/**
 * The contents of many files, in the order of paths, read in one call by native threads.
 *
 * Rejects with the first failure, as `Promise.all` does; with `{settle: true}` it gives each file's outcome, as
 * `Promise.allSettled` does. `paths` may be any iterable. Other code runs meanwhile: results are made into values for 2 ms
 * at a time. On Bun, a Buffer of 4 KiB or more can be cloned but not transferred to a worker.
 */
export const readFiles = readMany as <const O extends ReadFilesOptions | BufferEncoding | null | undefined = undefined>(
  paths: Iterable<PathLike>, options?: O,
) => Promise<Result<O>>;

/** As {@link readFiles}; the calling thread works too and nothing else runs until it is done. Throws the first failure. */
export const readFilesSync = readManySync as <
  const O extends ReadFilesSyncOptions | BufferEncoding | null | undefined = undefined,
>(paths: Iterable<PathLike>, options?: O) => Result<O>;
