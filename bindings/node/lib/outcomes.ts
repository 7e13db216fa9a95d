// From what native code leaves for entries to what the caller gets.

import { isCancelled } from './many.js';
import { later, TURN } from './turns.js';

/** Results between two looks at the clock, where they only have to be looked at. */
const BETWEEN_LOOKS = 16;

/** How the results of one kind of call are understood. */
export interface Reading {
  /** Whether an entry failed, from what was left for it. */
  isFailure: (result: unknown) => boolean;
  /** Why it did. */
  failure: (result: unknown, index: number) => Error;
  /** What the caller gets for one that did not; may throw. Undefined where that is the result itself. */
  value: ((result: unknown, index: number) => unknown) | undefined;
  /** What the caller gets for all if none failed. The values, where this is undefined. */
  sum?: () => unknown;
  /**
   * The same for so many entries where results need not be gone through. In a program that has just begun, looking at each
   * takes a quarter of the time of a file.
   */
  whole?: ((total: number) => unknown) | undefined;
}

/**
 * The results of one call, each turned in its place into what the caller gets: while others are on their way, in the
 * order of entries, and no more than a few milliseconds at a time. A failure becomes an error where the caller gets to
 * see it.
 */
export class Outcomes {
  readonly #results: unknown[];
  readonly #settle: boolean;
  readonly #reading: Reading;
  #next = 0;
  /** The failure to tell: the first one, but what was stopped because of another is not it. */
  #first: { error: () => unknown; final: boolean } | undefined;
  #unwanted = false;

  /** Results are put into `results` by native code, each once and in any order. */
  constructor(results: unknown[], settle: boolean, reading: Reading) {
    this.#results = results;
    this.#settle = settle;
    this.#reading = reading;
  }

  /** More results may be there, some of them failures. */
  advance(failures: boolean): void {
    if (!failures && this.#reading.whole !== undefined) return;
    this.#goOn(false, performance.now() + TURN);
  }

  /** All are there, of so many entries: gives what the caller gets at once, or throws the first failure. */
  conclude(total: number, failures: boolean): unknown {
    if (!failures && this.#reading.whole !== undefined) return this.#reading.whole(total);
    this.#results.length = total;
    this.#goOn(true, Infinity);
    return this.#given();
  }

  /** As {@link conclude}, for a promise: the event loop turns in between. */
  concludeLater(
    total: number, failures: boolean, resolve: (given: unknown) => void, reject: (error: unknown) => void,
  ): void {
    if (!failures && this.#reading.whole !== undefined) {
      resolve(this.#reading.whole(total));
      return;
    }
    this.#results.length = total;
    const goOn = (): void => {
      if (!this.#goOn(true, performance.now() + TURN)) {
        later(goOn);
        return;
      }
      try {
        resolve(this.#given());
      } catch (error) {
        reject(error);
      }
    };
    goOn();
  }

  /** Nobody wants them any more. */
  drop(): void {
    this.#unwanted = true;
  }

  #given(): unknown {
    if (this.#settle) return this.#results;
    if (this.#first !== undefined) throw this.#first.error();
    return this.#reading.sum === undefined ? this.#results : this.#reading.sum();
  }

  /** Goes through results in their order; false if the time was over before the last of them. */
  #goOn(all: boolean, until: number): boolean {
    const results = this.#results;
    const between = this.#settle || this.#reading.value !== undefined ? 1 : BETWEEN_LOOKS;
    for (let looked = 1; this.#next < results.length && !this.#isDecided(); looked += 1) {
      const result = results[this.#next];
      if (result === undefined && !all) return true;
      this.#turn(result, this.#next);
      this.#next += 1;
      if (looked % between === 0 && performance.now() >= until) return false;
    }
    return true;
  }

  /** Whether it makes no difference what else there is. */
  #isDecided(): boolean {
    return this.#unwanted || (!this.#settle && this.#first?.final === true);
  }

  #turn(result: unknown, index: number): void {
    const { isFailure, failure, value } = this.#reading;
    if (isFailure(result)) {
      if (this.#settle) this.#fail(failure(result, index), index);
      else this.#note(() => failure(result, index), !isCancelled(result));
      return;
    }
    if (value === undefined && !this.#settle) return;
    try {
      const given = value === undefined ? result : value(result, index);
      this.#results[index] = this.#settle ? { status: 'fulfilled', value: given } : given;
    } catch (error) {
      if (this.#settle) this.#fail(error, index);
      else this.#note(() => error, true);
    }
  }

  #fail(reason: unknown, index: number): void {
    this.#results[index] = { status: 'rejected', reason };
    this.#note(() => reason, true);
  }

  #note(error: () => unknown, final: boolean): void {
    if (this.#first === undefined || (final && !this.#first.final)) this.#first = { error, final };
  }
}
