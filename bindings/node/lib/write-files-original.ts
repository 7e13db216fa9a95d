// Writing many files where there is no native code: the same calls by node:fs.

import path = require('node:path');

import { type Data, type Entries } from './entries.js';
import { progressOf, settled } from './many.js';
import { original } from './original.js';
import { type WritePlan } from './write-files.js';

/** Files written between two turns of the event loop. */
const TOGETHER = 16;

type Outcome = PromiseSettledResult<'written' | 'unchanged'>;

/** One call, by node:fs. */
export class Original {
  readonly #entries: Entries;
  readonly #plan: WritePlan;
  readonly #outcomes: Outcome[] = [];
  #bytes = 0;

  constructor(entries: Entries, plan: WritePlan) {
    this.#entries = entries;
    this.#plan = plan;
  }

  /** `writeFilesSync`. */
  writeAllSync(): unknown {
    while (this.#writeNext());
    return this.#conclude();
  }

  /** `writeFiles`: the event loop gets its turn now and then. */
  async writeAll(): Promise<unknown> {
    const { signal, onProgress } = this.#plan;
    const report = progressOf(onProgress);
    const tell = (): void => {
      const done = this.#outcomes.length;
      report?.({ done, total: done, bytes: this.#bytes });
    };
    while (this.#writeNext()) {
      if (signal?.aborted === true) this.#entries.stop();
      if (this.#outcomes.length % TOGETHER !== 0) continue;
      tell();
      await new Promise((resolve) => { setImmediate(resolve); });
    }
    signal?.throwIfAborted();
    tell();
    return this.#conclude();
  }

  /** False if there was no entry. */
  #writeNext(): boolean {
    const entry = this.#entries.next();
    if (entry === undefined) return false;
    const outcome = settled(undefined, () => this.#write(entry.text, entry.data));
    this.#outcomes.push(outcome);
    if (this.#plan.failFast && outcome.status === 'rejected') this.#entries.stop();
    return true;
  }

  #write(text: string, data: Data): 'written' | 'unchanged' {
    const { mode, createNew, createParents, onlyIfChanged } = this.#plan;
    const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (onlyIfChanged && holds(text, bytes)) return 'unchanged';
    if (createParents) original.mkdirSync(path.dirname(text), { recursive: true });
    original.writeFileSync(text, bytes, { mode, flag: createNew ? 'wx' : 'w' });
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

function holds(text: string, bytes: Buffer): boolean {
  try {
    return original.readFileSync(text).equals(bytes);
  } catch {
    return false;
  }
}
