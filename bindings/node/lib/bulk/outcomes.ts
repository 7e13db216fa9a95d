// Converts the results that native code leaves for entries to the values that the caller gets.

import { isCancelled } from '../core/many.js';
import { later, TURN } from '../core/turns.js';

/** The number of results between two looks at the clock, where results are not converted. */
const CLOCK_INTERVAL = 16;

/** The way to read the results of one kind of call. */
export interface Reading {
  /** Tells whether an entry failed. */
  isFailure: (result: unknown) => boolean;
  /** Makes the error of a failed entry. */
  failure: (result: unknown, index: number) => Error;
  /**
   * Converts the result of an entry that did not fail; may throw. Undefined where the caller gets
   * the result itself.
   */
  value: ((result: unknown, index: number) => unknown) | undefined;
  /** Makes the caller's value if no entry failed. Undefined where the caller gets all values. */
  sum?: () => unknown;
  /**
   * Makes the same from the number of entries alone. Going through all results would take a quarter
   * of the time of each file in a program that has just begun.
   */
  whole?: ((total: number) => unknown) | undefined;
}

/**
 * The results of one call. Each is converted in its place: in the order of entries, while others
 * are in flight, and no more than a few milliseconds at a time. A failure becomes an error only if
 * the caller gets to see it.
 */
export class Outcomes {
  readonly #results: unknown[];
  readonly #settle: boolean;
  readonly #reading: Reading;
  #next = 0;
  /**
   * The failure that the caller gets: the first one that is not an entry cancelled because of
   * another failure.
   */
  #first: { error: () => unknown; final: boolean } | undefined;
  #unwanted = false;

  /** Native code puts results into `results`, each once and in any order. */
  constructor(results: unknown[], settle: boolean, reading: Reading) {
    this.#results = results;
    this.#settle = settle;
    this.#reading = reading;
  }

  /** Converts results that have arrived. */
  advance(failures: boolean): void {
    if (!failures && this.#reading.whole !== undefined) return;
    this.#goOn(false, performance.now() + TURN);
  }

  /**
   * Ends the call, whose results are all there. Returns the caller's value, or throws the first
   * failure.
   */
  conclude(total: number, failures: boolean): unknown {
    if (!failures && this.#reading.whole !== undefined) return this.#reading.whole(total);
    this.#results.length = total;
    this.#goOn(true, Infinity);
    return this.#given();
  }

  /** Ends the call as {@link conclude} does, for a promise. The event loop turns in between. */
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

  /** Stops converting results. */
  drop(): void {
    this.#unwanted = true;
  }

  #given(): unknown {
    if (this.#settle) return this.#results;
    if (this.#first !== undefined) throw this.#first.error();
    return this.#reading.sum === undefined ? this.#results : this.#reading.sum();
  }

  /** Converts results in their order; false if the time was over before the last of them. */
  #goOn(all: boolean, until: number): boolean {
    const results = this.#results;
    const between = this.#settle || this.#reading.value !== undefined ? 1 : CLOCK_INTERVAL;
    for (let looked = 1; this.#next < results.length && !this.#isDecided(); looked += 1) {
      const result = results[this.#next];
      if (result === undefined && !all) return true;
      this.#turn(result, this.#next);
      this.#next += 1;
      if (looked % between === 0 && performance.now() >= until) return false;
    }
    return true;
  }

  /** Tells whether further results make no difference. */
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
