// Answers that the kernel has in memory. Native code looks for them on this thread in 1 µs. A job
// takes 15 µs, most of them to wake a thread.
//
// The answer comes in the next turn of the event loop, as an answer of node:fs does. So timers and
// sockets have their turn, even if a program asks again and again. Each turn has one look-up.
// Further calls are jobs: then the worker threads are awake and work beside this thread.

import { makeError } from '../errors.js';
import { native } from '../native.js';
import { rejected } from '../requests.js';
import { later } from '../turns.js';
import { type Plan } from './plans.js';

type Path = string | Uint8Array;

let isWaiting = false;

/**
 * Looks for the answer. Undefined if the call has to be a job, 0, or the number of an error. The
 * caller makes the promise of an answer by {@link promiseOf}.
 */
export function lookUp(path: Path, plan: Readonly<Plan>): number | undefined {
  if (isWaiting || plan.isSpecial) return undefined;
  const code = native?.lookUp?.(path, plan.operation, plan.number);
  if (code === undefined) {
    // The kernel may have none of the next answers either: of 10,000 missing files each look-up
    // takes a third of the time of a call.
    isWaiting = true;
    later(endTurn);
  }
  return code;
}

function endTurn(): void {
  isWaiting = false;
}

/** Makes the promise of an answer: a value, or the error with the number `code`. */
export function promiseOf(code: number, path: Path, value: unknown): Promise<unknown> {
  isWaiting = true;
  return new Promise((resolve) => { later(deliver, resolve, code, path, value); });
}

function deliver(resolve: (value: unknown) => void, code: number, path: Path, value: unknown): void {
  isWaiting = false;
  resolve(code === 0 ? value : rejected(makeError(code, shown(path), undefined)));
}

/** Converts the bytes of a path to what errors show. */
export const shown = (path: Path): string => (typeof path === 'string' ? path : Buffer.from(path).toString());
