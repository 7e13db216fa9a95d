// Look-ups under one policy. Answers that need no check are kept here, by directory, and take no
// native call.

import { type ModuleType, type NativePackageJSON, TYPES } from '../core/addon-package-json.js';
import { refused } from '../core/many.js';
import { native, nativeHere } from '../core/native.js';
import { BY_TYPE, type Format, formatOf, FORMATS, kindOf } from './formats.js';
import { inJavaScript } from './in-javascript.js';
import { errorOf } from './errors.js';
import { Package } from './package.js';
import { absolute, directoryOf, isDirectlyIn, pathOf } from './paths.js';

/**
 * The rule for when an answer is checked.
 *
 * - `'never'`: not before `clear()` or `invalidate()`
 * - `'on-change'`: each time, by one `stat` for each directory from the file's own up to the one
 *   that decides
 * - `{ after: ms }`: like `'on-change'`, except for directories that were checked less than this
 *   time ago
 */
export type Revalidate = 'never' | 'on-change' | { after: number };

/** The package that a module belongs to. */
export interface Scope {
  /** Its package.json or, if there is none, the path where the search for one ended. */
  path: string;
  /** True if there is a package.json. */
  exists: boolean;
  /** The package.json, if there is one. */
  package: Package | undefined;
}

export interface FormatOptions {
  /** Takes `.ts`, `.mts` and `.cts` for modules, as Node 22.18 and later do. False by default. */
  typescript?: boolean | undefined;
}

const source = (): NativePackageJSON => nativeHere() ?? inJavaScript;

/** The source that tells all environments of the process what to forget. */
const watched: NativePackageJSON = native ?? inJavaScript;

/** A counter that native code raises when kept answers may no longer be right. */
const generation = new Uint32Array(1);
watched.packageWatch(generation);

/** Packages that were asked for, by number. */
const packages = new Map<number, Package>();
/**
 * The maximum number of packages that are kept. A package that changed gets a new number, and the
 * old one is never asked for again.
 */
const MAX_PACKAGES = 16_384;

const UNKNOWN = -1;

/** The maximum number of paths that are joined into one string for a native call. */
const MAX_AT_ONCE = 100_000;

function policyOf(revalidate: unknown): number {
  if (revalidate === 'never') return -1;
  if (revalidate === undefined || revalidate === 'on-change') return 0;
  const { after } = Object(revalidate) as { after?: unknown };
  if (typeof after === 'number' && after >= 0) return after;
  throw refused('ERR_INVALID_ARG_VALUE', `The "revalidate" argument must be 'never', 'on-change' or { after: milliseconds }`, revalidate);
}

/** Returns the package that a source has found last. */
function packageOf(from: NativePackageJSON, serial: number): Package | undefined {
  if (serial === 0) return undefined;
  const known = packages.get(serial);
  if (known !== undefined) return known;
  const fields = from.packageFound();
  if (fields === undefined) return undefined;
  const made = new Package(fields);
  if (packages.size >= MAX_PACKAGES) packages.clear();
  packages.set(serial, made);
  return made;
}

interface Kept<T> {
  directory: string;
  answer: T;
  /** The time of `performance.now()` at which the answer is too old. */
  until: number;
}

/**
 * Answers of one kind by directory. The last one is kept apart, since files that are asked for
 * together are often neighbours.
 */
class Known<T> {
  /** Answers grow too old. */
  readonly #ages: boolean;
  #seen = generation[0];
  readonly #answers = new Map<string, Kept<T>>();
  #last: Kept<T> | undefined = undefined;

  constructor(ages: boolean) {
    this.#ages = ages;
  }

  get(file: string): T | undefined {
    if (generation[0] !== this.#seen) this.#forget();
    let kept = this.#last;
    if (kept === undefined || !isDirectlyIn(file, kept.directory)) {
      const directory = directoryOf(file);
      if (directory === undefined) return undefined;
      kept = this.#answers.get(directory);
      if (kept === undefined) return undefined;
      this.#last = kept;
    }
    return this.#ages && performance.now() >= kept.until ? undefined : kept.answer;
  }

  /** Returns the time at which an answer is asked for, for {@link set}. */
  now(): number {
    return this.#ages ? performance.now() : 0;
  }

  /**
   * Keeps the last answer of a source for a file; `asked` is the time of {@link now} before the
   * call.
   */
  set(file: string, answer: T, from: NativePackageJSON, asked: number): void {
    const directory = directoryOf(file);
    if (directory === undefined) return;
    const until = this.#ages ? asked + from.packageRemaining() : Infinity;
    // This may replace an answer that is too old.
    this.#last = { directory, answer, until };
    this.#answers.set(directory, this.#last);
  }

  #forget(): void {
    this.#seen = generation[0];
    this.#answers.clear();
    this.#last = undefined;
  }
}

/** The directories of files that are asked for in one call. */
class Directories {
  readonly paths: string[] = [];
  readonly #places = new Map<string, number>();
  #directory = '';
  #place = UNKNOWN;

  /** Adds the directory of a file. Returns the index of its answer. */
  add(file: string): number {
    if (this.#place !== UNKNOWN && isDirectlyIn(file, this.#directory)) return this.#place;
    const directory = directoryOf(file);
    // The separator at the end makes the search begin in the directory itself.
    if (directory === undefined) return this.paths.push(file) - 1;
    const place = this.#places.get(directory) ?? this.paths.push(directory) - 1;
    this.#places.set(directory, place);
    this.#directory = directory;
    this.#place = place;
    return place;
  }
}

/** The functions that look package.json files up, under one policy. */
export class Lookups {
  readonly #policy: number;
  readonly #types: Known<number> | undefined;
  readonly #packages: Known<Package | null> | undefined;
  readonly #scopes: Known<Readonly<Scope>> | undefined;

  constructor(revalidate?: Revalidate) {
    this.#policy = policyOf(revalidate);
    if (this.#policy === 0) return;
    const ages = this.#policy > 0;
    this.#types = new Known(ages);
    this.#packages = new Known(ages);
    this.#scopes = new Known(ages);
  }

  /**
   * Finds the package.json that decides for a file. The search begins in the file's directory, or
   * in the path itself if that ends in a separator, and goes upward. It ends at a directory of the
   * name `node_modules` and before the root. The file need not exist; links on the way are not
   * resolved.
   *
   * @throws ERR_INVALID_PACKAGE_CONFIG if a package.json on the way is invalid, with `path`,
   * `line`, `column` and `reason`, or cannot be read, with `errno`
   */
  readonly nearest = (file: string | URL): Package | undefined => {
    const path = pathOf(file);
    const packages = this.#packages;
    const known = packages?.get(path);
    if (known !== undefined) return known ?? undefined;
    const asked = packages?.now() ?? 0;
    const from = source();
    const serial = from.packageNearest(path, this.#policy);
    if (typeof serial !== 'number') throw errorOf(serial, this.nearest);
    const found = packageOf(from, serial);
    packages?.set(path, found ?? null, from, asked);
    return found;
  };

  /**
   * Finds the `type` in the package.json that decides: `'none'` if there is no type, or no
   * package.json.
   */
  readonly nearestType = (file: string | URL): ModuleType => TYPES[this.#type(pathOf(file), this.nearestType)];

  /**
   * Finds the package that a module belongs to, by its URL or its path. It searches as
   * {@link nearest} does, and also in the root.
   */
  readonly scope = (module: string | URL): Scope => {
    const path = pathOf(module);
    // Node looks for node_modules before it decodes a URL, so native code gets an encoded URL as it
    // is.
    if (path !== module && path.includes('node_modules')) {
      const { href } = new URL(module);
      if (href.includes('%')) return this.#scope(href);
    }
    const known = this.#scopes?.get(path);
    return known === undefined ? this.#scope(path) : { ...known };
  };

  /**
   * Tells how Node loads a file of this name, which need not exist. A file without a `type` is
   * `'commonjs'`. Node 20.19, 22.7 and later load it as a module if it has the syntax of one.
   */
  readonly moduleFormat = (file: string | URL, options?: FormatOptions): Format => {
    const path = pathOf(file);
    const kind = kindOf(path, options?.typescript === true);
    return FORMATS[kind === BY_TYPE ? formatOf(this.#type(path, this.moduleFormat)) : kind];
  };

  /**
   * Does {@link moduleFormat} for many files, in at most one native call. Returns for each file the
   * index of its format in `formats`. Each directory is checked once.
   *
   * @throws the errors of {@link nearest}, for the first file that has no answer
   */
  readonly moduleFormats = (files: readonly (string | URL)[], options?: FormatOptions): Uint8Array => {
    const typescript = options?.typescript === true;
    const codes = new Uint8Array(files.length);
    const known = this.#types;
    if (known === undefined && files.length <= MAX_AT_ONCE) {
      const paths: string[] = [];
      for (const file of files) paths.push(pathOf(file));
      const answer = source().packageFormats(paths.join('\0'), codes, this.#policy, typescript ? 1 : 0);
      if (typeof answer !== 'number') throw errorOf(answer, this.moduleFormats);
      // Otherwise a path contains NUL, or there are no paths.
      if (answer === files.length) return codes;
    }
    const open: number[] = [];
    const directories = new Directories();
    for (let index = 0; index < files.length; index++) {
      const file = pathOf(files[index]);
      const kind = kindOf(file, typescript);
      if (kind !== BY_TYPE) {
        codes[index] = kind;
        continue;
      }
      const type = known?.get(file);
      if (type !== undefined) {
        codes[index] = formatOf(type);
        continue;
      }
      // Native code would take it for two paths.
      if (file.includes('\0')) throw errorOf([2, file, 'a path with a null byte'], this.moduleFormats);
      open.push(index, directories.add(file));
    }
    const { paths } = directories;
    if (paths.length === 0) return codes;
    const types = new Uint8Array(paths.length);
    const asked = known?.now() ?? 0;
    const from = source();
    const answer = from.packageTypes(paths.join('\0'), types, this.#policy);
    if (typeof answer !== 'number') throw errorOf(answer, this.moduleFormats);
    for (let index = 0; index < open.length; index += 2) codes[open[index]] = formatOf(types[open[index + 1]]);
    if (known !== undefined) for (const [place, path] of paths.entries()) known.set(path, types[place], from, asked);
    return codes;
  };

  #type(path: string, caller: (file: string | URL) => unknown): number {
    const known = this.#types?.get(path);
    if (known !== undefined) return known;
    const asked = this.#types?.now() ?? 0;
    const from = source();
    const type = from.packageType(path, this.#policy);
    if (typeof type !== 'number') throw errorOf(type, caller);
    this.#types?.set(path, type, from, asked);
    return type;
  }

  /** Asks native code for the scope of a path or a URL. Answers for URLs are not kept. */
  #scope(module: string): Scope {
    const asked = this.#scopes?.now() ?? 0;
    const from = source();
    const answer = from.packageScope(module, this.#policy);
    if (typeof answer !== 'number' && typeof answer !== 'string') throw errorOf(answer, this.scope);
    const found = typeof answer === 'number' ? packageOf(from, answer) : undefined;
    const path = typeof answer === 'string' ? answer : (found?.path ?? '');
    const scope = { path, exists: typeof answer === 'number', package: found };
    this.#scopes?.set(module, scope, from, asked);
    return { ...scope };
  }
}

/** Forgets everything, in all workers. */
export function clear(): void {
  watched.packageForget(undefined);
}

/**
 * Forgets a package.json, or a directory and all beneath it, in all workers. Call it with each path
 * that a watcher reports.
 */
export function invalidate(path: string | URL): void {
  const failed = watched.packageForget(absolute(path));
  if (failed !== undefined) throw errorOf(failed, invalidate);
}
