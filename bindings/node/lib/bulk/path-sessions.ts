// Calls of native code for many paths.

import { type Native } from '../core/addon.js';
import { listenTo, type ManyAsyncOptions, progressOf } from '../core/many.js';
import { follow, type State, unfollow } from '../core/sessions.js';
import { type Outcomes } from './outcomes.js';

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

/** Yields some paths at a time, joined by NUL, with the number of paths that are left. */
export function* joined(texts: string[]): Generator<[some: string, beyond: number]> {
  for (let start = 0; start < texts.length; start += CHUNK) {
    const some = texts.slice(start, start + CHUNK);
    yield [some.join('\0'), texts.length - start - some.length];
  }
}

/** A call for many paths. */
interface PathCall extends Pick<ManyAsyncOptions, 'signal' | 'onProgress'> {
  /** The paths, as native code takes them. */
  texts: string[];
  outcomes: Outcomes;
}

/**
 * Runs a call that `open` begins under a number. The result is that of `instead` if there is no
 * thread for it.
 */
export function runPaths(
  native: Native, { texts, signal, onProgress, outcomes }: PathCall,
  open: (id: number) => number | undefined, instead: () => unknown,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const total = texts.length;
    let report = progressOf(onProgress);
    const parts = joined(texts);
    let pushed = 0;
    // Hands out paths, so that threads do not run out of them.
    const push = (done: number): void => {
      while (pushed < total && pushed - done < AHEAD) {
        const [some, beyond] = parts.next().value as [string, number];
        native.pushPaths(id, some, beyond);
        pushed = total - beyond;
        if (pushed === total) native.close(id);
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
    if (open(id) !== undefined) {
      unfollow(id);
      resolve(instead());
      return;
    }
    const stop = (): void => {
      pushed = total;
      native.cancel(id);
      native.close(id);
    };
    const abort = (): void => {
      stop();
      report = undefined;
      outcomes.drop();
      reject(signal?.reason as Error);
    };
    let forget = (): void => { /* nothing listens yet */ };
    try {
      forget = listenTo(signal, abort);
      if (total === 0) native.close(id);
      push(0);
    } catch (error) {
      stop();
      throw error;
    }
  });
}
