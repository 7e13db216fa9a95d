// The functions of node:fs that are counted, each with its part of the work on a small file.

/** The parts, by their names in the report. A whole-file function also opens and closes. */
export type Part =
  | 'look up' | 'open' | 'read' | 'write' | 'flush' | 'close' | 'read whole' | 'write whole' | 'make, move, remove';

const PARTS: Readonly<Record<Part, readonly string[]>> = {
  'look up': ['access', 'exists', 'stat', 'lstat', 'fstat', 'statfs', 'realpath', 'readlink', 'readdir', 'opendir'],
  open: ['open'],
  read: ['read', 'readv'],
  write: ['write', 'writev'],
  flush: ['fsync', 'fdatasync'],
  close: ['close'],
  'read whole': ['readFile'],
  'write whole': ['writeFile', 'appendFile', 'copyFile', 'cp'],
  'make, move, remove': [
    'mkdir', 'mkdtemp', 'rename', 'rm', 'rmdir', 'unlink', 'link', 'symlink', 'truncate', 'ftruncate',
    'chmod', 'fchmod', 'lchmod', 'chown', 'fchown', 'lchown', 'utimes', 'futimes', 'lutimes',
  ],
};

/** Every counted function, by its name in node:fs without `Sync`. */
export const FUNCTIONS: readonly { name: string; part: Part }[] = Object.entries(PARTS).flatMap(
  ([part, names]) => names.map((name) => ({ name, part: part as Part })),
);

/** The way in which a function gives its result. */
export type Form = 'sync' | 'callback' | 'promise';
export const FORMS: readonly Form[] = ['sync', 'callback', 'promise'];

/** Methods of a FileHandle, with the function of node:fs that does the same for a descriptor. */
export const HANDLE_METHODS: Readonly<Record<string, string>> = {
  appendFile: 'appendFile', chmod: 'fchmod', chown: 'fchown', close: 'close', datasync: 'fdatasync', read: 'read',
  readFile: 'readFile', readv: 'readv', stat: 'fstat', sync: 'fsync', truncate: 'ftruncate', utimes: 'futimes',
  write: 'write', writeFile: 'writeFile', writev: 'writev',
};
