// Writing many files in one call.

import { AsyncResource } from 'node:async_hooks';

import { usesVirtualFiles } from './addon.js';
import {
  encodingOf, failure, flag, isCancelled, iterable, type ManyAsyncOptions, type ManyOptions, MAX_IN_FLIGHT, optionsOf,
  type PathLike, pathText, positive, progressOf, settled,
} from './many.js';
import { longestString, native } from './native.js';
import { DEFAULT_MODE } from './options.js';
import { writeManyOriginal, writeManyOriginalSync } from './write-files-original.js';
import { follow, unfollow } from './sessions.js';

/** Entries handed to native code at a time, and bytes of their contents. */
const CHUNK = 1024;
const CHUNK_BYTES = 4 << 20;

/** Bits of native code. */
const CREATE_PARENTS = 1;
const ONLY_IF_CHANGED = 2;
const CREATE_NEW = 4;

/** A path and its contents. A `Map` of paths to contents is an iterable of these. */
export type Entry = readonly [path: PathLike, data: string | NodeJS.ArrayBufferView];

/** What a call found to do. */
export interface Written {
  /** Files written. */
  written: number;
  /** Files that held these bytes already; only with `onlyIfChanged`. */
  unchanged: number;
}

export interface WriteFilesSyncOptions extends ManyOptions {
  /** How strings are turned into bytes. UTF-8 by default. */
  encoding?: BufferEncoding | null | undefined;
  /** Permissions of new files, less the umask. 0o666 by default. */
  mode?: number | undefined;
  /** Make missing directories above the files, each once. */
  createParents?: boolean | undefined;
  /** Leave files alone that hold the right bytes already: their modification time stays. */
  onlyIfChanged?: boolean | undefined;
  /** Fail for files that are there already. */
  createNew?: boolean | undefined;
  /** Begin nothing more after the first failure. */
  failFast?: boolean | undefined;
  /** Give the outcome of each entry, as `Promise.allSettled` does, rather than fail if one failed. */
  settle?: boolean | undefined;
}

export interface WriteFilesOptions extends WriteFilesSyncOptions, ManyAsyncOptions {}

export interface WritePlan {
  encoding: BufferEncoding;
  mode: number;
  createParents: boolean;
  onlyIfChanged: boolean;
  createNew: boolean;
  failFast: boolean;
  settle: boolean;
  threads: number;
  maxInFlight: number;
  signal: AbortSignal | undefined;
  onProgress: WriteFilesOptions['onProgress'];
}

function planOf(options: WriteFilesOptions | BufferEncoding | null | undefined): WritePlan {
  const given = optionsOf(options);
  const createNew = flag('createNew', given.createNew);
  const onlyIfChanged = flag('onlyIfChanged', given.onlyIfChanged);
  if (createNew && onlyIfChanged) {
    const error = new TypeError('The "createNew" and "onlyIfChanged" options exclude each other');
    throw Object.assign(error, { code: 'ERR_INVALID_ARG_VALUE' });
  }
  return {
    encoding: encodingOf(given.encoding) ?? 'utf8',
    mode: given.mode === 0 ? 0 : positive('mode', given.mode, DEFAULT_MODE),
    createParents: flag('createParents', given.createParents),
    onlyIfChanged,
    createNew,
    failFast: flag('failFast', given.failFast),
    settle: flag('settle', given.settle),
    threads: positive('threads', given.threads, 0),
    maxInFlight: positive('maxInFlight', given.maxInFlight, MAX_IN_FLIGHT),
    signal: given.signal,
    onProgress: given.onProgress,
  };
}

function bits({ createParents, onlyIfChanged, createNew }: WritePlan): number {
  return (createParents ? CREATE_PARENTS : 0) | (onlyIfChanged ? ONLY_IF_CHANGED : 0) | (createNew ? CREATE_NEW : 0);
}

/** Data in a form that native code copies. */
function bytesOf(data: unknown, encoding: BufferEncoding): string | NodeJS.ArrayBufferView {
  if (typeof data === 'string') {
    if ((encoding === 'utf8' || encoding === 'utf-8') && data.length <= longestString) return data;
    return Buffer.from(data, encoding);
  }
  if (ArrayBuffer.isView(data)) return data as NodeJS.ArrayBufferView;
  const error = new TypeError(`Data must be a string or an ArrayBuffer view. Received ${typeof data}`);
  throw Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' });
}

const sizeOf = (data: string | NodeJS.ArrayBufferView): number =>
  typeof data === 'string' ? data.length : data.byteLength;

/** Entries on their way to native code. */
class Chunk {
  readonly texts: string[] = [];
  readonly data: (string | NodeJS.ArrayBufferView)[] = [];
  bytes = 0;
  ended = false;

  /** Takes entries until it is full or there are none. */
  fill(iterator: Iterator<Entry>, { encoding }: WritePlan): this {
    while (this.texts.length < CHUNK && this.bytes < CHUNK_BYTES) {
      const next = iterator.next();
      if (next.done === true) {
        this.ended = true;
        break;
      }
      const [path, data] = next.value;
      const text = pathText(path);
      const bytes = bytesOf(data, encoding);
      this.texts.push(text);
      this.data.push(bytes);
      this.bytes += sizeOf(bytes);
    }
    return this;
  }
}

const outcomeOf = (result: unknown): 'written' | 'unchanged' => (result === true ? 'written' : 'unchanged');

/** Turns what native code left into what the caller gets. */
function conclude(results: unknown[], texts: string[], { settle }: WritePlan): unknown {
  if (settle) {
    return texts.map((text, index) => settled(failure(results[index], text), () => outcomeOf(results[index])));
  }
  let written = 0;
  let unchanged = 0;
  let first: Error | undefined;
  for (const [index, text] of texts.entries()) {
    const result = results[index];
    if (result === true) written += 1;
    else if (result === false) unchanged += 1;
    else if (first === undefined || isCancelled(first)) first = failure(result, text);
  }
  if (first !== undefined) throw first;
  return { written, unchanged };
}

const nativeHere = (): typeof native => (usesVirtualFiles() ? undefined : native);

function writeManySync(entries: Iterable<Entry>, options?: WriteFilesSyncOptions | BufferEncoding | null): unknown {
  const plan = planOf(options);
  const iterator = iterable('entries', entries)[Symbol.iterator]();
  const here = nativeHere();
  if (here === undefined) return writeManyOriginalSync(iterator, plan);
  const results: unknown[] = [];
  const texts: string[] = [];
  try {
    for (let ended = false; !ended;) {
      const chunk = new Chunk().fill(iterator, plan);
      ended = chunk.ended;
      if (chunk.texts.length === 0) break;
      const some: unknown[] = new Array<unknown>(chunk.texts.length);
      here.writeManySync(
        chunk.texts.join('\0'), chunk.data, some, plan.threads, plan.failFast ? 1 : 0, bits(plan), plan.mode,
      );
      for (const [index, text] of chunk.texts.entries()) {
        texts.push(text);
        results.push(some[index]);
      }
      if (plan.failFast && some.some((result) => typeof result !== 'boolean')) break;
    }
  } finally {
    iterator.return?.();
  }
  return conclude(results, texts, plan);
}

function writeMany(entries: Iterable<Entry>, options?: WriteFilesOptions | BufferEncoding | null): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const plan = planOf(options);
    plan.signal?.throwIfAborted();
    const iterator = iterable('entries', entries)[Symbol.iterator]();
    const here = nativeHere();
    if (here === undefined) {
      resolve(writeManyOriginal(iterator, plan));
      return;
    }
    new Writing(here, iterator, plan, resolve, reject);
  });
}

/** One call of `writeFiles`. */
class Writing {
  readonly #native: NonNullable<typeof native>;
  readonly #iterator: Iterator<Entry>;
  readonly #plan: WritePlan;
  readonly #resolve: (value: unknown) => void;
  readonly #reject: (error: unknown) => void;
  readonly #results: unknown[] = [];
  readonly #texts: string[] = [];
  readonly #id: number;
  readonly #report: ReturnType<typeof progressOf>;
  readonly #abort = (): void => {
    this.#native.cancel(this.#id);
    this.#finish();
    this.#reject(this.#plan.signal?.reason);
  };
  /** Where chunks end, as numbers of entries, and their bytes; done ones are gone. */
  readonly #chunks: { end: number; bytes: number }[] = [];
  #inFlight = 0;
  #exhausted = false;

  constructor(
    here: NonNullable<typeof native>, iterator: Iterator<Entry>, plan: WritePlan,
    resolve: (value: unknown) => void, reject: (error: unknown) => void,
  ) {
    this.#native = here;
    this.#iterator = iterator;
    this.#plan = plan;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#report = progressOf(plan.onProgress, () => new AsyncResource('SMALLFRY'));
    this.#id = follow({ advance: (done, bytes, ended) => { this.#advance(done, bytes, ended); } });
    const { threads, failFast, mode, maxInFlight } = plan;
    if (here.openWrite(this.#id, this.#results, threads, failFast ? 1 : 0, bits(plan), mode, maxInFlight) !== undefined) {
      unfollow(this.#id);
      resolve(writeManyOriginal(iterator, plan));
      return;
    }
    plan.signal?.addEventListener('abort', this.#abort, { once: true });
    this.#fill();
  }

  #advance(done: number, bytes: number, ended: boolean): void {
    for (let first = this.#chunks.at(0); first !== undefined && first.end <= done; first = this.#chunks.at(0)) {
      this.#inFlight -= first.bytes;
      this.#chunks.shift();
    }
    this.#report?.({ done, total: this.#texts.length, bytes });
    if (ended) {
      this.#plan.signal?.removeEventListener('abort', this.#abort);
      try {
        this.#resolve(conclude(this.#results, this.#texts, this.#plan));
      } catch (error) {
        this.#reject(error);
      }
    } else {
      this.#fill();
    }
  }

  /** Hands entries to native code, which copies them, until enough of them are under way. */
  #fill(): void {
    while (!this.#exhausted && this.#inFlight < this.#plan.maxInFlight) {
      const chunk = new Chunk();
      try {
        chunk.fill(this.#iterator, this.#plan);
      } catch (error) {
        // What was taken is written all the same; nothing more is.
        this.#push(chunk, 0);
        this.#finish();
        this.#reject(error);
        return;
      }
      this.#push(chunk, chunk.ended ? 0 : -1);
      if (chunk.ended) this.#finish();
    }
  }

  #push(chunk: Chunk, beyond: number): void {
    if (chunk.texts.length === 0) return;
    for (const text of chunk.texts) this.#texts.push(text);
    this.#chunks.push({ end: this.#texts.length, bytes: chunk.bytes });
    this.#inFlight += chunk.bytes;
    this.#native.pushEntries(this.#id, chunk.texts.join('\0'), chunk.data.slice(0, chunk.texts.length), beyond);
  }

  /** No more entries are taken. */
  #finish(): void {
    if (this.#exhausted) return;
    this.#exhausted = true;
    this.#native.close(this.#id);
  }
}

type Result<O> = O extends { settle: true } ? PromiseSettledResult<'written' | 'unchanged'>[] : Written;

/**
 * Writes many files in one call, by native threads.
 *
 * `entries` gives paths with their contents; it may be a `Map` or any iterable, of which more is taken as files are
 * written, within `maxInFlight` bytes. Data are copied when they are taken, and what was taken is written even if the
 * process exits. Of several entries for one path the last one wins.
 *
 * A failure stops nothing else unless `failFast` is set. When all is done the promise rejects with the first one; with
 * `{settle: true}` it gives each entry's outcome instead.
 */
export const writeFiles = writeMany as <const O extends WriteFilesOptions | BufferEncoding | null | undefined = undefined>(
  entries: Iterable<Entry>, options?: O,
) => Promise<Result<O>>;

/** As {@link writeFiles}; the calling thread works too and nothing else runs until it is done. */
export const writeFilesSync = writeManySync as <
  const O extends WriteFilesSyncOptions | BufferEncoding | null | undefined = undefined,
>(entries: Iterable<Entry>, options?: O) => Result<O>;
