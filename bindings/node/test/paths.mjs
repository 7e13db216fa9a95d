// Values for the first argument of a call, of all kinds that node:fs accepts or refuses. Each makes
// what it needs in a directory.

import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { isWindows } from './support.mjs';

export const CONTENT = 'first line\nsecond: \u00e4\u20ac\u{1f41f}\n';

const file = (dir, name = 'file') => {
  const made = path.join(dir, name);
  fs.writeFileSync(made, CONTENT);
  return made;
};

/** A descriptor that the case closes at its end. */
const opened = (context, name, flags, position = 0) => {
  const fd = fs.openSync(name, flags);
  context.descriptors.push(fd);
  if (position > 0) fs.readSync(fd, Buffer.alloc(position), 0, position, null);
  return fd;
};

/** Each gets `{ dir, descriptors }`, and puts descriptors there that are closed at the end. */
export const PATHS = {
  'existing file': (c) => file(c.dir),
  'new file': (c) => path.join(c.dir, 'new'),
  'empty file': (c) => (fs.writeFileSync(path.join(c.dir, 'empty'), ''), path.join(c.dir, 'empty')),
  'binary file': (c) => (fs.writeFileSync(path.join(c.dir, 'b'), Buffer.from([0xff, 0, 0xc3, 0x28, 0xed, 0xa0, 0x80])), path.join(c.dir, 'b')),
  'file of 10 kB': (c) => (fs.writeFileSync(path.join(c.dir, 'k'), 'k\u00e9'.repeat(3333)), path.join(c.dir, 'k')),
  'file with BOM': (c) => (fs.writeFileSync(path.join(c.dir, 'k'), '\ufefftext'), path.join(c.dir, 'k')),
  'file without rights': (c) => (file(c.dir, 'locked'), fs.chmodSync(path.join(c.dir, 'locked'), 0o000), path.join(c.dir, 'locked')),
  'read-only file': (c) => (file(c.dir, 'locked'), fs.chmodSync(path.join(c.dir, 'locked'), 0o444), path.join(c.dir, 'locked')),
  'name not ASCII': (c) => path.join(c.dir, '\u00e4\u20ac\u{1f41f}'),
  'existing name not ASCII': (c) => file(c.dir, '\u00fcber \u65e5\u672c'),
  'lone surrogate in name': (c) => path.join(c.dir, 'a\ud800b'),
  'missing name not ASCII, missing parent': (c) => path.join(c.dir, '\u00e4/\u20ac'),
  'missing parent': (c) => path.join(c.dir, 'none', 'file'),
  'file as parent': (c) => path.join(file(c.dir), 'below'),
  directory: (c) => c.dir,
  'trailing slash': (c) => `${file(c.dir)}/`,
  'new with trailing slash': (c) => `${c.dir}/new/`,
  'doubled slashes and dots': (c) => `${c.dir}//./x/..//file`,
  symlink: (c) => (file(c.dir), fs.symlinkSync('file', path.join(c.dir, 'link')), path.join(c.dir, 'link')),
  'dangling symlink': (c) => (fs.symlinkSync('gone', path.join(c.dir, 'link')), path.join(c.dir, 'link')),
  'symlink loop': (c) => (fs.symlinkSync('link', path.join(c.dir, 'link')), path.join(c.dir, 'link')),
  'symlink to directory': (c) => (fs.symlinkSync('.', path.join(c.dir, 'link')), path.join(c.dir, 'link')),
  relative: (c) => (file(c.dir, 'relative'), 'relative'),
  'relative missing': () => './no/such',
  'empty string': () => '',
  dot: () => '.',
  'NUL in string': (c) => `${file(c.dir)}\0rest`,
  'only NUL': () => '\0',
  'quote in missing path': (c) => path.join(c.dir, "it's", '"x"\n'),
  'name of 255': (c) => path.join(c.dir, 'n'.repeat(255)),
  'name of 256': (c) => path.join(c.dir, 'n'.repeat(256)),
  'path of 4095': (c) => padded(c.dir, 4095),
  'path of 4096': (c) => padded(c.dir, 4096),
  'path of 4089': (c) => padded(c.dir, 4089),
  'path of 100000': (c) => padded(c.dir, 100_000),
  'wide path near the limit': (c) => `${c.dir}/${'./'.repeat(1000)}${'\u20ac'.repeat(80)}`,
  Buffer: (c) => Buffer.from(file(c.dir)),
  'Buffer, missing': (c) => Buffer.from(path.join(c.dir, 'none/file')),
  'Buffer, not UTF-8': (c) => Buffer.concat([Buffer.from(`${c.dir}/x`), Buffer.from([0xff, 0xfe])]),
  'Buffer, not UTF-8, missing': (c) => Buffer.concat([Buffer.from(`${c.dir}/none/x`), Buffer.from([0xff, 0xfe])]),
  'Buffer with NUL': (c) => Buffer.from(`${file(c.dir)}\0`),
  'Buffer, empty': () => Buffer.alloc(0),
  'Buffer, too long': (c) => Buffer.from(padded(c.dir, 5000)),
  Uint8Array: (c) => new Uint8Array(Buffer.from(file(c.dir))),
  'DataView as path': (c) => new DataView(new Uint8Array(Buffer.from(file(c.dir))).buffer),
  URL: (c) => pathToFileURL(file(c.dir)),
  'URL, escaped': (c) => pathToFileURL(file(c.dir, 'a b%\u00e9#?')),
  'URL, missing': (c) => pathToFileURL(path.join(c.dir, 'none/x')),
  'URL, escaped slash': (c) => new URL(`file://${c.dir}/a%2Fb`),
  'URL, NUL': (c) => new URL(`file://${c.dir}/a%00b`),
  'URL, host': () => new URL('file://host/x'),
  'URL, http': () => new URL('http://host/x'),
  'URL-like object': (c) => {
    const { href, protocol, hostname, pathname } = pathToFileURL(file(c.dir));
    return { href, protocol, hostname, pathname };
  },
  'fd r+': (c) => opened(c, file(c.dir), 'r+'),
  'fd r+ in the middle': (c) => opened(c, file(c.dir), 'r+', 5),
  'fd w': (c) => opened(c, path.join(c.dir, 'fd'), 'w'),
  'fd a+': (c) => opened(c, file(c.dir), 'a+'),
  'fd r': (c) => opened(c, file(c.dir), 'r'),
  'fd r at the end': (c) => opened(c, file(c.dir), 'r', CONTENT.length + 20),
  'fd of directory': (c) => opened(c, c.dir, 'r'),
  'fd of /dev/null': (c) => opened(c, '/dev/null', 'r+'),
  '/dev/null': () => '/dev/null',
  '/proc': () => '/proc/self/limits',
  'closed fd': () => 987_654,
  'fd -1': () => -1,
  'fd 1.5': () => 1.5,
  'fd NaN': () => NaN,
  'fd Infinity': () => Infinity,
  'fd 2 ** 31': () => 2 ** 31,
  'fd 2 ** 31 - 1': () => 2 ** 31 - 1,
  'fd 2 ** 32 + 1': () => 2 ** 32 + 1,
  'fd 10n': () => 10n,
  undefined: () => undefined,
  null: () => null,
  true: () => true,
  object: () => ({}),
  array: () => ['a'],
  'boxed string': (c) => new String(file(c.dir)),
  symbol: () => Symbol('path'),
  function: () => function path() {},
};

if (isWindows) {
  // Values that are no path there, or lead to a device of Unix.
  const unix = ['URL, escaped', 'fd of /dev/null', '/dev/null', '/proc', 'quote in missing path'];
  for (const name of unix) delete PATHS[name];
  console.log(`# skipped on Windows: ${unix.join(', ')}`);
  Object.assign(PATHS, {
    'slashes both ways': (c) => file(c.dir).replaceAll('\\', '/'),
    'without drive': (c) => file(c.dir).slice(2),
    'drive, relative': (c) => (file(c.dir), `${c.dir.slice(0, 2)}file`),
    'with prefix': (c) => `\\\\?\\${file(c.dir)}`,
    'with prefix, missing': (c) => `\\\\?\\${c.dir}\\none\\file`,
    'other case': (c) => file(c.dir).toUpperCase(),
    'long path': (c) => path.join(c.dir, ...Array(5).fill('n'.repeat(80)), 'file'),
    'long path, existing': (c) => {
      const dir = path.join(c.dir, ...Array(5).fill('n'.repeat(80)));
      fs.mkdirSync(dir, { recursive: true });
      return file(dir);
    },
    'long and relative': (c) => (file(c.dir), `${'x\\..\\'.repeat(60)}file`),
    'forbidden characters': (c) => path.join(c.dir, 'a<b>|?*'),
    'stream of a file': (c) => `${file(c.dir)}:stream`,
    'missing share': () => '\\\\localhost\\none\\file',
    'Buffer, long': (c) => Buffer.from(path.join(c.dir, ...Array(5).fill('n'.repeat(80)), 'file')),
  });
}

function padded(dir, length) {
  const tail = '/file';
  const room = length - dir.length - tail.length;
  return dir + '/.'.repeat(Math.floor(room / 2)) + '/'.repeat(room % 2) + tail;
}
