// Writes many files by node:fs, where there is no native code.

import fs = require('node:fs');
import path = require('node:path');

import { flushDirectorySync } from '../core/durable/options.js';
import { flushFileSync, writeDurablyByNodeSync } from '../core/durable/fallback.js';
import { Chunk, type Data, type Entries } from './entries.js';
import { CANCELLED, failure, progressOf, settled } from '../core/many.js';
import { FLUSH_FULL, FLUSH_NOTHING } from '../core/option-bits.js';
import { WRITE_FLAGS } from '../core/options.js';
import { original } from '../original.js';
import { type WritePlan } from './write-plan.js';

/** The number of files that are written between two turns of the event loop. */
const FILES_PER_TURN = 16;

type Outcome = PromiseSettledResult<'written' | 'unchanged'>;

/** A call of `writeFiles` or `writeFilesSync` that replaces no files. */
export class FallbackWriter {
  readonly #entries: Entries;
  readonly #plan: WritePlan;
  readonly #outcomes: Outcome[] = [];
  /** The entries that were taken, and the number of them that are done. */
  #chunk = new Chunk();
  #done = 0;
  #stopped = false;
  #bytes = 0;

  constructor(entries: Entries, plan: WritePlan) {
    this.#entries = entries;
    this.#plan = plan;
  }

  /** Does `writeFilesSync`. */
  writeAllSync(): unknown {
    while (this.#writeNext());
    return this.#conclude();
  }

  /** Does `writeFiles`, with turns of the event loop in between. */
  async writeAll(): Promise<unknown> {
    const { signal, onProgress } = this.#plan;
    const report = progressOf(onProgress);
    const tell = (): void => {
      const done = this.#outcomes.length;
      report?.({ done, total: done, bytes: this.#bytes });
    };
    while (signal?.aborted !== true && this.#writeNext()) {
      if (this.#outcomes.length % FILES_PER_TURN !== 0) continue;
      tell();
      await new Promise((resolve) => { setImmediate(resolve); });
    }
    if (signal?.aborted === true) this.#stop();
    signal?.throwIfAborted();
    tell();
    return this.#conclude();
  }

  /**
   * Writes the next entry; false if there is none. After a stop, entries that were taken are
   * cancelled, as by native code.
   */
  #writeNext(): boolean {
    if (this.#done === this.#chunk.texts.length) {
      this.#chunk = this.#entries.chunk();
      this.#done = 0;
    }
    const { texts, data } = this.#chunk;
    if (texts.length === 0) return false;
    const text = texts[this.#done];
    const bytes = data[this.#done];
    this.#done += 1;
    const error = this.#stopped ? failure(CANCELLED, text) : undefined;
    const outcome = settled(error, () => this.#write(text, bytes));
    this.#outcomes.push(outcome);
    if (this.#plan.failFast && outcome.status === 'rejected') this.#stop();
    return true;
  }

  #stop(): void {
    this.#stopped = true;
    this.#entries.stop();
  }

  #write(text: string, data: Data): 'written' | 'unchanged' {
    const { mode, createNew, createParents, onlyIfChanged, durable } = this.#plan;
    const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (onlyIfChanged && holds(text, bytes)) {
      if (durable.level !== FLUSH_NOTHING) flushFileSync(text, durable);
      return 'unchanged';
    }
    const first = createParents ? original.mkdirSync(path.dirname(text), { recursive: true }) : undefined;
    if (durable.level === FLUSH_NOTHING) {
      original.writeFileSync(text, bytes, { mode, flag: createNew ? 'wx' : 'w' });
    } else {
      const flags = createNew ? WRITE_FLAGS | fs.constants.O_EXCL : WRITE_FLAGS;
      writeDurablyByNodeSync(text, bytes, { ...durable, flags, mode, encoding: 'utf8' });
      if (first !== undefined && durable.level === FLUSH_FULL) flushAbove(path.dirname(text), first);
    }
    this.#bytes += bytes.length;
    return 'written';
  }

  #conclude(): unknown {
    if (this.#entries.broken !== undefined) throw this.#entries.broken.error;
    const outcomes = this.#outcomes;
    if (this.#plan.settle) return outcomes;
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    const unchanged = outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value === 'unchanged').length;
    return { written: outcomes.length - unchanged, unchanged };
  }
}

/** Flushes the parents of the directories that were made, from `last` up to `first`. */
function flushAbove(last: string, first: string): void {
  for (let made = path.resolve(last); ; made = path.dirname(made)) {
    flushDirectorySync(path.dirname(made));
    if (made === path.resolve(first) || made === path.dirname(made)) return;
  }
}

function holds(text: string, bytes: Buffer): boolean {
  try {
    return original.readFileSync(text).equals(bytes);
  } catch {
    return false;
  }
}
