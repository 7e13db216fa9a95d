// Formats of modules, as far as the name of a file decides.

/**
 * The format in which a module is loaded. For `unknown`, `import` fails with
 * ERR_UNKNOWN_FILE_EXTENSION, and `require` loads CommonJS.
 */
export type Format = 'unknown' | 'commonjs' | 'module' | 'json' | 'wasm' | 'addon';

/** The formats, by native code's numbers. */
export const FORMATS: readonly Format[] = ['unknown', 'commonjs', 'module', 'json', 'wasm', 'addon'];

/** The number for a file whose nearest package.json decides. */
export const BY_TYPE = -1;

const J = 106;
const S = 115;
const M = 109;
const C = 99;
const DOT = 46;
const SLASH = 47;
const BACKSLASH = 92;

const isWindows = process.platform === 'win32';
const isSeparator = (code: number): boolean => code === SLASH || (isWindows && code === BACKSLASH);

/** Returns the number of the format of a file whose type decides. */
export function formatOf(type: number): number {
  return type === 2 ? 2 : 1;
}

/** Returns the number of the format, or {@link BY_TYPE}. */
export function kindOf(path: string, typescript: boolean): number {
  const { length } = path;
  const last = path.charCodeAt(length - 1);
  const middle = path.charCodeAt(length - 2);
  // The most frequent extensions come first, by single characters.
  if (last === S && path.charCodeAt(length - 3) === DOT) {
    if (middle === J) return BY_TYPE;
  } else if (last === S && middle === J && path.charCodeAt(length - 4) === DOT && !isSeparator(path.charCodeAt(length - 5)) && length > 4) {
    const first = path.charCodeAt(length - 3);
    if (first === M) return 2;
    if (first === C) return 1;
  }
  return kindOfRest(path, typescript);
}

function kindOfRest(path: string, typescript: boolean): number {
  let dot = path.length - 1;
  for (; dot >= 0; dot--) {
    const code = path.charCodeAt(dot);
    if (isSeparator(code)) return BY_TYPE;
    if (code === DOT) break;
  }
  // A name that begins with its only dot has no extension.
  if (dot <= 0 || isSeparator(path.charCodeAt(dot - 1))) return BY_TYPE;
  switch (path.slice(dot + 1)) {
    case 'js': return BY_TYPE;
    case 'mjs': return 2;
    case 'cjs': return 1;
    case 'json': return 3;
    case 'wasm': return 4;
    case 'node': return 5;
    case 'ts': return typescript ? BY_TYPE : 0;
    case 'mts': return typescript ? 2 : 0;
    case 'cts': return typescript ? 1 : 0;
    default: return 0;
  }
}
