// Takes the entries of calls that write many files from the caller's iterable, checks them, and
// counts their bytes.

import { MAX_IN_FLIGHT, type PathLike, entryText, refused } from '../core/many.js';
import { longestString } from '../core/native.js';
import { Taking } from './taking.js';

/** The maximum number of entries that are handed to native code at a time, and of their bytes. */
const CHUNK = 1024;
const CHUNK_BYTES = 4 << 20;
/**
 * The approximate memory of an entry besides its path and contents, in bytes. It limits the number
 * of entries without contents.
 */
const ENTRY_BYTES = 256;

/** Contents in a form that native code copies. */
export type Data = string | NodeJS.ArrayBufferView;

/** A path and its contents. A `Map` of paths to contents is an iterable of these. */
export type Entry = readonly [path: PathLike, data: Data];

/** An entry that was checked. */
interface Checked {
  text: string;
  data: Data;
}

/** Entries that are written together. */
export class Chunk {
  readonly texts: string[] = [];
  readonly data: Data[] = [];
  /** The memory of the entries besides their contents, in bytes. */
  overhead = 0;
  /**
   * The memory of the entries in all, in bytes. Until a string is copied, each character counts as
   * a byte.
   */
  bytes = 0;

  add({ text, data }: Checked): void {
    this.texts.push(text);
    this.data.push(data);
    const overhead = ENTRY_BYTES + text.length;
    this.overhead += overhead;
    this.bytes += overhead + (typeof data === 'string' ? data.length : data.byteLength);
  }
}

/** The entries of one call. */
export class Entries {
  readonly #taking: Taking<Entry>;
  readonly #encoding: BufferEncoding;
  /**
   * The error of an entry or of the iterable. It is thrown when the entries before it are written.
   */
  broken: { error: unknown } | undefined;

  constructor(entries: Iterable<Entry>, encoding: BufferEncoding) {
    this.#taking = new Taking(entries);
    this.#encoding = encoding;
  }

  /** Tells whether there is nothing more to take. */
  get over(): boolean {
    return this.#taking.over;
  }

  /** Takes the next entry; undefined at the end, or if the entry is wrong. */
  next(): Checked | undefined {
    try {
      const next = this.#taking.next();
      return next === undefined ? undefined : this.#check(next.value);
    } catch (error) {
      this.fail(error);
      return undefined;
    }
  }

  /** Takes entries for one native call, up to about `maxBytes`. */
  chunk(maxBytes = CHUNK_BYTES): Chunk {
    return this.#take(CHUNK, Math.min(maxBytes, CHUNK_BYTES));
  }

  /**
   * Takes entries for a blocking call. Workers wait for each other at the end of a chunk, so chunks
   * are large.
   */
  largeChunk(): Chunk {
    return this.#take(Infinity, MAX_IN_FLIGHT);
  }

  /** Takes no more, because of an error that is thrown in the end. */
  fail(error: unknown): void {
    this.broken ??= { error };
    this.stop();
  }

  /** Takes no more, because of an error. */
  stop(): void {
    this.#taking.stop();
  }

  #take(count: number, bytes: number): Chunk {
    const chunk = new Chunk();
    while (chunk.texts.length < count && chunk.bytes < bytes) {
      const next = this.next();
      if (next === undefined) break;
      chunk.add(next);
    }
    return chunk;
  }

  #check(entry: unknown): Checked {
    if (!Array.isArray(entry)) {
      throw refused('ERR_INVALID_ARG_TYPE', 'An entry must be an array of a path and data', entry);
    }
    const [path, data] = entry as unknown[];
    return { text: entryText(path), data: this.#bytes(data) };
  }

  #bytes(data: unknown): Data {
    if (typeof data === 'string') {
      return this.#encoding === 'utf8' || this.#encoding === 'utf-8' ? short(data) : Buffer.from(data, this.#encoding);
    }
    if (ArrayBuffer.isView(data)) return data as NodeJS.ArrayBufferView;
    throw refused('ERR_INVALID_ARG_TYPE', 'Data must be a string, a Buffer, a TypedArray or a DataView', data);
  }
}

/** Makes bytes of a string that is too long for a native call. */
const short = (text: string): Data => (text.length <= longestString ? text : Buffer.from(text));
