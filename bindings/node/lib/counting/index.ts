// Counts the calls of node:fs that a program makes, for `smallfry try`: their number, bytes and
// time, and whether native code did them. Also notes the child processes that the program starts.
// It is loaded only where SMALLFRY_COUNT names a directory, so that it costs nothing elsewhere.
// Each process leaves one JSON file there, with the counts of all its threads.
//
// Not counted: files that Node's own loaders read, functions taken from node:fs before this was
// loaded, and calls made while the process exits.

import fs = require('node:fs');
import nodeModule = require('node:module');
import path = require('node:path');
import workers = require('node:worker_threads');

import { acceptWrappers } from '../core/heard.js';
import { native, reason } from '../core/native.js';
import { original } from '../original.js';
import { metadata, metadataPromises, treePromises, trees, wholeFile, wholeFilePromises } from '../stubs.js';
import { bytesOf } from './bytes.js';
import { type Cell, Cells } from './cells.js';
import { Children } from './children.js';
import { type Form, FORMS, FUNCTIONS, HANDLE_METHODS } from './functions.js';
import { type Call, counted, noticed } from './wrap.js';

type Functions = Record<string, unknown>;

const isWindows = process.platform === 'win32';

/** The functions that native code does. */
const nativeForms: Functions = { ...wholeFile, ...metadata, ...(isWindows ? {} : trees) };
const nativePromises: Functions = { ...wholeFilePromises, ...metadataPromises, ...(isWindows ? {} : treePromises) };

/** The function without the wrapper that counts its calls. */
const { writeFileSync } = original;

/**
 * Returns the name of a form in its object: `readFileSync` in node:fs, `readFile` in node:fs and
 * node:fs/promises.
 */
const nameOf = (name: string, form: Form) => (form === 'sync' ? `${name}Sync` : name);

/** Begins to count, into a file in `directory`. */
export function start(directory: string): void {
  const cells = Cells.open();
  if (cells === undefined) return;
  if (workers.isMainThread) {
    try {
      const children = new Children();
      leaveFile(directory, cells, children, notReplaced());
      children.notice();
    } catch (error) {
      process.emitWarning(`smallfry: calls are not counted: ${String(error)}`, { code: 'SMALLFRY_NOT_COUNTED' });
      return;
    }
  }
  wrapAll(cells);
}

/** Returns the names of functions that were not replaced by their native forms. */
function notReplaced(): string[] {
  if (native === undefined) return [];
  const names = (own: Functions, there: Functions) => Object.keys(own).filter((name) => there[name] !== own[name]);
  return [
    ...names(nativeForms, fs),
    ...names(nativePromises, fs.promises as unknown as Functions).map((name) => `promises.${name}`),
  ];
}

function wrapAll(cells: Cells): void {
  for (const { name } of FUNCTIONS) {
    for (const form of FORMS) wrap(name, form, cells.of(name, form));
  }
  wrapNative(fs.realpathSync, 'sync', cells);
  wrapNative(fs.realpath, 'callback', cells);
  acceptWrappers();
  nodeModule.syncBuiltinESMExports();

  function wrap(name: string, form: Form, cell: Cell): void {
    const functions = (form === 'promise' ? fs.promises : fs) as unknown as Functions;
    const key = nameOf(name, form);
    const call = functions[key];
    if (typeof call !== 'function') return;
    functions[key] = name === 'open' && form === 'promise'
      ? counted(wrappingHandle(call as Call, cells), form, cell, bytesOf(name, true))
      : counted(call, form, cell, bytesOf(name, true));
    noticeHandedOn(form, key, cell);
  }
}

/** Wraps `fs.realpath.native` or `fs.realpathSync.native`. */
function wrapNative(holder: { native: unknown }, form: Form, cells: Cells): void {
  holder.native = counted(holder.native, form, cells.of('realpath', form), () => 0);
}

/** Counts calls that native code leaves to node:fs: they go through `original`. */
function noticeHandedOn(form: Form, key: string, cell: Cell): void {
  const functions = (form === 'promise' ? original.promises : original) as unknown as Functions;
  if (typeof functions[key] === 'function') {
    functions[key] = noticed(functions[key], () => { cell.add('handedOn', 1n); });
  }
}

/** Wraps `open`, whose first FileHandle shows the class of all. */
function wrappingHandle(open: Call, cells: Cells): Call {
  let wrapped = false;
  return new Proxy(open, {
    apply: async (target, self: unknown, args: unknown[]) => {
      const handle = await (Reflect.apply(target, self, args) as Promise<object>);
      if (!wrapped) {
        wrapped = true;
        wrapMethods(Object.getPrototypeOf(handle) as Functions, cells);
      }
      // Each handle has a `close` of its own.
      if (Object.hasOwn(handle, 'close')) wrapMethods(handle as Functions, cells);
      return handle;
    },
  });
}

function wrapMethods(methods: Functions, cells: Cells): void {
  for (const [method, name] of Object.entries(HANDLE_METHODS)) {
    if (Object.hasOwn(methods, method) && typeof methods[method] === 'function') {
      methods[method] = counted(methods[method], 'promise', cells.of(name, 'promise'), bytesOf(name, false));
    }
  }
}

/**
 * Writes a file when the process begins, and again with its counts at its end. A killed process
 * leaves the first one.
 */
function leaveFile(directory: string, cells: Cells, children: Children, leftAlone: string[]): void {
  const file = path.join(directory, `${process.pid}-${process.hrtime.bigint()}.json`);
  const write = (ended: boolean) => {
    writeFileSync(file, JSON.stringify(report(cells, children, leftAlone, ended)));
  };
  write(false);
  process.on('exit', () => {
    try {
      write(true);
    } catch {
      // The program must not fail because of the counts. The file still says that the process has
      // not ended.
    }
  });
}

/** Makes the report, which `crates/cli/src/trial/counts.rs` reads. */
function report(cells: Cells, children: Children, leftAlone: string[], ended: boolean): object {
  const functions = FUNCTIONS.flatMap(({ name, part }) => FORMS.map((form) => {
    const isNative = native !== undefined && hasNativeForm(name, form) && !leftAlone.includes(qualified(name, form));
    return { name, form, part, native: isNative, ...cells.of(name, form).read() };
  }));
  return {
    schema: 'smallfry-count/1',
    pid: process.pid,
    node: process.version,
    command: process.argv,
    native: native !== undefined,
    reason,
    leftAlone,
    ended,
    threads: cells.threads,
    children: children.started,
    childrenWithout: [...children.without],
    functions: functions.filter(({ calls }) => calls > 0),
  };
}

const hasNativeForm = (name: string, form: Form) =>
  nameOf(name, form) in (form === 'promise' ? nativePromises : nativeForms);

const qualified = (name: string, form: Form) =>
  form === 'promise' ? `promises.${name}` : nameOf(name, form);
