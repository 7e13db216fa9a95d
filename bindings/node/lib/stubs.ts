// The functions that programs get in the place of node:fs's. They are small, so that a process that
// reads and writes no files pays nothing: the first call loads the core, and the core the addon.

import { type Metadata, METADATA, original, rememberHandles } from './original.js';
import { shared } from './shared.js';

type Core = typeof import('./core.js');
type Calls = Pick<typeof original, keyof Core['calls']>;

/** An argument, passed on as it is. */
type Argument = never;

/**
 * The number of blocking calls that node:fs does before `register` loads the core. Loading takes as
 * long as about that many of them save. Many programs make fewer: they only read their modules.
 */
const SPARED = 500;

const isWindows = process.platform === 'win32';
/** Node lists trees in JavaScript before 26. Native code lists them faster, but not on Windows. */
const listsInJavaScript = !isWindows && Number.parseInt(process.versions.node, 10) < 26;

let core: Core | undefined;
/** The functions that do the calls; undefined before the first call. */
let calls: Calls | undefined;
let onLoad: (core: Core) => void = () => undefined;

/** Returns the functions that do the calls. The first call loads them. */
function load(): Calls {
  // Node's loader reads the core through the functions below, if they are in node:fs.
  calls = original;
  try {
    // eslint-disable-next-line @typescript-eslint/no-require-imports -- only now
    const loaded = require('./core.js') as Core;
    // It is undefined while another file of the package is loading the core.
    if ((loaded.calls as unknown) !== undefined) core = loaded;
  } finally {
    calls = core?.calls;
  }
  if (core !== undefined) onLoad(core);
  return calls ?? original;
}

/** The number of blocking calls that are left to node:fs. */
let spared = 0;
/** The number of other calls for paths that are left to node:fs. */
let sparedMetadata = 0;

/**
 * Loads as {@link load} does, unless node:fs does the call. Options may ask for what only the core
 * has.
 */
function loadForSync(options: unknown): Calls {
  if (spared === 0 || (typeof options === 'object' && options !== null)) return load();
  spared -= 1;
  return original;
}

/**
 * Loads as {@link load} does, once node:fs has done the first calls for paths. A listing of a tree
 * saves more than loading takes.
 */
function loadForMetadata(isListing = false): Calls {
  if (sparedMetadata === 0 || isListing) return load();
  sparedMetadata -= 1;
  return original;
}

const isRecursive = (options: unknown): boolean =>
  typeof options === 'object' && (options as { recursive?: unknown } | null)?.recursive === true;

/** Loads as {@link load} does, for a call that may be one for a tree. node:fs does others. */
function loadForTree(options: unknown): Calls {
  return !isWindows && isRecursive(options) ? load() : original;
}

/** Before the first call no file waits to be closed, so node:fs removes and renames. */
const loaded = (): Calls => calls ?? original;

type AnyFunction = (...args: unknown[]) => unknown;

function promisedCalls(): Record<Metadata, AnyFunction> {
  const made = {} as Record<Metadata, AnyFunction>;
  for (const name of METADATA) {
    const mayList = listsInJavaScript && name === 'readdir';
    const call: AnyFunction = (...args) => ((calls ?? loadForMetadata(mayList && isRecursive(args[1]))).promises[name] as AnyFunction)(...args);
    made[name] = Object.defineProperty(call, 'name', { value: name });
  }
  return made;
}

function metadataFunctions(): Record<'realpath', AnyFunction> {
  const realpath: AnyFunction = (...args) => ((calls ?? loadForMetadata()).realpath as AnyFunction)(...args);
  return { realpath: Object.assign(realpath, { native: original.realpath.native }) };
}

const own = {
  /** The whole-file functions of node:fs. */
  wholeFile: {
    readFile: (path: Argument, options: Argument, callback: Argument) => (calls ?? load()).readFile(path, options, callback),
    readFileSync: (path: Argument, options: Argument) => (calls ?? loadForSync(options)).readFileSync(path, options),
    writeFile: (path: Argument, data: Argument, options: Argument, callback: Argument) => (calls ?? load()).writeFile(path, data, options, callback),
    writeFileSync: (path: Argument, data: Argument, options: Argument) => (calls ?? loadForSync(options)).writeFileSync(path, data, options),
    appendFile: (path: Argument, data: Argument, options: Argument, callback: Argument) => (calls ?? load()).appendFile(path, data, options, callback),
    appendFileSync: (path: Argument, data: Argument, options: Argument) => (calls ?? loadForSync(options)).appendFileSync(path, data, options),
  },

  /** The whole-file functions of node:fs/promises. */
  wholeFilePromises: {
    readFile: (path: Argument, options: Argument) => (calls ?? load()).promises.readFile(path, options),
    writeFile: (path: Argument, data: Argument, options: Argument) => (calls ?? load()).promises.writeFile(path, data, options),
    appendFile: (path: Argument, data: Argument, options: Argument) => (calls ?? load()).promises.appendFile(path, data, options),
  },

  /** The function of node:fs/promises whose results lead to `FileHandle.prototype`. */
  opening: {
    open: async (path: Argument, flags: Argument, mode: Argument) => {
      const handle = await original.promises.open(path, flags, mode);
      rememberHandles(handle);
      return handle;
    },
  },

  /** The functions of node:fs that wait for closes before they remove or rename. */
  removing: {
    rename: (from: Argument, to: Argument, callback: Argument) => loaded().rename(from, to, callback),
    renameSync: (from: Argument, to: Argument) => loaded().renameSync(from, to),
    rmdir: (path: Argument, options: Argument, callback: Argument) => loaded().rmdir(path, options, callback),
    rmdirSync: (path: Argument, options: Argument) => loaded().rmdirSync(path, options),
    ...(isWindows && {
      unlink: (path: Argument, callback: Argument) => loaded().unlink(path, callback),
      unlinkSync: (path: Argument) => loaded().unlinkSync(path),
    }),
  },

  /** The functions of node:fs/promises that wait for closes before they remove or rename. */
  removingPromises: {
    rename: (from: Argument, to: Argument) => loaded().promises.rename(from, to),
    rmdir: (path: Argument, options: Argument) => loaded().promises.rmdir(path, options),
    ...(isWindows && {
      unlink: (path: Argument) => loaded().promises.unlink(path),
    }),
  },

  /** The functions of node:fs for trees. On Windows node:fs does them. */
  trees: {
    cp: (from: Argument, to: Argument, options: Argument, callback: Argument) => (calls ?? loadForTree(options)).cp(from, to, options, callback),
    cpSync: (from: Argument, to: Argument, options: Argument) => (calls ?? loadForTree(options)).cpSync(from, to, options),
    rm: (path: Argument, options: Argument, callback: Argument) => (calls ?? loadForTree(options)).rm(path, options, callback),
    rmSync: (path: Argument, options: Argument) => (calls ?? loadForTree(options)).rmSync(path, options),
    ...(listsInJavaScript && {
      readdir: (path: Argument, options: Argument, callback: Argument) => (calls ?? loadForTree(options)).readdir(path, options, callback),
      readdirSync: (path: Argument, options: Argument) => (calls ?? loadForTree(options)).readdirSync(path, options),
    }),
  },

  /** The functions of node:fs/promises for trees. */
  treePromises: {
    cp: (from: Argument, to: Argument, options: Argument) => (calls ?? loadForTree(options)).promises.cp(from, to, options),
    rm: (path: Argument, options: Argument) => (calls ?? loadForTree(options)).promises.rm(path, options),
  },

  /** The functions of node:fs for paths. On Windows node:fs does them. */
  metadata: isWindows ? {} : metadataFunctions(),

  /** The functions of node:fs/promises for paths. */
  metadataPromises: isWindows ? {} : promisedCalls(),

  /** Calls `listener` when the core is loaded, which tells whether the addon can be used. */
  whenLoaded: (listener: (core: Core) => void): void => {
    if (core === undefined) onLoad = listener;
    else listener(core);
  },

  /** Lets node:fs do the first blocking calls without options, and the first calls for paths. */
  spareFirstCalls: (): void => {
    spared = SPARED;
    sparedMetadata = SPARED;
  },
};

export const {
  metadata, metadataPromises, opening, removing, removingPromises, spareFirstCalls, treePromises, trees, wholeFile, wholeFilePromises,
  whenLoaded,
} = shared('stubs', own);

/** All functions that replace those of node:fs, under their names. */
export const functions = { ...wholeFile, ...removing, ...trees, ...metadata };

/** All functions that replace those of node:fs/promises, under their names. */
export const promises = { ...wholeFilePromises, ...removingPromises, ...treePromises, ...metadataPromises, ...opening };
