// Walks a tree and reads its files in one call.

import { DELEGATE } from '../core/errors.js';
import {
  type Encoded, failure, flag, isFailure, listenTo, noThread, type PathLike, pathText, positive, progressOf,
} from '../core/many.js';
import { nativeHere, needsNative } from '../core/native.js';
import { FOLLOW_LINKS, HIDDEN, NO_IGNORE_FILES } from '../core/option-bits.js';
import { Outcomes } from './outcomes.js';
import { decoded, planReadFiles, readBits, type ReadFilesOptions, type ReadPlan } from './read-plan.js';
import { follow, type State, unfollow } from '../core/sessions.js';
import { patternsOf } from './tree-calls.js';

export interface ReadTreeOptions extends ReadFilesOptions {
  /**
   * Reads only files that match one of these patterns, such as `content/**\/*.md`. A pattern is
   * compared with the path below the root, with `/` between names. `*` and `?` stand for anything
   * but `/`, and `**` as a whole name for any number of directories.
   */
  match?: string | readonly string[] | undefined;
  /** Leaves out files that match one of these patterns, and everything in directories that do. */
  ignore?: string | readonly string[] | undefined;
  /** Leaves out the files that `.gitignore` and `.ignore` files name. True by default. */
  ignoreFiles?: boolean | undefined;
  /** Walks names that begin with a dot. False by default, unless a pattern spells the dot. */
  hidden?: boolean | undefined;
  /** Walks directories that symbolic links lead to. False by default. */
  followLinks?: boolean | undefined;
  /** The maximum depth: 1 for the files in the root itself. No limit by default. */
  maxDepth?: number | undefined;
}

/** A file of a tree. */
export interface TreeFile<T = Buffer | string> {
  /** The root, joined with the path below it. */
  path: string;
  contents: T;
}

/** Returns the bits for native code. */
function treeBits(options: ReadTreeOptions): number {
  const ignoreFiles = options.ignoreFiles === undefined || flag('ignoreFiles', options.ignoreFiles);
  return (ignoreFiles ? 0 : NO_IGNORE_FILES) | (flag('hidden', options.hidden) ? HIDDEN : 0) |
    (flag('followLinks', options.followLinks) ? FOLLOW_LINKS : 0);
}

/**
 * A file of a tree as native code leaves it. The contents may be a code that says why there are
 * none.
 */
type Found = [path: string, contents: unknown];

const isFound = (result: unknown): result is Found => Array.isArray(result) && typeof result[0] === 'string';

/** Makes the {@link Outcomes} of one call. */
function outcomesOf(results: unknown[], plan: ReadPlan, root: string): Outcomes {
  return new Outcomes(results, plan.settle, {
    isFailure: (result) => (isFound(result) ? result[1] === DELEGATE : isFailure(result)),
    failure: (result) => (isFound(result) ? failure(result[1], result[0]) : failure(result, root)),
    value: (result) => {
      const [path, contents] = result as Found;
      return { path, contents: decoded(contents, plan) };
    },
  });
}

function read(root: PathLike, options: ReadTreeOptions | BufferEncoding | null = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const given = typeof options === 'string' || options === null ? {} : options;
    const plan = planReadFiles(options);
    const text = pathText(root);
    const wanted = [
      ...patternsOf('match', given.match).map((pattern) => `+${pattern}`),
      ...patternsOf('ignore', given.ignore).map((pattern) => `-${pattern}`),
    ];
    const maxDepth = positive('maxDepth', given.maxDepth, 0);
    const walking = treeBits(given);
    plan.signal?.throwIfAborted();
    const here = nativeHere();
    if (here === undefined) throw needsNative('readTree', 'List the files by node:fs and read them with readFiles.');
    const results: unknown[] = [];
    const outcomes = outcomesOf(results, plan, text);
    let report = progressOf(plan.onProgress);
    const follower = {
      advance({ done, failed, bytes, ended }: State): void {
        report?.({ done, total: done, bytes });
        if (!ended) {
          outcomes.advance(failed > 0);
          return;
        }
        forget();
        outcomes.concludeLater(results.length, failed > 0, resolve, reject);
      },
    };
    const id = follow(follower);
    const { threads, maxInFlight, maxFileSize } = plan;
    const refusal = here.openTree({
      id, results, bits: readBits(plan) | walking, root: text, patterns: wanted.join('\0'), maxDepth, threads, maxInFlight, maxFileSize,
    });
    if (refusal !== undefined) {
      unfollow(id);
      if (typeof refusal !== 'number') throw failure(refusal, text);
      throw noThread('readTree');
    }
    const forget = listenTo(plan.signal, () => {
      here.cancel(id);
      report = undefined;
      outcomes.drop();
      reject(plan.signal?.reason as Error);
    });
  });
}

type Result<O> = O extends { settle: true } ? PromiseSettledResult<TreeFile<Encoded<O>>>[] : TreeFile<Encoded<O>>[];

/**
 * Walks a tree and reads its files in one call. They come in the order of their names, directory by
 * directory. Needs the native addon.
 *
 * @example
 * const pages = await readTree('content', { match: '**\/*.md', encoding: 'utf8' });
 */
export const readTree = read as <const O extends ReadTreeOptions | BufferEncoding | null | undefined = undefined>(
  root: PathLike, options?: O,
) => Promise<Result<O>>;
