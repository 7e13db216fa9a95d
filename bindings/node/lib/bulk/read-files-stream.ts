// Reads many files in one call, and gives them one by one.

import { type Encoded, failure, isFailure, iterable, listenTo, type PathLike, entryText, progressOf, settled } from '../core/many.js';
import { nativeHere } from '../core/native.js';
import { TEXT } from '../core/option-bits.js';
import { FallbackReader } from './read-files-fallback.js';
import { decoded, planReadFiles, type ReadFilesOptions, type ReadPlan, wantsUtf8 } from './read-plan.js';
import { follow, type State, unfollow } from '../core/sessions.js';
import { Taking } from './taking.js';

/** The number of files that are handed to native code ahead of the loop. */
const AHEAD = 1024;
/** The number of results after which native code is told that they are consumed. */
const STEP = 16;
/**
 * The number of places for results, which are used in turn. It must exceed the maximum number of
 * files in flight, `AHEAD * 1.5`.
 */
const PLACES = 2 * AHEAD;

/** One file of a stream. */
export interface FileContents<T = Buffer | string> {
  /** The path as it was given. */
  path: PathLike;
  /** The number of the path, from 0. */
  index: number;
  contents: T;
}

type Settled = PromiseSettledResult<Buffer | string> & { path: PathLike; index: number };

/**
 * Reads many files and gives them one by one, in the order of paths. It reads ahead of the loop, up
 * to `maxInFlight` bytes, and takes more paths meanwhile.
 */
async function* streamFiles(paths: Iterable<PathLike>, plan: ReadPlan): AsyncGenerator<FileContents | Settled> {
  plan.signal?.throwIfAborted();
  const source = new Ahead(new Taking(paths), plan);
  try {
    for (;;) {
      const taken = await source.take();
      if (taken === undefined) return;
      const { path, text, index, result } = taken;
      const error = result instanceof Failed ? result.reason : isFailure(result) ? failure(result, text) : undefined;
      if (plan.settle) yield { path, index, ...settled(error, () => decoded(result, plan)) };
      else if (error !== undefined) throw error;
      else yield { path, index, contents: decoded(result, plan) };
    }
  } catch (error) {
    source.stop();
    throw error;
  } finally {
    source.leave();
  }
}

/** An error object in the place of a result. */
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
  readonly #paths: Taking<PathLike>;
  readonly #plan: ReadPlan;
  readonly #native = nativeHere();
  readonly #fallback: FallbackReader | undefined;
  /** The results in flight. That of file n has the place n modulo `PLACES`. */
  readonly #results: unknown[] = new Array<unknown>(PLACES).fill(undefined);
  readonly #waiting: { path: PathLike; text: string }[] = [];
  readonly #id: number;
  readonly #report: ReturnType<typeof progressOf>;
  #forget = (): void => { /* nothing listens yet */ };
  #wake: (() => void) | undefined;
  /** The error of the iterable of paths. It is thrown after the files that came before it. */
  #broken: { error: unknown } | undefined;
  #closed = false;
  #pushed = 0;
  #next = 0;
  #consumed = 0;
  #stopped = false;
  #ended = false;

  constructor(paths: Taking<PathLike>, plan: ReadPlan) {
    this.#paths = paths;
    this.#plan = plan;
    this.#report = progressOf(plan.onProgress);
    this.#id = follow({ advance: (state) => { this.#advance(state); } });
    const { threads, maxInFlight, maxFileSize } = plan;
    const refusal = this.#native?.openRead({
      id: this.#id, results: this.#results, bits: wantsUtf8(plan) ? TEXT : 0, places: PLACES, keeps: 0, threads, maxInFlight, maxFileSize,
    });
    if (refusal !== undefined || this.#native === undefined) {
      unfollow(this.#id);
      this.#native = undefined;
      this.#fallback = new FallbackReader(plan);
    }
    this.#forget = listenTo(plan.signal, () => { this.stop(); });
  }

  #advance({ done, bytes, ended }: State): void {
    this.#ended = ended;
    if (!this.#stopped) this.#report?.({ done, total: this.#pushed, bytes });
    this.#wake?.();
  }

  /** Returns the next file with its result; undefined after the last one. */
  async take(): Promise<Taken | undefined> {
    this.#plan.signal?.throwIfAborted();
    this.#fill();
    const index = this.#next;
    if (index === this.#pushed) {
      if (this.#broken !== undefined) throw this.#broken.error;
      return undefined;
    }
    const place = index % PLACES;
    if (this.#fallback !== undefined) this.#results[place] = await this.#readByFallback(this.#fallback);
    while (this.#results[place] === undefined && !this.#ended && !this.#stopped) await this.#wait();
    this.#plan.signal?.throwIfAborted();
    const waiting = this.#waiting.shift();
    const result = this.#results[place];
    this.#results[place] = undefined;
    this.#next += 1;
    if (this.#next - this.#consumed >= STEP) this.#tell();
    return waiting === undefined ? undefined : { ...waiting, index, result };
  }

  /** Ends the reading because of an error. */
  stop(): void {
    this.#end();
    this.#paths.stop();
  }

  /**
   * Ends the reading because the loop was left. If the iterable of paths throws then, the loop
   * throws its error.
   */
  leave(): void {
    this.#end();
    this.#paths.leave();
  }

  #end(): void {
    this.#forget();
    if (this.#stopped) return;
    this.#stopped = true;
    this.#native?.cancel(this.#id);
    this.#close();
    this.#wake?.();
  }

  /** Waits for results. Only this keeps the process alive. */
  async #wait(): Promise<void> {
    this.#tell();
    this.#native?.hold(this.#id, 1);
    await new Promise<void>((resolve) => { this.#wake = resolve; });
    this.#wake = undefined;
    this.#native?.hold(this.#id, 0);
  }

  /** Hands out more paths, so that threads do not run out of them. */
  #fill(): void {
    if (this.#closed || this.#pushed - this.#next > AHEAD / 2) return;
    const texts: string[] = [];
    try {
      while (texts.length < AHEAD) {
        const next = this.#paths.next();
        if (next === undefined) break;
        const text = entryText(next.value);
        this.#waiting.push({ path: next.value, text });
        texts.push(text);
      }
    } catch (error) {
      this.#broken = { error };
      this.#paths.stop();
    }
    if (texts.length > 0) this.#native?.pushPaths(this.#id, texts.join('\0'), this.#paths.over ? 0 : -1);
    this.#pushed += texts.length;
    if (this.#paths.over) this.#close();
  }

  #close(): void {
    if (!this.#closed) this.#native?.close(this.#id);
    this.#closed = true;
  }

  /** Tells native code how many results were consumed. Their bytes are then not in flight. */
  #tell(): void {
    const count = this.#next - this.#consumed;
    this.#consumed = this.#next;
    this.#native?.consume(this.#id, count);
  }

  async #readByFallback(source: FallbackReader): Promise<unknown> {
    try {
      return await source.readOne(this.#waiting[0]?.text ?? '', this.#pushed);
    } catch (error) {
      return new Failed(error as Error);
    }
  }
}

type StreamOf<O> = O extends { settle: true }
  ? AsyncGenerator<PromiseSettledResult<Encoded<O>> & { path: PathLike; index: number }>
  : AsyncGenerator<FileContents<Encoded<O>>>;

/**
 * Reads many files and gives their contents one by one in the order of paths, for `for await`.
 *
 * Files are read ahead, up to `maxInFlight` bytes of them. Leaving the loop stops that. With
 * `{settle: true}` a failure is an element like others; without it, the failure is thrown at its
 * place. A stream keeps the process alive only while the program waits for a result. Each stream
 * has a thread of its own until its end, so read hundreds of streams one after the other.
 */
export function readFilesStream<const O extends ReadFilesOptions | BufferEncoding | null | undefined = undefined>(
  paths: Iterable<PathLike>, options?: O,
): StreamOf<O> {
  return streamFiles(iterable('paths', paths), planReadFiles(options)) as unknown as StreamOf<O>;
}
