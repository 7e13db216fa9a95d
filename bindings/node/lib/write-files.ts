// Writing many files in one call.

import { AsyncResource } from 'node:async_hooks';

import { cannotReplace } from './durable-writes.js';
import { type Chunk, Entries, type Entry } from './entries.js';
import { CANCELLED, failure, isFailure, iterable, listenTo, noThread, progressOf } from './many.js';
import { native, nativeHere } from './native.js';
import { FLUSH_NOTHING } from './option-bits.js';
import { Outcomes } from './outcomes.js';
import { systemMode } from './platform.js';
import { follow, type State, unfollow } from './sessions.js';
import { FallbackWriter } from './write-files-fallback.js';
import { planWriteFiles, type WriteFilesOptions, type WriteFilesSyncOptions, writeBits, type WritePlan } from './write-plan.js';

/** Entries under way at a time, however small they are. */
const MAX_UNDER_WAY = 16_384;

/** What a call found to do. */
export interface Written {
  /** Files written. */
  written: number;
  /** Files that held these bytes already; only with `onlyIfChanged`. */
  unchanged: number;
}

/** The results of one call, on their way to the caller: true for a file written, false for one that was left alone. */
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
      // What a batch that was stopped did not begin has no result.
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
  /** Entries are taken in the context of the call, as an iterable may tell. */
  readonly #context = new AsyncResource('SMALLFRY');
  #forget = (): void => { /* nothing listens yet */ };
  /** Where chunks end, as numbers of entries, and their bytes; done ones are gone. */
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
    // What has to survive may still turn out to be lost.
    if (this.#plan.durable.level === FLUSH_NOTHING) this.#outcomes.advance(failed > 0);
    if (this.#plan.failFast && failed > 0) this.#finish();
    else this.#context.runInAsyncScope(() => { this.#fill(); });
  }

  /** Everything that was taken is done. */
  #conclude(): void {
    this.#forget();
    if (this.#aborted) this.#reject(this.#plan.signal?.reason);
    else if (this.#source.broken !== undefined) this.#reject(this.#source.broken.error);
    else {
      const total = this.#texts.length;
      this.#outcomes.concludeLater(total, this.#failed > 0 || this.#done < total, this.#resolve, this.#reject);
    }
  }

  /** Hands entries to native code, which copies them, until enough of them are under way. */
  #fill(): void {
    const { maxInFlight } = this.#plan;
    while (!this.#closed && this.#inFlight < maxInFlight && this.#texts.length - this.#done < MAX_UNDER_WAY) {
      const chunk = this.#source.chunk(maxInFlight - this.#inFlight);
      try {
        this.#push(chunk);
      } catch (error) {
        // Paths that do not fit a string together.
        this.#source.fail(error);
      }
      if (this.#source.over) this.#finish();
    }
  }

  #push(chunk: Chunk): void {
    const { texts, data } = chunk;
    // The iterable itself may have aborted the call.
    if (texts.length === 0 || this.#closed) return;
    const joined = texts.join('\0');
    for (const text of texts) this.#texts.push(text);
    const copied = this.#native.pushEntries(this.#id, joined, data, this.#source.over ? 0 : -1);
    const bytes = chunk.overhead + copied;
    this.#chunks.push({ end: this.#texts.length, bytes });
    this.#inFlight += bytes;
  }

  /** No more entries are taken. */
  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    // First, so that the call ends whatever the iterable does.
    this.#native.close(this.#id);
    this.#source.stop();
  }
}

type Result<O> = O extends { settle: true } ? PromiseSettledResult<'written' | 'unchanged'>[] : Written;

/**
 * Writes many files in one call, by native threads.
 *
 * `entries` gives paths with their contents; it may be a `Map` or any iterable, of which more is taken as files are
 * written, within `maxInFlight` bytes. Data are copied when they are taken, and what was taken is written even if the
 * process exits or a later entry is wrong. Of several entries for one path the last one wins; but an
 * absolute path, a relative one and one with `..` are different paths even if they lead to the same place, and may be
 * written in any order. When the promise has settled, however it has, nothing is under way any more.
 *
 * A failure stops nothing else unless `failFast` is set. When all is done the promise rejects with the first one; with
 * `{settle: true}` it gives each entry's outcome instead.
 *
 * With {@link DurabilityOptions} all files are flushed together, in as few waits as the system allows; the call ends after
 * that, and until then `onProgress` tells what was written. If a barrier for many files fails, each of them has its error,
 * since nobody knows which were lost.
 *
 * ```js
 * await writeFiles(pages, { createParents: true, durability: 'full', replace: true });
 * ```
 *
 * Otherwise a file counts as written when its bytes are. Where closing is slow it is left to other threads, and an error of such a
 * close is no entry's outcome: `drainCloses()` tells it.
 */
export const writeFiles = writeMany as <const O extends WriteFilesOptions | BufferEncoding | null | undefined = undefined>(
  entries: Iterable<Entry>, options?: O,
) => Promise<Result<O>>;

/** As {@link writeFiles}; the calling thread works too and nothing else runs until it is done. */
export const writeFilesSync = writeManySync as <
  const O extends WriteFilesSyncOptions | BufferEncoding | null | undefined = undefined,
>(entries: Iterable<Entry>, options?: O) => Result<O>;
