// Taking from an iterable that the caller gave, a few at a time.

/** An iterator that is told once, as by a loop, when no more is taken from it before its end. */
export class Taking<T> {
  readonly #iterator: Iterator<T>;
  #over = false;
  #running = false;

  constructor(iterable: Iterable<T>) {
    this.#iterator = iterable[Symbol.iterator]();
  }

  /** Whether there is nothing more to take. */
  get over(): boolean {
    return this.#over;
  }

  /** The next one; nothing at the end. What the iterator throws is its end, too. */
  next(): { value: T } | undefined {
    if (this.#over) return undefined;
    let result: IteratorResult<T>;
    this.#running = true;
    try {
      result = this.#iterator.next();
    } catch (error) {
      this.#over = true;
      throw error;
    } finally {
      this.#running = false;
    }
    if (result.done === true) this.#over = true;
    // The iterator stopped it: what it gave is too late.
    else if (this.over) this.#iterator.return?.();
    else return { value: result.value };
    return undefined;
  }

  /** Takes no more. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    if (!this.#running) this.#iterator.return?.();
  }
}
