// The number of bytes that a call read or wrote, from its arguments and its result.

import { type Bytes } from './wrap.js';

/**
 * Returns the counting function for `name` of node:fs. `path` is false for a FileHandle's method,
 * which is given no file.
 */
export function bytesOf(name: string, path: boolean): Bytes {
  switch (name) {
    case 'readFile':
      return (args, result) => length(result, args[path ? 1 : 0]);
    case 'writeFile':
    case 'appendFile':
      return path ? (args) => length(args[1], args[2]) : (args) => length(args[0], args[1]);
    case 'read':
    case 'readv':
    case 'write':
    case 'writev':
      return (_args, result) => moved(result);
    default:
      return () => 0;
  }
}

function length(data: unknown, options: unknown): number {
  if (typeof data === 'string') {
    const encoding = typeof options === 'string' ? options : (options as { encoding?: unknown } | null | undefined)?.encoding;
    return Buffer.byteLength(data, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8');
  }
  return ArrayBuffer.isView(data) ? data.byteLength : 0;
}

/**
 * Reads a result: a number, or the object that a FileHandle's method and a promisified function
 * give.
 */
function moved(result: unknown): number {
  if (typeof result === 'number') return result;
  const { bytesRead, bytesWritten } = (result ?? {}) as { bytesRead?: number; bytesWritten?: number };
  return bytesRead ?? bytesWritten ?? 0;
}
