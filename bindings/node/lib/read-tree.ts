// Walking a tree and reading it in one call.

import { DELEGATE } from './errors.js';
import { failure, flag, isCancelled, type PathLike, pathText, positive, progressOf, refused, settled } from './many.js';
import { native, reason as notNative } from './native.js';
import { decoded, isUtf8, planOf, type ReadFilesOptions, type ReadPlan } from './read-files.js';
import { follow, unfollow } from './sessions.js';

/** Bits of native code. */
const NO_IGNORE_FILES = 1;
const HIDDEN = 2;
const FOLLOW_LINKS = 4;

export interface ReadTreeOptions extends ReadFilesOptions {
  /**
   * Only files that match one of these patterns, such as `content/**\/*.md`. They are held against the path below the
   * root, with `/` between names; `*` and `?` stand for anything else, `**` as a whole name for any number of folders.
   */
  match?: string | readonly string[] | undefined;
  /** No files that match one of these patterns, and nothing in folders that do. */
  ignore?: string | readonly string[] | undefined;
  /** Whether `.gitignore` and `.ignore` files count. Yes by default. */
  ignoreFiles?: boolean | undefined;
  /** Whether names that begin with a dot are walked. No by default, unless a pattern spells the dot. */
  hidden?: boolean | undefined;
  /** Whether folders are walked that symbolic links lead to. No by default. */
  followLinks?: boolean | undefined;
  /** How deep to go: 1 is the files in the root itself. No limit by default. */
  maxDepth?: number | undefined;
}

/** A file of a tree. */
export interface TreeFile<T = Buffer | string> {
  /** The root joined with the path below it. */
  path: string;
  contents: T;
}

function patterns(name: string, value: string | readonly string[] | undefined): string[] {
  const list: unknown = value === undefined ? [] : typeof value === 'string' ? [value] : value;
  const isPattern = (pattern: unknown): boolean => typeof pattern === 'string' && pattern !== '' && !pattern.includes('\0');
  if (Array.isArray(list) && list.every(isPattern)) return list as string[];
  throw refused('ERR_INVALID_ARG_VALUE', `The "${name}" option must be a pattern or an array of patterns`, value);
}

function bits(options: ReadTreeOptions): number {
  const ignoreFiles = options.ignoreFiles === undefined || flag('ignoreFiles', options.ignoreFiles);
  return (ignoreFiles ? 0 : NO_IGNORE_FILES) | (flag('hidden', options.hidden) ? HIDDEN : 0) |
    (flag('followLinks', options.followLinks) ? FOLLOW_LINKS : 0);
}

type Outcome = PromiseSettledResult<TreeFile>;

/** What became of one file, from what native code left for it. */
function outcomeOf(result: unknown, plan: ReadPlan, root: string): Outcome {
  const [path, contents] = Array.isArray(result) ? (result as [string | number, unknown]) : [undefined, undefined];
  const error = typeof path !== 'string' ? failure(result, root)
    : contents === DELEGATE ? failure(contents, path) : undefined;
  return settled(error, () => ({ path: path as string, contents: decoded(contents, plan) }));
}

function conclude(results: unknown[], plan: ReadPlan, root: string): unknown[] {
  // Unlike `map` it does not pass over what has no result, which is a failure too.
  const outcomes = Array.from(results, (result) => outcomeOf(result, plan, root));
  if (plan.settle) return outcomes;
  const rejected = outcomes.filter((outcome) => outcome.status === 'rejected');
  const first = rejected.find(({ reason }) => !isCancelled(reason)) ?? rejected.at(0);
  if (first !== undefined) throw first.reason;
  return outcomes.map((outcome) => (outcome as PromiseFulfilledResult<TreeFile>).value);
}

function read(root: PathLike, options: ReadTreeOptions | BufferEncoding | null = {}): Promise<unknown[]> {
  return new Promise((resolve, reject) => {
    const given = typeof options === 'string' || options === null ? {} : options;
    const plan = planOf(options);
    const text = pathText(root);
    const wanted = [
      ...patterns('match', given.match).map((pattern) => `+${pattern}`),
      ...patterns('ignore', given.ignore).map((pattern) => `-${pattern}`),
    ];
    const depth = positive('maxDepth', given.maxDepth, 0);
    const flags = bits(given);
    plan.signal?.throwIfAborted();
    if (native === undefined) {
      throw Object.assign(new Error(`readTree needs the native addon: ${notNative}`), { code: 'ERR_SMALLFRY_NOT_NATIVE' });
    }
    const here = native;
    const results: unknown[] = [];
    let report = progressOf(plan.onProgress);
    const abort = (): void => {
      here.cancel(id);
      report = undefined;
      reject(plan.signal?.reason as Error);
    };
    const follower = {
      advance(done: number, bytes: number, ended: boolean): void {
        report?.({ done, total: done, bytes });
        if (!ended) return;
        plan.signal?.removeEventListener('abort', abort);
        Promise.resolve().then(() => conclude(results, plan, text)).then(resolve, reject);
      },
    };
    const id = follow(follower);
    const { encoding, threads, maxInFlight, maxFileSize, settle } = plan;
    const refused = here.openTree(
      id, results, text, wanted.join('\0'), flags, depth, isUtf8(encoding) ? 1 : 0, threads, maxInFlight, maxFileSize,
      settle ? 0 : 1,
    );
    if (refused !== undefined) {
      unfollow(id);
      throw failure(refused, text) ?? new Error('smallfry: no thread');
    }
    plan.signal?.addEventListener('abort', abort, { once: true });
  });
}

type Encoded<O> = O extends BufferEncoding | { encoding: BufferEncoding } ? string : Buffer;
type Result<O> = O extends { settle: true } ? PromiseSettledResult<TreeFile<Encoded<O>>>[] : TreeFile<Encoded<O>>[];

/**
 * The files of a tree with their contents, walked and read in one call. They come in the order of their names, folder by
 * folder.
 *
 * @example
 * const pages = await readTree('content', { match: '**\/*.md', encoding: 'utf8' });
 */
export const readTree = read as <const O extends ReadTreeOptions | BufferEncoding | null | undefined = undefined>(
  root: PathLike, options?: O,
) => Promise<Result<O>>;
