// Reads many files by node:fs, where there is no native code.

import fs = require('node:fs');

import { progressOf, settled } from '../core/many.js';
import { original } from '../original.js';
import { MAX_FILE_SIZE, type ReadPlan } from './read-plan.js';

/** The default maximum number of files in flight. */
const MAX_IN_FLIGHT_FILES = 64;

/** A call of `readFiles`, `readFilesSync` or `readFilesStream`. */
export class FallbackReader {
  readonly #plan: ReadPlan;
  readonly #report: ReturnType<typeof progressOf>;
  #done = 0;
  #bytes = 0;

  constructor(plan: ReadPlan) {
    this.#plan = plan;
    this.#report = progressOf(plan.onProgress);
  }

  /** Does `readFilesSync`. */
  readAllSync(texts: string[]): unknown[] {
    const read = (text: string): Buffer | string => {
      if (this.#limited) this.#check(text, fs.statSync(text).size);
      return original.readFileSync(text, this.#plan.encoding);
    };
    return texts.map((text) => (this.#plan.settle ? settled(undefined, () => read(text)) : read(text)));
  }

  /** Does `readFiles`. */
  async readAll(texts: string[]): Promise<unknown[]> {
    const results = new Array<unknown>(texts.length);
    const { settle, signal, threads } = this.#plan;
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < texts.length) {
        const index = next;
        next += 1;
        try {
          const value = await this.readOne(texts[index] ?? '', texts.length);
          results[index] = settle ? { status: 'fulfilled', value } : value;
        } catch (reason) {
          if (!settle || signal?.aborted === true) {
            next = texts.length;
            throw reason;
          }
          results[index] = { status: 'rejected', reason };
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(threads || MAX_IN_FLIGHT_FILES, texts.length) }, work));
    if (texts.length === 0) this.#report?.({ done: 0, total: 0, bytes: 0 });
    return results;
  }

  /** Reads one file, and reports progress. Rejects with the signal's own reason. */
  async readOne(text: string, total: number): Promise<Buffer | string> {
    const { encoding, signal } = this.#plan;
    let size = 0;
    try {
      if (this.#limited) this.#check(text, (await fs.promises.stat(text)).size);
      const value = await original.promises.readFile(text, { encoding, signal });
      size = value.length;
      return value;
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      this.#done += 1;
      this.#bytes += size;
      if (signal?.aborted !== true) this.#report?.({ done: this.#done, total, bytes: this.#bytes });
    }
  }

  get #limited(): boolean {
    return this.#plan.maxFileSize < MAX_FILE_SIZE;
  }

  #check(text: string, size: number): void {
    const { maxFileSize } = this.#plan;
    if (size <= maxFileSize) return;
    const error = new Error(`'${text}' has ${size} bytes, more than the limit of ${maxFileSize}`);
    throw Object.assign(error, { code: 'ERR_FS_FILE_TOO_LARGE', path: text });
  }
}
