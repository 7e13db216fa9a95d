// Writing many files where there is no native code: the same calls by node:fs.

import path = require('node:path');

import { pathText, settled } from './many.js';
import { original } from './original.js';
import { type Entry, type WritePlan } from './write-files.js';

/** Files written at once. */
const AT_ONCE = 64;

type Outcome = PromiseSettledResult<'written' | 'unchanged'>;

function conclude(outcomes: Outcome[], { settle }: WritePlan): unknown {
  if (settle) return outcomes;
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  const unchanged = outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value === 'unchanged').length;
  return { written: outcomes.length - unchanged, unchanged };
}

function writeOne([target, data]: Entry, plan: WritePlan): Outcome {
  const { encoding, mode, createNew } = plan;
  try {
    const text = pathText(target);
    const bytes = typeof data === 'string' ? Buffer.from(data, encoding) : viewOf(data);
    if (plan.onlyIfChanged && holds(text, bytes)) return settled(undefined, () => 'unchanged');
    if (plan.createParents) original.mkdirSync(path.dirname(text), { recursive: true });
    original.writeFileSync(text, bytes, { mode, flag: createNew ? 'wx' : 'w' });
    return settled(undefined, () => 'written');
  } catch (error) {
    return settled(error as Error, () => 'written');
  }
}

const viewOf = (data: NodeJS.ArrayBufferView): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

function holds(text: string, bytes: Buffer): boolean {
  try {
    return original.readFileSync(text).equals(bytes);
  } catch {
    return false;
  }
}

/** `writeFilesSync`. */
export function writeManyOriginalSync(entries: Iterator<Entry>, plan: WritePlan): unknown {
  const outcomes: Outcome[] = [];
  for (let next = entries.next(); next.done !== true; next = entries.next()) {
    const outcome = writeOne(next.value, plan);
    outcomes.push(outcome);
    if (plan.failFast && outcome.status === 'rejected') break;
  }
  return conclude(outcomes, plan);
}

/** `writeFiles`: the event loop gets its turn between groups of files. */
export async function writeManyOriginal(entries: Iterator<Entry>, plan: WritePlan): Promise<unknown> {
  const outcomes: Outcome[] = [];
  for (let next = entries.next(); next.done !== true; next = entries.next()) {
    plan.signal?.throwIfAborted();
    const outcome = writeOne(next.value, plan);
    outcomes.push(outcome);
    if (plan.failFast && outcome.status === 'rejected') break;
    if (outcomes.length % AT_ONCE === 0) {
      plan.onProgress?.({ done: outcomes.length, total: outcomes.length, bytes: 0 });
      await new Promise((resolve) => { setImmediate(resolve); });
    }
  }
  return conclude(outcomes, plan);
}
