// Single writes with `durability` or `replace` that finish later, with a callback or a promise.

import { type FileHandle } from 'node:fs/promises';

import { bitsOf, type Durable } from './options.js';
import { writeDurablyByNode } from './fallback.js';
import {
  cannotReplace, durableData, type DurablePlan, type DurableTarget, durableTarget, nativeTarget, notTogether, planDurable,
  shownTarget,
} from './writes.js';
import { refused } from '../many.js';
import { nativeHere } from '../native.js';
import { systemMode } from '../platform.js';
import { forget, fulfilRequest, keep, rejectRequest, type Request } from '../requests.js';

/** Data in pieces, which only promises take. */
type Pieces = AsyncIterable<unknown> | Iterable<unknown>;

/**
 * Begins a write; false if node:fs is to refuse it. `ownScope` is 1 for calls with a callback,
 * which take descriptors.
 */
export function startDurably(made: Request, flags: number, durable: Durable, ownScope: 0 | 1): boolean {
  const target = durableTarget(made.target);
  // Only callbacks take descriptors.
  if (typeof target === 'number' && ownScope === 0) return false;
  const isOpen = target === undefined ? ownScope === 0 && isHandle(made.target) : typeof target === 'number';
  const plan = planDurable(made.options as object, flags, durable, isOpen);
  // node:fs refuses a call with a signal that was aborted before.
  if (plan === undefined || plan.signal?.aborted === true) return false;
  const bytes = durableData(made.data, plan.encoding);
  if (bytes === undefined && (ownScope === 1 || !hasPieces(made.data))) return false;
  if (target === undefined) {
    if (ownScope === 1 || !isHandle(made.target)) return false;
    startByNode(made, made.target, bytes ?? made.data as Pieces, plan);
    return true;
  }
  if (typeof target !== 'number') startOnPath(made, target, bytes, plan, ownScope);
  else if (bytes === undefined) return false;
  else startNatively(made, target, bytes, plan, ownScope);
  return true;
}

function startOnPath(
  made: Request, target: string | Uint8Array, bytes: string | NodeJS.ArrayBufferView | undefined, plan: DurablePlan, ownScope: 0 | 1,
): void {
  made.path = shownTarget(target);
  made.namesPath = true;
  if (bytes !== undefined) {
    startNatively(made, target, bytes, plan, ownScope);
    return;
  }
  const pieces = made.data as Pieces;
  if (!plan.replace) {
    startByNode(made, target, pieces, plan);
    return;
  }
  // Native code takes the contents whole.
  gathered(pieces, plan).then((all) => { startNatively(made, target, all, plan, ownScope); }).catch((error: unknown) => { rejectRequest(made, error); });
}

/** Begins a write by native code, or by node:fs if native code does not take it. */
function startNatively(
  made: Request, target: DurableTarget, bytes: string | NodeJS.ArrayBufferView, plan: DurablePlan, ownScope: 0 | 1,
): void {
  const here = nativeHere();
  // While pieces were gathered, the program may have begun to use files that only node:fs sees.
  if (here === undefined && plan.replace) throw cannotReplace();
  made.callNode = () => {
    if (plan.replace) rejectRequest(made, notTogether(made.options));
    else startByNode(made, target, bytes, plan);
  };
  const place = nativeTarget(target, plan.replace);
  if (here !== undefined && place !== undefined) {
    const id = keep(made);
    if (here.writeDurably(place, id, ownScope, bytes, plan.flags, systemMode(plan.mode), bitsOf(plan)) === undefined) return;
    forget(id);
  }
  made.callNode(made);
}

function startByNode(
  made: Request, target: DurableTarget | FileHandle, data: string | NodeJS.ArrayBufferView | Pieces, plan: DurablePlan,
): void {
  writeDurablyByNode(target, data, plan).then(() => { fulfilRequest(made, undefined); }, (error: unknown) => { rejectRequest(made, error); });
}

/** Tells a FileHandle by the members that are used here. */
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
  // node:fs takes any object with `aborted` for a signal.
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

/** Makes the error that node:fs makes, whatever the reason is. */
function abortError({ reason }: AbortSignal): Error {
  const error = new Error('The operation was aborted', reason === undefined ? undefined : { cause: reason });
  return Object.assign(error, { code: 'ABORT_ERR', name: 'AbortError' });
}

/** Copies a piece: its maker may use the same memory for the next one. */
function copyOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer {
  return Buffer.from(new Uint8Array(buffer, byteOffset, byteLength));
}
