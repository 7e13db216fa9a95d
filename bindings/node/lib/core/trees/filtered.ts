// Copies trees as `fs.cp` does with a filter.
//
// The filter is asked about all entries in Node's order, before any file is copied. A directory is
// made before the filter is asked about its entries, since it may write there itself. Native code
// lists the directories, many in one call, and then copies the files for which the filter has
// returned a true value.

import fs = require('node:fs');
import path = require('node:path');

import { metadataPromises } from '../metadata/index.js';
import { native } from '../native.js';
import { original } from '../../original.js';
import { later } from './later.js';
import { type Path } from './usable.js';

/** The filter of the caller. With `fs.cpSync` it returns no promise. */
export type Filter = (from: string, to: string) => unknown;

/** One step, which is done at once or later. */
type Step =
  | { ask: readonly [from: string, to: string] }
  | { list: string }
  | { make: string; from: string }
  | { look: string };

/** The work that is left for native code. */
export interface Found {
  /** The paths below the source of the entries to be copied. */
  entries: string[];
  /** The directories that were made, with the permissions that they are to have. */
  made: { path: string; mode: number }[];
}

/** The parts of a listing of native code (`src/trees/list.rs`), and the number of the next one. */
interface Listing {
  parts: readonly string[];
  next: number;
}

const END = '^';
const NOT_LISTED = '>';
const DIRECTORY = 'd';

/** A directory whose entries are being asked about. */
interface Place {
  from: string;
  to: string;
  /** Its path below the source, with a slash at the end. */
  below: string;
  listing: Listing;
}

const take = (listing: Listing): string => {
  const part = listing.parts[listing.next] ?? END;
  listing.next += 1;
  return part;
};

/** Passes over the listing of a directory. */
function skip(listing: Listing): void {
  for (let depth = 1; depth > 0;) {
    const part = take(listing);
    if (part === END) depth -= 1;
    else if (part.startsWith(DIRECTORY)) {
      if (listing.parts[listing.next] === NOT_LISTED) listing.next += 1;
      else depth += 1;
    }
  }
}

/** Asks the filter about the tree. `isNew` says that there is nothing at `to`. */
function* walk({ from, to }: Path, isNew: boolean): Generator<Step, Found | undefined> {
  const found: Found = { entries: [], made: [] };
  if (!(yield { ask: [from, to] })) return undefined;
  const places: Place[] = [];
  const enter = function* enter(place: Omit<Place, 'listing'>, listed: Listing | undefined, isMade: boolean): Generator<Step> {
    const listing = listed ?? (yield { list: place.from }) as Listing;
    const mode = Number(take(listing));
    if (isMade && (yield { make: place.to, from: place.from }) === true) found.made.push({ path: place.to, mode });
    places.push({ ...place, listing });
  };
  yield* enter({ from, to, below: '' }, undefined, isNew);
  for (let place = places.at(-1); place !== undefined; place = places.at(-1)) {
    const { listing } = place;
    const part = take(listing);
    if (part === END) {
      places.pop();
      continue;
    }
    const name = part.slice(1);
    const isDirectory = part.startsWith(DIRECTORY);
    const isListed = isDirectory && listing.parts[listing.next] !== NOT_LISTED;
    if (isDirectory && !isListed) listing.next += 1;
    const [source, copy] = [path.join(place.from, name), path.join(place.to, name)];
    if (!(yield { ask: [source, copy] })) {
      if (isListed) skip(listing);
      continue;
    }
    const below = place.below + name;
    found.entries.push(below);
    if (isDirectory) yield* enter({ from: source, to: copy, below: `${below}/` }, isListed ? listing : undefined, true);
    // The bytes of a name that is not UTF-8 are lost. Node then finds no such file.
    else if (name.includes('\uFFFD')) yield { look: source };
  }
  return found;
}

const RECURSIVE = { recursive: true } as const;

const parse = (text: string): Listing => ({ parts: text.split('/'), next: 0 });

/** Makes the listing of one directory that native code cannot list. */
const listingOf = (mode: number, entries: readonly fs.Dirent[]): Listing => ({
  parts: [
    String(mode),
    ...entries.flatMap((entry) => (entry.isDirectory() ? [DIRECTORY + entry.name, NOT_LISTED] : [`f${entry.name}`])),
    END,
  ],
  next: 0,
});

function listSync(from: string): Listing {
  const text = native?.listTreeSync?.(from);
  if (text !== undefined) return parse(text);
  const { mode } = original.lstatSync(from);
  const directory = original.opendirSync(from);
  const entries: fs.Dirent[] = [];
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) entries.push(entry);
  } finally {
    directory.closeSync();
  }
  return listingOf(mode, entries);
}

async function list(from: string): Promise<Listing> {
  const text = await later(from, (id) => native?.listTree?.(from, id, 0));
  if (typeof text === 'string') return parse(text);
  const { mode } = await original.promises.lstat(from);
  const entries: fs.Dirent[] = [];
  for await (const entry of await original.promises.opendir(from)) entries.push(entry);
  return listingOf(mode, entries);
}

/** Asks the filter, and blocks meanwhile. Undefined if it wants nothing of the tree. */
export function findSync(paths: Path, isNew: boolean, filter: Filter): Found | undefined {
  const perform = (step: Step): unknown => {
    if ('ask' in step) return filter(...step.ask);
    if ('list' in step) return listSync(step.list);
    if ('look' in step) return original.lstatSync(step.look);
    try {
      return original.mkdirSync(step.make, RECURSIVE) !== undefined;
    } catch (error) {
      // Node refuses to copy a directory to something else.
      original.cpSync(step.from, step.make, RECURSIVE);
      throw error;
    }
  };
  const steps = walk(paths, isNew);
  let next = steps.next();
  while (next.done !== true) next = steps.next(perform(next.value));
  return next.value;
}

const isPromise = (value: unknown): value is PromiseLike<unknown> => typeof value === 'object' && value !== null && 'then' in value;

/** Asks the filter. Undefined if it wants nothing of the tree. */
export async function find(paths: Path, isNew: boolean, filter: Filter): Promise<Found | undefined> {
  const perform = (step: Step): unknown => {
    if ('ask' in step) return filter(...step.ask);
    if ('list' in step) return list(step.list);
    if ('look' in step) return original.promises.lstat(step.look);
    return metadataPromises.mkdir(step.make, RECURSIVE).then(
      (made) => made !== undefined,
      async (error: unknown) => {
        await original.promises.cp(step.from, step.make, RECURSIVE);
        throw error;
      },
    );
  };
  const steps = walk(paths, isNew);
  let next = steps.next();
  while (next.done !== true) {
    const value = perform(next.value);
    // A filter that returns no promise need not wait for one.
    next = steps.next(isPromise(value) ? await value : value);
  }
  return next.value;
}
