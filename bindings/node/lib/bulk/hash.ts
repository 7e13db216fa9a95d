// Hashes files, or a whole tree.

import { type Native } from '../core/addon.js';
import {
  failure, flag, isFailure, iterable, listenerOf, type ManyAsyncOptions, noThread, optionsOf, type PathLike, entryText, pathText,
  signalOf, threadsOf,
} from '../core/many.js';
import { nativeHere, needsNative } from '../core/native.js';
import { FAIL_FAST } from '../core/option-bits.js';
import { later } from '../core/trees/later.js';
import { Outcomes } from './outcomes.js';
import { runPaths } from './path-sessions.js';
import { choice, countsOf, patternsOf, run, type TreeCounts, type TreeOptions } from './tree-calls.js';

/** The algorithms, by the numbers that native code knows. */
const ALGORITHMS = ['blake3', 'sha256', 'sha1', 'git'] as const;

const ENCODINGS = ['hex', 'base64', 'base64url', 'buffer'] as const;

/**
 * An algorithm. `'git'` gives the names that git has for files: SHA-1 of `blob`, a space, the
 * length, a zero byte and the contents.
 */
export type HashAlgorithm = typeof ALGORITHMS[number];

/** The form of a digest. */
export type DigestEncoding = typeof ENCODINGS[number];

/** The type of digests in the encoding of the options. */
export type Digest<O> = O extends { encoding: 'buffer' } ? Buffer : string;

export interface HashOptions {
  /**
   * The algorithm. `'blake3'` by default, which is as safe as SHA-256 and faster. SHA-1, which
   * `'git'` uses too, is no longer safe against files that are made to have the same digest.
   */
  algorithm?: HashAlgorithm | undefined;
  /** The form of digests: a string, or a Buffer. `'hex'` by default. */
  encoding?: DigestEncoding | undefined;
  /**
   * A file that keeps digests between calls. It is made if it is missing. A file is read again only
   * if its length, inode, time of modification or time of change (`ctime`) is another one, or if it
   * was changed less than two seconds before it was hashed. The bytes of other files are not
   * counted.
   *
   * The file is replaced when the call ends, also after an error or an abort. When two calls use it
   * at once, it keeps the digests of the one that ends last. A damaged one counts as empty, and one
   * with other contents is an error. Keep it out of a tree that is hashed. On Windows it is an
   * error.
   */
  cache?: PathLike | undefined;
}

export interface HashFilesOptions extends HashOptions, Omit<ManyAsyncOptions, 'maxInFlight'> {
  /**
   * Gives the outcome of each file, as `Promise.allSettled` does. By default the call fails with
   * the first failure.
   */
  settle?: boolean | undefined;
}

export interface HashTreeOptions extends HashOptions, TreeOptions {
  /**
   * Leaves out entries that match one of these patterns, and everything in such directories: the
   * digest is that of a tree without them. A pattern without a slash is compared with names at any
   * depth, another one with the whole path below the tree's.
   */
  exclude?: string | readonly string[] | undefined;
}

/** The digest of a tree, and what it was made of. */
export interface TreeDigest<D = string | Buffer> extends TreeCounts {
  digest: D;
}

function planHash(options: HashOptions): { algorithm: number; encode: ((hex: string) => string | Buffer) | undefined } {
  const encoding = choice('encoding', options.encoding, ENCODINGS) ?? 'hex';
  const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex');
  return {
    algorithm: ALGORITHMS.indexOf(choice('algorithm', options.algorithm, ALGORITHMS) ?? 'blake3'),
    encode: encoding === 'hex' ? undefined : encoding === 'buffer' ? bytes : (hex) => bytes(hex).toString(encoding),
  };
}

/**
 * Hashes by `hash`, which gets the number of the open cache, or 0. The cache is saved in any case.
 */
async function withCache<T>(native: Native, path: string | undefined, hash: (cache: number) => Promise<T>): Promise<T> {
  if (path === undefined) return hash(0);
  const cache = await later(path, (id) => native.openCache(path, id, 0)) as number;
  const save = (): Promise<unknown> => later(path, (id) => native.saveCache(cache, id, 0));
  let result: T;
  try {
    result = await hash(cache);
  } catch (error) {
    await save().catch(() => undefined);
    throw error;
  }
  await save();
  return result;
}

async function hashMany(paths: Iterable<PathLike>, options?: HashFilesOptions): Promise<unknown> {
  const given = optionsOf(options);
  const { algorithm, encode } = planHash(given);
  const settle = flag('settle', given.settle);
  const threads = threadsOf(given.threads);
  const cachePath = given.cache === undefined ? undefined : pathText(given.cache);
  const [signal, onProgress] = [signalOf(given.signal), listenerOf(given.onProgress)];
  signal?.throwIfAborted();
  const texts = Array.from(iterable('paths', paths), entryText);
  signal?.throwIfAborted();
  const native = nativeHere();
  if (native === undefined) throw needsNative('hashFiles', 'Use node:crypto');
  const results = new Array<unknown>(texts.length);
  const outcomes = new Outcomes(results, settle, {
    isFailure: (result) => typeof result !== 'string' && isFailure(result),
    failure: (result, index) => failure(result, texts[index] ?? ''),
    value: encode && ((hex) => encode(hex as string)),
    whole: encode === undefined && !settle ? () => results : undefined,
  });
  return withCache(native, cachePath, (cache) => {
    signal?.throwIfAborted();
    const open = (id: number): number | undefined =>
      native.openHash({ id, results, bits: settle ? 0 : FAIL_FAST, algorithm, threads, cache });
    return runPaths(native, { texts, signal, onProgress, outcomes }, open, () => { throw noThread('hashFiles'); });
  });
}

type Result<O> = O extends { settle: true } ? PromiseSettledResult<Digest<O>>[] : Digest<O>[];

/**
 * Hashes many files in one call, by native threads, and gives their digests in the order of paths.
 *
 * ```js
 * const [digest] = await hashFiles(['package.json'], { algorithm: 'sha256' });
 * ```
 *
 * The contents never become values of JavaScript. Links are followed. A file of any size takes no
 * more than 64 KiB of memory for each thread. Rejects with the first failure, as `Promise.all`
 * does. With `{settle: true}` it gives each file's outcome, as `Promise.allSettled` does. An abort
 * ends large files in their middle.
 *
 * ```js
 * const digests = await hashFiles(paths, { cache: 'node_modules/.cache/digests' });
 * ```
 *
 * @throws TypeError for wrong arguments. The error of opening or saving the cache. An error with
 * the code ERR_SMALLFRY_NOT_NATIVE without the native addon
 */
export const hashFiles = hashMany as <const O extends HashFilesOptions | undefined = undefined>(
  paths: Iterable<PathLike>, options?: O,
) => Promise<Result<O>>;

async function hashWhole(path: PathLike, options?: HashTreeOptions): Promise<TreeDigest> {
  const given = optionsOf(options);
  const text = pathText(path);
  const { algorithm, encode } = planHash(given);
  const exclude = patternsOf('exclude', given.exclude).join('\0');
  const cachePath = given.cache === undefined ? undefined : pathText(given.cache);
  const threads = threadsOf(given.threads);
  const native = nativeHere();
  if (native === undefined) throw needsNative('hashTree', 'Use node:crypto');
  const outcome = await withCache(native, cachePath, (cache) => (
    run(text, given, (id) => native.hashTree({ id, path: text, algorithm, threads, exclude, cache }))
  ));
  const hex = outcome[4] ?? '';
  return { digest: encode === undefined ? hex : encode(hex), ...countsOf(outcome) };
}

/**
 * Hashes the directory, file or link at `path`, and everything in it, to one digest.
 *
 * ```js
 * const { digest } = await hashTree('src', { exclude: ['node_modules', '*.log'] });
 * ```
 *
 * The digest stands for all names, contents and links, and for which files their owner may execute.
 * `docs/tree-digest.md` defines it. Times, owners and other permissions do not count. Links are not
 * followed, neither at `path` nor below it. The tree may change meanwhile: its entries are read one
 * after the other.
 *
 * @throws TreeError if entries could not be read, and then there is no digest. Also for pipes,
 * sockets and devices. TypeError for wrong arguments. The error of opening or saving the cache. An
 * error with the code ERR_SMALLFRY_NOT_NATIVE without the native addon
 */
export const hashTree = hashWhole as <const O extends HashTreeOptions | undefined = undefined>(
  path: PathLike, options?: O,
) => Promise<TreeDigest<Digest<O>>>;
