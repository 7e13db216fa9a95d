// Takes values from the caller's iterable, a few at a time.

/**
 * An iterator of the caller. If no more is taken before its end, its method `return` is called
 * once, as by a loop.
 */
export class Taking<T> {
  readonly #iterator: Iterator<T, unknown>;
  #over = false;
  #running = false;

  constructor(iterable: Iterable<T>) {
    this.#iterator = iterable[Symbol.iterator]();
  }

  /** Tells whether there is nothing more to take. */
  get over(): boolean {
    return this.#over;
  }

  /** Takes the next value; undefined at the end. An exception of the iterator ends it, too. */
  next(): { value: T } | undefined {
    if (this.#over) return undefined;
    let result: IteratorResult<T, unknown>;
    let isEnd = true;
    this.#running = true;
    try {
      result = this.#iterator.next();
      isEnd = result.done === true;
    } finally {
      this.#running = false;
      // The iterator itself may have stopped this while it ran.
      if (isEnd) this.#over = true;
    }
    if (result.done === true) return undefined;
    if (!this.over) return { value: result.value };
    // It was stopped while the iterator ran, so this value is too late.
    this.#returnQuietly();
    return undefined;
  }

  /**
   * Takes no more, because of an error. As in a loop, an exception of the iterator is then ignored.
   */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    if (!this.#running) this.#returnQuietly();
  }

  /** Takes no more, by choice. An exception of the iterator is thrown. */
  leave(): void {
    if (this.#over) return;
    this.#over = true;
    if (!this.#running) this.#iterator.return?.();
  }

  #returnQuietly(): void {
    try {
      this.#iterator.return?.();
    } catch {
      // Another error is thrown already.
    }
  }
}
