// Writes many files in one call.

import { AsyncResource } from 'node:async_hooks';

import { cannotReplace } from '../core/durable/writes.js';
import { type Chunk, Entries, type Entry } from './entries.js';
import { CANCELLED, failure, isFailure, iterable, listenTo, noThread, progressOf } from '../core/many.js';
import { native, nativeHere } from '../core/native.js';
import { FLUSH_NOTHING } from '../core/option-bits.js';
import { Outcomes } from './outcomes.js';
import { systemMode } from '../core/platform.js';
import { follow, type State, unfollow } from '../core/sessions.js';
import { FallbackWriter } from './write-files-fallback.js';
import { planWriteFiles, type WriteFilesOptions, type WriteFilesSyncOptions, writeBits, type WritePlan } from './write-plan.js';

/** The maximum number of entries in flight, however small they are. */
const MAX_ENTRIES = 16_384;

/** The number of files that a call has written or left alone. */
export interface Written {
  /** The number of files written. */
  written: number;
  /** The number of files that held the right bytes already; only with `onlyIfChanged`. */
  unchanged: number;
}

/**
 * Makes the {@link Outcomes} of one call. Native code leaves true for a file that was written, and
 * false for one that was left alone.
 */
function outcomesOf(results: unknown[], texts: readonly string[], plan: WritePlan): Outcomes {
  const found: Written = { written: 0, unchanged: 0 };
  return new Outcomes(results, plan.settle, {
    isFailure,
    failure: (result, index) => failure(result, texts[index] ?? ''),
    value: (result) => {
      const what = result === true ? 'written' : 'unchanged';
      found[what] += 1;
      return what;
    },
    sum: () => found,
    whole: plan.onlyIfChanged || plan.settle ? undefined : (total) => ({ written: total, unchanged: 0 }),
  });
}

function writeManySync(entries: Iterable<Entry>, options?: WriteFilesSyncOptions | BufferEncoding | null): unknown {
  const plan = planWriteFiles(options);
  const source = new Entries(iterable('entries', entries), plan.encoding);
  const here = nativeHere();
  if (here === undefined) {
    if (plan.durable.replace) throw cannotReplace();
    return new FallbackWriter(source, plan).writeAllSync();
  }
  const results: unknown[] = [];
  const texts: string[] = [];
  let failures = false;
  while (!source.over) {
    const { texts: paths, data } = source.largeChunk();
    if (paths.length === 0) break;
    const some: unknown[] = new Array<unknown>(paths.length);
    const { threads, failFast, mode } = plan;
    const good = here.writeManySync(paths.join('\0'), data, some, writeBits(plan), threads, systemMode(mode));
    for (const [index, text] of paths.entries()) {
      texts.push(text);
      // An entry has no result if the batch was stopped before the entry began.
      results.push(some[index] ?? (failFast ? CANCELLED : undefined));
    }
    failures ||= good < paths.length;
    if (failFast && failures) source.stop();
  }
  if (source.broken !== undefined) throw source.broken.error;
  try {
    return outcomesOf(results, texts, plan).conclude(texts.length, failures);
  } catch (error) {
    if (error instanceof Error) Error.captureStackTrace(error, writeManySync);
    throw error;
  }
}

function writeMany(entries: Iterable<Entry>, options?: WriteFilesOptions | BufferEncoding | null): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const plan = planWriteFiles(options);
    plan.signal?.throwIfAborted();
    const source = new Entries(iterable('entries', entries), plan.encoding);
    const here = nativeHere();
    if (here === undefined && plan.durable.replace) throw cannotReplace();
    if (here === undefined) resolve(new FallbackWriter(source, plan).writeAll());
    else new Writing(here, source, plan, resolve, reject);
  });
}

/** One call of `writeFiles`. */
class Writing {
  readonly #native: NonNullable<typeof native>;
  readonly #source: Entries;
  readonly #plan: WritePlan;
  readonly #resolve: (value: unknown) => void;
  readonly #reject: (error: unknown) => void;
  readonly #results: unknown[] = [];
  readonly #texts: string[] = [];
  readonly #outcomes: Outcomes;
  readonly #id: number;
  readonly #report: ReturnType<typeof progressOf>;
  /** Entries are taken in the asynchronous context of the call, which an iterable can see. */
  readonly #context = new AsyncResource('SMALLFRY');
  #forget = (): void => { /* nothing listens yet */ };
  /** The chunks that are not done: the number of entries up to the end of each, and its bytes. */
  readonly #chunks: { end: number; bytes: number }[] = [];
  #inFlight = 0;
  #done = 0;
  #failed = 0;
  #closed = false;
  #aborted = false;

  constructor(
    here: NonNullable<typeof native>, source: Entries, plan: WritePlan,
    resolve: (value: unknown) => void, reject: (error: unknown) => void,
  ) {
    this.#native = here;
    this.#source = source;
    this.#plan = plan;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#outcomes = outcomesOf(this.#results, this.#texts, plan);
    this.#report = progressOf(plan.onProgress);
    this.#id = follow({ advance: (state) => { this.#advance(state); } });
    const { threads, mode, maxInFlight } = plan;
    const refusal = here.openWrite({
      id: this.#id, results: this.#results, bits: writeBits(plan), threads, mode: systemMode(mode), maxInFlight,
    });
    if (refusal !== undefined) {
      unfollow(this.#id);
      if (plan.durable.replace) reject(noThread('writeFiles with replace: true'));
      else resolve(new FallbackWriter(source, plan).writeAll());
      return;
    }
    this.#forget = listenTo(plan.signal, () => { this.#abort(); });
    this.#fill();
  }

  #abort(): void {
    this.#aborted = true;
    this.#native.cancel(this.#id);
    this.#finish();
  }

  #advance({ done, failed, bytes, ended }: State): void {
    this.#done = done;
    this.#failed = failed;
    for (let first = this.#chunks.at(0); first !== undefined && first.end <= done; first = this.#chunks.at(0)) {
      this.#inFlight -= first.bytes;
      this.#chunks.shift();
    }
    if (!this.#aborted) this.#report?.({ done, total: this.#texts.length, bytes });
    if (ended) {
      this.#conclude();
      return;
    }
    // A durable write may still fail when it is flushed.
    if (this.#plan.durable.level === FLUSH_NOTHING) this.#outcomes.advance(failed > 0);
    if (this.#plan.failFast && failed > 0) this.#finish();
    else this.#context.runInAsyncScope(() => { this.#fill(); });
  }

  /** Ends the call: all entries that were taken are done. */
  #conclude(): void {
    this.#forget();
    if (this.#aborted) this.#reject(this.#plan.signal?.reason);
    else if (this.#source.broken !== undefined) this.#reject(this.#source.broken.error);
    else {
      const total = this.#texts.length;
      this.#outcomes.concludeLater(total, this.#failed > 0 || this.#done < total, this.#resolve, this.#reject);
    }
  }

  /** Hands entries to native code, which copies them, until enough of them are in flight. */
  #fill(): void {
    const { maxInFlight } = this.#plan;
    while (!this.#closed && this.#inFlight < maxInFlight && this.#texts.length - this.#done < MAX_ENTRIES) {
      const chunk = this.#source.chunk(maxInFlight - this.#inFlight);
      try {
        this.#push(chunk);
      } catch (error) {
        // The paths of a chunk may be longer together than a string may be.
        this.#source.fail(error);
      }
      if (this.#source.over) this.#finish();
    }
  }

  #push(chunk: Chunk): void {
    const { texts, data } = chunk;
    // The iterable may have aborted the call.
    if (texts.length === 0 || this.#closed) return;
    const joined = texts.join('\0');
    for (const text of texts) this.#texts.push(text);
    const copied = this.#native.pushEntries(this.#id, joined, data, this.#source.over ? 0 : -1);
    const bytes = chunk.overhead + copied;
    this.#chunks.push({ end: this.#texts.length, bytes });
    this.#inFlight += bytes;
  }

  /** Takes no more entries. */
  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    // This comes before the iterable is stopped, so that the call ends whatever the iterable does.
    this.#native.close(this.#id);
    this.#source.stop();
  }
}

type Result<O> = O extends { settle: true } ? PromiseSettledResult<'written' | 'unchanged'>[] : Written;

/**
 * Writes many files in one call, by native threads.
 *
 * `entries` gives paths with their contents. It may be a `Map` or any iterable. More entries are
 * taken as files are written, within `maxInFlight` bytes. Data are copied when they are taken.
 * Entries that were taken are written even if the process exits or a later entry is wrong. If
 * several entries have one path, the last one wins. Absolute paths, relative ones and paths with
 * `..` count as different paths even if they lead to one file, which is then written in any order.
 * When the promise is fulfilled or rejected, no write is in flight any more.
 *
 * A failure stops nothing else unless `failFast` is set. When all is done the promise rejects with
 * the first failure. With `{settle: true}` it gives each entry's outcome instead.
 *
 * With {@link DurabilityOptions} all files are flushed together, in as few waits as the system
 * allows. The call ends after that. Until then `onProgress` counts files that were written. If one
 * flush for many files fails, each of them has the error, since the system does not say which were
 * lost.
 *
 * ```js
 * await writeFiles(pages, { createParents: true, durability: 'full', replace: true });
 * ```
 *
 * Without these options a file counts as written when its bytes are. Where closing is slow, other
 * threads close the files, and `drainCloses()` gives the errors of that.
 */
export const writeFiles = writeMany as <const O extends WriteFilesOptions | BufferEncoding | null | undefined = undefined>(
  entries: Iterable<Entry>, options?: O,
) => Promise<Result<O>>;

/**
 * Writes many files, as {@link writeFiles} does, and blocks until all are written. The calling
 * thread is one of the workers.
 */
export const writeFilesSync = writeManySync as <
  const O extends WriteFilesSyncOptions | BufferEncoding | null | undefined = undefined,
>(entries: Iterable<Entry>, options?: O) => Result<O>;
