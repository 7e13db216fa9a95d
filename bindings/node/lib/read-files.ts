// Reading many files in one call.

import { AsyncResource } from 'node:async_hooks';

import { usesVirtualFiles } from './addon.js';
import {
  encodingOf, failure, flag, iterable, isCancelled, type ManyAsyncOptions, type ManyOptions, MAX_IN_FLIGHT, optionsOf,
  type PathLike, pathText, positive, progressOf, settled,
} from './many.js';
import { native } from './native.js';
import { original } from './original.js';
import { follow, unfollow } from './sessions.js';

/** Files larger than this are refused, as by node:fs. */
const MAX_FILE_SIZE = 2 ** 31;
/** Files handed to native code ahead of what a stream has given. */
const AHEAD = 1024;
/** Results of a stream after which native code is told that they are gone. */
const STEP = 16;
/** Files read at once where there is no native code. */
const AT_ONCE = 64;

export interface ReadFilesSyncOptions extends ManyOptions {
  /** Gives strings in this encoding; Buffers for null, which is the default. */
  encoding?: BufferEncoding | null | undefined;
  /** Refuse files of more bytes than this, before anything is allocated. 2 GiB by default. */
  maxFileSize?: number | undefined;
  /** Give the outcome of each file, as `Promise.allSettled` does, rather than fail with the first that fails. */
  settle?: boolean | undefined;
}

export interface ReadFilesOptions extends ReadFilesSyncOptions, ManyAsyncOptions {}

/** One file of a stream. */
export interface FileContents<T = Buffer | string> {
  /** As it was given. */
  path: PathLike;
  /** Number of the path, from 0. */
  index: number;
  contents: T;
}

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
    threads: positive('threads', given.threads, 0),
    maxFileSize: positive('maxFileSize', given.maxFileSize, MAX_FILE_SIZE),
    maxInFlight: positive('maxInFlight', given.maxInFlight, MAX_IN_FLIGHT),
    settle: flag('settle', given.settle),
    signal: given.signal,
    onProgress: given.onProgress,
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
const nativeHere = (): typeof native => (usesVirtualFiles() ? undefined : native);

/** Reads many files, and blocks until all are read: for programs that do nothing else meanwhile. */
function readManySync(paths: Iterable<PathLike>, options?: ReadFilesSyncOptions | BufferEncoding | null): unknown[] {
  const plan = planOf(options);
  const texts = Array.from(iterable('paths', paths), pathText);
  const results: unknown[] = new Array<unknown>(texts.length);
  const here = nativeHere();
  if (here === undefined) {
    for (const [index, text] of texts.entries()) results[index] = readOneSync(text, plan);
    return results;
  }
  if (texts.length > 0) {
    const { threads, maxFileSize } = plan;
    here.readManySync(texts.join('\0'), results, isUtf8(plan.encoding) ? 1 : 0, threads, maxFileSize, plan.settle ? 0 : 1);
  }
  return conclude(results, texts, plan);
}

/** One file by node:fs, and its outcome. */
function readOneSync(text: string, { encoding, settle }: ReadPlan): unknown {
  try {
    const value = original.readFileSync(text, encoding);
    return settle ? { status: 'fulfilled', value } : value;
  } catch (reason) {
    if (!settle) throw reason;
    return { status: 'rejected', reason };
  }
}

/** As {@link readManySync} without blocking: native threads read, and values are made a few milliseconds at a time. */
function readMany(paths: Iterable<PathLike>, options?: ReadFilesOptions | BufferEncoding | null): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const plan = planOf(options);
    plan.signal?.throwIfAborted();
    const texts = Array.from(iterable('paths', paths), pathText);
    const total = texts.length;
    if (total === 0) {
      resolve([]);
      return;
    }
    const results: unknown[] = new Array<unknown>(total);
    const report = progressOf(plan.onProgress, () => new AsyncResource('SMALLFRY'));
    const abort = (): void => {
      here?.cancel(id);
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
    if (here?.openRead(id, results, isUtf8(plan.encoding) ? 1 : 0, 0, threads, maxInFlight, maxFileSize, stop) !== undefined || here === undefined) {
      unfollow(id);
      resolve(readManyOriginal(texts, plan));
      return;
    }
    plan.signal?.addEventListener('abort', abort, { once: true });
    here.pushPaths(id, texts.join('\0'), 0);
    here.close(id);
  });
}

/** As {@link readMany}, by node:fs. */
async function readManyOriginal(texts: string[], plan: ReadPlan): Promise<unknown[]> {
  const results: unknown[] = new Array<unknown>(texts.length);
  let bytes = 0;
  let done = 0;
  let next = 0;
  const { encoding, signal, settle } = plan;
  const work = async (): Promise<void> => {
    while (next < texts.length) {
      const index = next;
      next += 1;
      try {
        const value = await original.promises.readFile(texts[index] ?? '', { encoding, signal });
        bytes += value.length;
        results[index] = settle ? { status: 'fulfilled', value } : value;
      } catch (reason) {
        if (!settle) throw reason;
        results[index] = { status: 'rejected', reason };
      }
      done += 1;
      plan.onProgress?.({ done, total: texts.length, bytes });
    }
  };
  await Promise.all(Array.from({ length: plan.threads || AT_ONCE }, work));
  return results;
}

/**
 * Reads many files and gives them one by one, in the order of paths. It reads ahead of the loop that takes them within
 * `maxInFlight` bytes, and takes more paths as it goes.
 */
async function* streamFiles(
  paths: Iterable<PathLike>,
  plan: ReadPlan,
): AsyncGenerator<FileContents | (PromiseSettledResult<Buffer | string> & { path: PathLike; index: number })> {
  const { encoding, signal, settle } = plan;
  signal?.throwIfAborted();
  const iterator = paths[Symbol.iterator]();
  const source = new Ahead(iterator, plan);
  try {
    for (;;) {
      const taken = await source.take();
      if (taken === undefined) return;
      const { path, text, index, result } = taken;
      const error = result instanceof Failed ? result.reason : failure(result, text);
      if (settle) yield { path, index, ...settled(error, () => decoded(result, plan)) };
      else if (error !== undefined) throw error;
      else yield { path, index, contents: encoding === null ? (result as Buffer) : decoded(result, plan) };
    }
  } finally {
    source.stop();
    iterator.return?.();
  }
}

/** An error that is made already. */
class Failed {
  constructor(readonly reason: Error) {}
}

interface Taken {
  path: PathLike;
  text: string;
  index: number;
  result: unknown;
}

/** Files that are read ahead of the loop that takes them. */
class Ahead {
  readonly #iterator: Iterator<PathLike>;
  readonly #plan: ReadPlan;
  readonly #native = nativeHere();
  readonly #results: unknown[] = [];
  readonly #waiting: { path: PathLike; text: string }[] = [];
  readonly #id: number;
  readonly #report: ReturnType<typeof progressOf>;
  readonly #abort = (): void => { this.stop(); this.#wake?.(); };
  #wake: (() => void) | undefined;
  #exhausted = false;
  #pushed = 0;
  #next = 0;
  #consumed = 0;
  #stopped = false;
  #ended = false;

  constructor(iterator: Iterator<PathLike>, plan: ReadPlan) {
    this.#iterator = iterator;
    this.#plan = plan;
    this.#report = progressOf(plan.onProgress, () => new AsyncResource('SMALLFRY'));
    const follower = {
      advance: (done: number, bytes: number, ended: boolean): void => {
        this.#ended = ended;
        this.#report?.({ done, total: this.#pushed, bytes });
        this.#wake?.();
      },
    };
    this.#id = follow(follower);
    const { threads, maxInFlight, maxFileSize, encoding } = plan;
    const opened = this.#native?.openRead(
      this.#id, this.#results, isUtf8(encoding) ? 1 : 0, 1, threads, maxInFlight, maxFileSize, 0,
    );
    if (opened !== undefined || this.#native === undefined) {
      unfollow(this.#id);
      this.#native = undefined;
    }
    plan.signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** The next file with its result; undefined after the last one. */
  async take(): Promise<Taken | undefined> {
    this.#fill();
    const index = this.#next;
    if (index === this.#pushed) return undefined;
    if (this.#native === undefined) this.#results[index] = await this.#readOriginal(index);
    while (this.#results[index] === undefined && !this.#ended && !this.#stopped) {
      this.#tell();
      await new Promise<void>((resolve) => { this.#wake = resolve; });
      this.#wake = undefined;
    }
    this.#plan.signal?.throwIfAborted();
    const waiting = this.#waiting.shift();
    const result = this.#results[index];
    this.#results[index] = null;
    this.#next += 1;
    if (this.#next - this.#consumed >= STEP) this.#tell();
    return waiting === undefined ? undefined : { ...waiting, index, result };
  }

  /** Nothing more is wanted. */
  stop(): void {
    this.#plan.signal?.removeEventListener('abort', this.#abort);
    if (this.#stopped) return;
    this.#stopped = true;
    this.#native?.cancel(this.#id);
    if (!this.#exhausted) this.#native?.close(this.#id);
    this.#exhausted = true;
  }

  /** Hands out more paths, so that threads do not run out of them. */
  #fill(): void {
    if (this.#exhausted || this.#pushed - this.#next > AHEAD / 2) return;
    const texts: string[] = [];
    while (texts.length < AHEAD) {
      const next = this.#iterator.next();
      if (next.done === true) {
        this.#exhausted = true;
        break;
      }
      const text = pathText(next.value);
      this.#waiting.push({ path: next.value, text });
      texts.push(text);
    }
    if (texts.length > 0) this.#native?.pushPaths(this.#id, texts.join('\0'), this.#exhausted ? 0 : -1);
    this.#pushed += texts.length;
    if (this.#exhausted) this.#native?.close(this.#id);
  }

  /** Says what has been gone through, so that its bytes are no longer in flight. */
  #tell(): void {
    const count = this.#next - this.#consumed;
    this.#consumed = this.#next;
    this.#native?.consume(this.#id, count);
  }

  async #readOriginal(index: number): Promise<unknown> {
    const { encoding, signal } = this.#plan;
    const text = this.#waiting[0]?.text ?? '';
    try {
      const value = await original.promises.readFile(text, { encoding, signal });
      this.#report?.({ done: index + 1, total: this.#pushed, bytes: value.length });
      return value;
    } catch (error) {
      return new Failed(error as Error);
    }
  }
}

type Encoded<O> = O extends BufferEncoding | { encoding: BufferEncoding } ? string : Buffer;
type Outcomes<O> = O extends { settle: true } ? PromiseSettledResult<Encoded<O>>[] : Encoded<O>[];
type StreamOf<O> = O extends { settle: true }
  ? AsyncGenerator<PromiseSettledResult<Encoded<O>> & { path: PathLike; index: number }>
  : AsyncGenerator<FileContents<Encoded<O>>>;

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

/**
 * The contents of many files, one by one in the order of paths, for `for await`.
 *
 * Files are read ahead, but no more than `maxInFlight` bytes of them; leaving the loop stops that. With `{settle: true}` a
 * failure is an element like others, without it is thrown at its place.
 */
export function readFilesStream<const O extends ReadFilesOptions | BufferEncoding | null | undefined = undefined>(
  paths: Iterable<PathLike>, options?: O,
): StreamOf<O> {
  return streamFiles(iterable('paths', paths), planOf(options)) as unknown as StreamOf<O>;
}
