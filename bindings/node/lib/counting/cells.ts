// The counts, in memory that all threads of a process share. A worker that is terminated could not
// hand over its counts.

import workers = require('node:worker_threads');

import { FORMS, type Form, FUNCTIONS } from './functions.js';

/** The numbers that are counted for each function in each form. */
const FIELDS = ['calls', 'failed', 'nanoseconds', 'bytes', 'handedOn'] as const;
type Field = (typeof FIELDS)[number];

const KEY = 'smallfry counts';
/** The first cell counts the threads. */
const THREADS = 0;
const LENGTH = 1 + FUNCTIONS.length * FORMS.length * FIELDS.length;

/** The counts of one function in one form. */
export class Cell {
  readonly #first: number;

  constructor(private readonly all: BigInt64Array, name: string, form: Form) {
    const row = FUNCTIONS.findIndex((known) => known.name === name) * FORMS.length + FORMS.indexOf(form);
    this.#first = 1 + row * FIELDS.length;
  }

  add(field: Field, value: bigint): void {
    Atomics.add(this.all, this.#first + FIELDS.indexOf(field), value);
  }

  /** Reads all fields. */
  read(): Record<Field, number> {
    const read = (_: Field, index: number) => Number(Atomics.load(this.all, this.#first + index));
    return Object.fromEntries(FIELDS.map((field, index) => [field, read(field, index)])) as Record<Field, number>;
  }
}

/** The counts of a process. */
export class Cells {
  private constructor(private readonly all: BigInt64Array) {}

  /**
   * Opens the counts of this process, which its first thread makes. Undefined in a worker that did
   * not get them.
   */
  static open(): Cells | undefined {
    let memory = workers.getEnvironmentData(KEY) as SharedArrayBuffer | undefined;
    if (memory === undefined && workers.isMainThread) {
      memory = new SharedArrayBuffer(LENGTH * BigInt64Array.BYTES_PER_ELEMENT);
      workers.setEnvironmentData(KEY, memory);
    }
    if (memory === undefined) return undefined;
    const cells = new Cells(new BigInt64Array(memory));
    Atomics.add(cells.all, THREADS, 1n);
    return cells;
  }

  of(name: string, form: Form): Cell {
    return new Cell(this.all, name, form);
  }

  get threads(): number {
    return Number(Atomics.load(this.all, THREADS));
  }
}
