// `findPackageJSON` as node:module has it.

import fs = require('node:fs');
import nodeModule = require('node:module');
import path = require('node:path');
import url = require('node:url');

import { refused } from '../core/many.js';
import { fileURLToPath } from './paths.js';

type Find = (specifier: string | URL, base?: string | URL) => string | undefined;

/** Node's own function, which it has since 22.14 and 23.2. */
const theirs = (nodeModule as unknown as { findPackageJSON?: Find }).findPackageJSON;

function notFound(what: string, from: string): Error {
  const error = new Error(`Cannot find ${what} imported from ${from}`);
  return Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' });
}

/** Finds the package.json of a package by its name, from a file. */
function ofPackage(specifier: string, from: string): string {
  const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
  for (let directory = path.dirname(from), last = ''; directory !== last; last = directory, directory = path.dirname(directory)) {
    const candidate = path.join(directory, 'node_modules', name);
    if (fs.statSync(candidate, { throwIfNoEntry: false })?.isDirectory() === true) return path.join(candidate, 'package.json');
  }
  throw notFound(`package '${name}'`, from);
}

/** Makes a function with node:module's own arguments and errors, from `nearest`. */
export function finder(nearest: (file: string) => { path: string } | undefined): Find {
  return function findPackageJSON(specifier: string | URL, base?: string | URL): string | undefined {
    if (arguments.length === 0) {
      throw Object.assign(new TypeError('The "specifier" argument must be specified'), { code: 'ERR_MISSING_ARGS' });
    }
    const wanted = String(specifier);
    const isPath = wanted.startsWith('.') || wanted.startsWith('/') || wanted.startsWith('file:');
    if (!isPath && theirs !== undefined) return theirs(specifier, base);
    if (base !== undefined && typeof base !== 'string' && !(base instanceof URL)) {
      throw refused('ERR_INVALID_ARG_TYPE', 'The "base" argument must be of type string or an instance of URL', base);
    }
    const parent = typeof base === 'string' && path.isAbsolute(base) ? url.pathToFileURL(base) : base;
    // This leads to no file; Node's own function has the error.
    if (!/^file:/i.test(wanted) && !/^file:/i.test(String(parent)) && theirs !== undefined) return theirs(specifier, base);
    if (!isPath) return ofPackage(wanted, parent === undefined ? path.resolve('_') : fileURLToPath(parent));
    const target = wanted.startsWith('file:') ? wanted : new URL(wanted, parent ?? 'data:').href;
    const file = fileURLToPath(target);
    let real: string;
    try {
      // Node's loader resolves links, so a linked package is found where it is.
      real = fs.realpathSync.native(file);
    } catch (error) {
      if (theirs !== undefined) return theirs(specifier, base);
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      throw notFound(`module '${file}'`, parent === undefined ? 'data:' : fileURLToPath(parent));
    }
    return nearest(file.endsWith(path.sep) ? `${real}${path.sep}` : real)?.path;
  };
}
