// Taking from an iterable that the caller gave, a few at a time.

/** An iterator that is told once, as by a loop, when no more is taken from it before its end. */
export class Taking<T> {
  readonly #iterator: Iterator<T, unknown>;
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
    let result: IteratorResult<T, unknown>;
    let isEnd = true;
    this.#running = true;
    try {
      result = this.#iterator.next();
      isEnd = result.done === true;
    } finally {
      this.#running = false;
      // It may have been stopped while it ran, by what it did itself.
      if (isEnd) this.#over = true;
    }
    if (result.done === true) return undefined;
    if (!this.over) return { value: result.value };
    // What it gave is too late.
    this.#returnQuietly();
    return undefined;
  }

  /** Takes no more, because of an error: as in a loop, what the iterator throws now is not told beside it. */
  stop(): void {
    if (this.#over) return;
    this.#over = true;
    if (!this.#running) this.#returnQuietly();
  }

  /** Takes no more, by choice: what the iterator throws is told. */
  leave(): void {
    if (this.#over) return;
    this.#over = true;
    if (!this.#running) this.#iterator.return?.();
  }

  #returnQuietly(): void {
    try {
      this.#iterator.return?.();
    } catch {
      // Somebody is told of another error already.
    }
  }
}
