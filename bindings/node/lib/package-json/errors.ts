// The errors of look-ups.

import util = require('node:util');

import { type Failure } from '../core/addon-package-json.js';
import { bareError } from '../core/errors.js';
import { refused } from '../core/many.js';

/** The error of a look-up, with Node's own code and text where Node has them. */
export interface PackageConfigError extends Error {
  code: 'ERR_INVALID_PACKAGE_CONFIG' | 'ERR_INVALID_ARG_VALUE';
  /** The package.json. */
  path?: string;
  /** The line where it is invalid, from 1. */
  line?: number;
  /** The column in that line, in characters from 1. */
  column?: number;
  /** The reason why it is invalid or cannot be read. */
  reason?: string;
  /** The system's number if it cannot be read, as in node:fs's errors. */
  errno?: number;
}

/** Makes the error of a failure. Its stack leaves out the frames of `caller`. */
export function errorOf(failure: Failure, caller: (...args: never[]) => unknown): Error {
  const error = bare(failure);
  Error.captureStackTrace(error, caller);
  return error;
}

function bare(failure: Failure): Error {
  const code = 'ERR_INVALID_PACKAGE_CONFIG';
  switch (failure[0]) {
    case 0: {
      const [, path, errno, text] = failure;
      const known = errno === 0 ? undefined : util.getSystemErrorMap().get(-errno);
      const reason = known?.[1] ?? text;
      const own = { code, path, reason, ...(errno === 0 ? {} : { errno: -errno }) };
      return bareError(`Cannot read package config ${path}: ${reason}.`, own);
    }
    case 1: {
      const [, path, line, column, reason] = failure;
      return bareError(`Invalid package config ${path}.`, { code, path, line, column, reason });
    }
    default: {
      const [, path, reason] = failure;
      return refused('ERR_INVALID_ARG_VALUE', `The argument 'path' is ${reason}`, path);
    }
  }
}
