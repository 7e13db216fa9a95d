// Reads many files in one call.

import { type Encoded, failure, isFailure, iterable, type PathLike, entryText } from '../core/many.js';
import { nativeHere } from '../core/native.js';
import { Outcomes } from './outcomes.js';
import { joined, runPaths } from './path-sessions.js';
import { FallbackReader } from './read-files-fallback.js';
import { decoded, planReadFiles, readBits, type ReadFilesOptions, type ReadFilesSyncOptions, type ReadPlan, wantsUtf8 } from './read-plan.js';

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
async function readMany(paths: Iterable<PathLike>, options?: ReadFilesOptions | BufferEncoding | null): Promise<unknown> {
  const plan = planReadFiles(options);
  const { signal, onProgress, threads, maxInFlight, maxFileSize } = plan;
  signal?.throwIfAborted();
  const texts = Array.from(iterable('paths', paths), entryText);
  signal?.throwIfAborted();
  const here = nativeHere();
  const readAll = (): Promise<unknown> => new FallbackReader(plan).readAll(texts);
  if (here === undefined) return readAll();
  const results: unknown[] = new Array<unknown>(texts.length);
  const outcomes = outcomesOf(results, texts, plan);
  const keeps: 0 | 1 = asksForResults(plan) ? 1 : 0;
  const session = { results, bits: readBits(plan), places: 0, keeps, threads, maxInFlight, maxFileSize };
  return runPaths(here, { texts, signal, onProgress, outcomes }, (id) => here.openRead({ id, ...session }), readAll);
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
