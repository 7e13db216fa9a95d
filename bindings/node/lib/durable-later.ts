// Writes of which more is asked than to write, that finish later.

import { type FileHandle } from 'node:fs/promises';

import { type Durable } from './durability.js';
import { writeOriginal } from './durable-original.js';
import {
  bitsOf, durableData, type DurablePlan, type DurableTarget, durableTarget, forDescriptor, forNative, isForNative, planDurable, shownTarget,
} from './durable-writes.js';
import { refused } from './many.js';
import { nativeHere } from './native.js';
import { systemMode } from './platform.js';
import { forget, keep, type Request, settle, settleError } from './requests.js';

/** Data that only promises take. */
type Pieces = AsyncIterable<unknown> | Iterable<unknown>;

/** Begins a write; false if node:fs is to refuse it. `alone` is 1 for calls with a callback, which take descriptors. */
export function startDurably(made: Request, flags: number, durable: Durable, alone: 0 | 1): boolean {
  const target = durableTarget(made.target);
  const isOpen = target === undefined ? alone === 0 && isHandle(made.target) : typeof target === 'number';
  const plan = planDurable(made.options as object, flags, durable, isOpen);
  // A signal that was aborted stops node:fs, too.
  if (plan === undefined || plan.signal?.aborted === true) return false;
  const bytes = durableData(made.data, plan.encoding);
  if (bytes === undefined && (alone === 1 || !hasPieces(made.data))) return false;
  if (target === undefined) {
    if (alone === 1 || !isHandle(made.target)) return false;
    writeElsewhere(made, made.target, bytes ?? made.data as Pieces, forDescriptor(plan));
    return true;
  }
  if (typeof target !== 'number') startOnPath(made, target, bytes, plan, alone);
  else if (alone === 0 || bytes === undefined) return false;
  else startHere(made, target, bytes, forDescriptor(plan), alone);
  return true;
}

function startOnPath(
  made: Request, target: string | Uint8Array, bytes: string | NodeJS.ArrayBufferView | undefined, plan: DurablePlan, alone: 0 | 1,
): void {
  made.path = shownTarget(target);
  made.namesPath = true;
  if (bytes !== undefined) {
    startHere(made, target, bytes, plan, alone);
    return;
  }
  const pieces = made.data as Pieces;
  // Only native code keeps all that a file has, and it wants the contents whole.
  if (!plan.replace || nativeHere() === undefined) {
    writeElsewhere(made, target, pieces, plan);
    return;
  }
  gathered(pieces, plan).then(
    (all) => { startHere(made, target, all, plan, alone); },
    (error: unknown) => { settleError(made, error); },
  );
}

/** Natively if that can be done. */
function startHere(
  made: Request, target: DurableTarget, bytes: string | NodeJS.ArrayBufferView, plan: DurablePlan, alone: 0 | 1,
): void {
  made.again = () => { writeElsewhere(made, target, bytes, plan); };
  const here = isForNative(target) ? nativeHere() : undefined;
  if (here !== undefined) {
    const id = keep(made);
    if (here.writeDurably(forNative(target), id, alone, bytes, plan.flags, systemMode(plan.mode), bitsOf(plan)) === undefined) return;
    forget(id);
  }
  made.again(made);
}

function writeElsewhere(
  made: Request, target: DurableTarget | FileHandle, data: string | NodeJS.ArrayBufferView | Pieces, plan: DurablePlan,
): void {
  writeOriginal(target, data, plan).then(() => { settle(made, undefined); }, (error: unknown) => { settleError(made, error); });
}

/** A FileHandle, as far as it is used. */
function isHandle(target: unknown): target is FileHandle {
  if (typeof target !== 'object' || target === null) return false;
  const { fd, sync, datasync } = target as Record<string, unknown>;
  return typeof fd === 'number' && typeof sync === 'function' && typeof datasync === 'function';
}

function hasPieces(data: unknown): data is Pieces {
  if (data === undefined || data === null || typeof data === 'string') return false;
  const { [Symbol.asyncIterator]: later, [Symbol.iterator]: now } = data as Record<symbol, unknown>;
  return typeof later === 'function' || typeof now === 'function';
}

async function gathered(pieces: Pieces, { encoding, signal }: DurablePlan): Promise<Buffer> {
  const all: Buffer[] = [];
  // Anything with `aborted` does for node:fs.
  const check = (): void => { if (signal?.aborted === true) throw abortError(signal); };
  for await (const piece of pieces) {
    check();
    if (typeof piece === 'string') all.push(Buffer.from(piece, encoding));
    else if (ArrayBuffer.isView(piece)) all.push(copyOf(piece));
    else throw refused('ERR_INVALID_ARG_TYPE', 'Each piece of the data must be a string, a Buffer, a TypedArray or a DataView', piece);
  }
  check();
  return Buffer.concat(all);
}

/** As node:fs makes it, whatever the reason is. */
function abortError({ reason }: AbortSignal): Error {
  const error = new Error('The operation was aborted', reason === undefined ? undefined : { cause: reason });
  return Object.assign(error, { code: 'ABORT_ERR', name: 'AbortError' });
}

/** Who makes the pieces may use the same memory for the next one. */
function copyOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(new Uint8Array(buffer, byteOffset, byteLength));
}
