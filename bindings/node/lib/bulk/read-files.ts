// Reads many files in one call.

import { type Encoded, failure, isFailure, iterable, listenTo, type PathLike, entryText, progressOf } from '../core/many.js';
import { nativeHere } from '../core/native.js';
import { Outcomes } from './outcomes.js';
import { FallbackReader } from './read-files-fallback.js';
import { decoded, planReadFiles, readBits, type ReadFilesOptions, type ReadFilesSyncOptions, type ReadPlan, wantsUtf8 } from './read-plan.js';
import { follow, type State, unfollow } from '../core/sessions.js';

/**
 * The number of paths that are handed to native code at a time. All paths joined could be longer
 * than a string may be.
 */
const CHUNK = 4096;

/**
 * The number of paths that native code has at most before their results. A path takes about 100
 * bytes there.
 */
const AHEAD = 4 * CHUNK;

/** Tells whether the caller gets each result of native code as it is. */
const asksForResults = (plan: ReadPlan): boolean => plan.encoding === null || wantsUtf8(plan);

/** Makes the {@link Outcomes} of one call. */
function outcomesOf(results: unknown[], texts: string[], plan: ReadPlan): Outcomes {
  const asked = asksForResults(plan);
  return new Outcomes(results, plan.settle, {
    isFailure,
    failure: (result, index) => failure(result, texts[index] ?? ''),
    value: asked ? undefined : (result) => decoded(result, plan),
    whole: asked && !plan.settle ? () => results : undefined,
  });
}

/** Yields some paths at a time, joined by NUL, with the number of paths that are left. */
function* joined(texts: string[]): Generator<[some: string, beyond: number]> {
  for (let start = 0; start < texts.length; start += CHUNK) {
    const some = texts.slice(start, start + CHUNK);
    yield [some.join('\0'), texts.length - start - some.length];
  }
}

/** Reads many files, and blocks until all are read. */
function readManySync(paths: Iterable<PathLike>, options?: ReadFilesSyncOptions | BufferEncoding | null): unknown {
  const plan = planReadFiles(options);
  const texts = Array.from(iterable('paths', paths), entryText);
  const results: unknown[] = new Array<unknown>(texts.length);
  const here = nativeHere();
  if (here === undefined) return new FallbackReader(plan).readAllSync(texts);
  let read = 0;
  if (texts.length > 0) {
    const { threads, maxFileSize } = plan;
    const parts = Array.from(joined(texts), ([some]) => some);
    read = here.readManySync(parts, results, readBits(plan), threads, maxFileSize);
  }
  try {
    return outcomesOf(results, texts, plan).conclude(texts.length, read < texts.length);
  } catch (error) {
    if (error instanceof Error) Error.captureStackTrace(error, readManySync);
    throw error;
  }
}

/** Reads many files, as {@link readManySync} does, without blocking. */
function readMany(paths: Iterable<PathLike>, options?: ReadFilesOptions | BufferEncoding | null): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const plan = planReadFiles(options);
    plan.signal?.throwIfAborted();
    const texts = Array.from(iterable('paths', paths), entryText);
    plan.signal?.throwIfAborted();
    const total = texts.length;
    const results: unknown[] = new Array<unknown>(total);
    const outcomes = outcomesOf(results, texts, plan);
    let report = progressOf(plan.onProgress);
    const here = nativeHere();
    const parts = joined(texts);
    let pushed = 0;
    // Hands out paths, so that threads do not run out of them.
    const push = (done: number): void => {
      while (pushed < total && pushed - done < AHEAD) {
        const [some, beyond] = parts.next().value as [string, number];
        here?.pushPaths(id, some, beyond);
        pushed = total - beyond;
        if (pushed === total) here?.close(id);
      }
    };
    const follower = {
      advance({ done, failed, bytes, ended }: State): void {
        report?.({ done, total, bytes });
        if (!ended) {
          push(done);
          outcomes.advance(failed > 0);
          return;
        }
        forget();
        // Results are missing only after a panic of native code.
        outcomes.concludeLater(total, failed > 0 || done < total, resolve, reject);
      },
    };
    const id = follow(follower);
    const { threads, maxInFlight, maxFileSize } = plan;
    const keeps: 0 | 1 = asksForResults(plan) ? 1 : 0;
    const session = { id, results, bits: readBits(plan), places: 0, keeps, threads, maxInFlight, maxFileSize };
    if (here === undefined || here.openRead(session) !== undefined) {
      unfollow(id);
      resolve(new FallbackReader(plan).readAll(texts));
      return;
    }
    const stop = (): void => {
      pushed = total;
      here.cancel(id);
      here.close(id);
    };
    const abort = (): void => {
      stop();
      report = undefined;
      outcomes.drop();
      reject(plan.signal?.reason as Error);
    };
    let forget = (): void => { /* nothing listens yet */ };
    try {
      forget = listenTo(plan.signal, abort);
      if (total === 0) here.close(id);
      push(0);
    } catch (error) {
      stop();
      throw error;
    }
  });
}

type Result<O> = O extends { settle: true } ? PromiseSettledResult<Encoded<O>>[] : Encoded<O>[];

/**
 * Reads many files in one call, by native threads, and gives their contents in the order of paths.
 *
 * Rejects with the first failure, as `Promise.all` does. With `{settle: true}` it gives each file's
 * outcome, as `Promise.allSettled` does. `paths` may be any iterable. Other code runs meanwhile,
 * because results are made into values for 2 ms at a time. On Bun, a Buffer of 4 KiB or more can be
 * cloned but not transferred to a worker.
 */
export const readFiles = readMany as <const O extends ReadFilesOptions | BufferEncoding | null | undefined = undefined>(
  paths: Iterable<PathLike>, options?: O,
) => Promise<Result<O>>;

/**
 * Reads many files, as {@link readFiles} does, and blocks until all are read. The calling thread is
 * one of the workers. Throws the first failure.
 */
export const readFilesSync = readManySync as <
  const O extends ReadFilesSyncOptions | BufferEncoding | null | undefined = undefined,
>(paths: Iterable<PathLike>, options?: O) => Result<O>;
