// A package.json as JavaScript sees it.

import { type Fields, type ModuleType, TYPES } from '../core/addon-package-json.js';
import { errorOf } from './errors.js';

/**
 * The parts of a package.json that finding and resolving modules takes. Callers share this object
 * and must not change it.
 */
export class Package {
  /** The path of the file. */
  readonly path: string;
  /** Its `name`. */
  readonly name: string | undefined;
  /** Its `main`, if that is a string. */
  readonly main: string | undefined;
  /** Its `type`. */
  readonly type: ModuleType;
  #exports: unknown;
  #exportsJSON: boolean;
  #imports: unknown;
  #importsJSON: boolean;

  /** @internal */
  constructor([path, name, main, type, exports, exportsJSON, imports, importsJSON]: Fields) {
    this.path = path;
    this.name = name;
    this.main = main;
    this.type = TYPES[type] ?? 'none';
    this.#exports = exports;
    this.#exportsJSON = exportsJSON === 1;
    this.#imports = imports;
    this.#importsJSON = importsJSON === 1;
  }

  /**
   * Its `exports`, if that is a string, an object or an array. It is parsed when it is first read.
   *
   * @throws ERR_INVALID_PACKAGE_CONFIG if it is not valid JSON, which is not checked earlier
   */
  get exports(): unknown {
    if (this.#exportsJSON) {
      this.#exports = parse(this.path, this.#exports as string);
      this.#exportsJSON = false;
    }
    return this.#exports;
  }

  /** Its `imports`, parsed like {@link exports}. */
  get imports(): unknown {
    if (this.#importsJSON) {
      this.#imports = parse(this.path, this.#imports as string);
      this.#importsJSON = false;
    }
    return this.#imports;
  }
}

function parse(path: string, json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw errorOf([1, path, 0, 0, reason], parse);
  }
}
