// Guards against: bytes in the file that are not the UTF-8 form of the string.
//
// Why it was possible: strings reach native code in different ways on each Node version (read in
// place, copied as one byte or two a character, handed over in pieces), are converted in pieces
// that fit a processor's cache, and a piece may end between the halves of a surrogate pair. An
// error shows only where a length or a character meets such an edge, and only for strings that the
// engine keeps in a certain form.

import assert from 'node:assert';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { chance, makeDirectory, runNode, seed, smallfry } from './support.mjs';

const directory = makeDirectory();
const file = path.join(directory, 'text');
const file2 = path.join(directory, 'more');

function expectBytes(made, expected, what) {
  if (Buffer.compare(made, expected) === 0) return;
  let at = 0;
  while (at < made.length && made[at] === expected[at]) at += 1;
  assert.fail(
    `${what}: ${made.length} bytes instead of ${expected.length}, different from ${at} on: ` +
      `${made.subarray(at, at + 8).toString('hex')} instead of ${expected.subarray(at, at + 8).toString('hex')}`,
  );
}

/** `make` gives the string anew, since Buffer.from may change how it is kept. */
function check(make, what) {
  smallfry.writeFileSync(file, make());
  expectBytes(fs.readFileSync(file), Buffer.from(make()), what);
}

async function checkLater(make, what) {
  await smallfry.promises.writeFile(file, make());
  expectBytes(fs.readFileSync(file), Buffer.from(make()), what);
}

const LONE_HIGH = '\ud83d';
const LONE_LOW = '\udc1f';
const PAIR = LONE_HIGH + LONE_LOW;

test('each kind of text of 0 to 300 characters is written as by node:fs', () => {
  const kinds = {
    ascii: (n) => 'abcdefg'.repeat(50).slice(0, n),
    latin1: (n) => '\u00e9\u00ff\u0080\u007f'.repeat(80).slice(0, n),
    'one é among ascii': (n) => `${'a'.repeat(n >> 1)}\u00e9${'b'.repeat(n)}`.slice(0, n),
    'two bytes a character': (n) => '\u20ac\u0416a\u00df'.repeat(80).slice(0, n),
    'surrogate pairs, cut': (n) => PAIR.repeat(151).slice(0, n),
    'low surrogates': (n) => LONE_LOW.repeat(n),
    'high surrogates': (n) => LONE_HIGH.repeat(n),
    'one wide at the end': (n) => `${'c'.repeat(n)}\u20ac`,
    'one wide at the start': (n) => `\u20ac${'c'.repeat(n)}`,
  };
  for (const [kind, make] of Object.entries(kinds)) {
    for (let length = 0; length <= 300; length += 1) check(() => make(length), `${kind}, ${length}`);
  }
});

test('every code point is written as by node:fs, alone and among others', () => {
  let all = '';
  for (let unit = 0; unit < 0x10000; unit += 1) all += String.fromCharCode(unit);
  check(() => all, 'all UTF-16 units in order');
  check(() => [...all].reverse().join(''), 'all UTF-16 units backwards');
  let points = '';
  for (let point = 0x10000; point < 0x110000; point += 61) points += String.fromCodePoint(point);
  check(() => points, 'code points beyond the first plane');
  for (const edge of [0x7f, 0x80, 0xff, 0x100, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xfeff, 0xfffe, 0xffff]) {
    check(() => String.fromCharCode(edge), `U+${edge.toString(16)} alone`);
    check(() => `ab${String.fromCharCode(edge)}cd`, `U+${edge.toString(16)} among others`);
  }
});

test('é is written right at every position and around the edges of vectors', () => {
  for (const length of [8, 16, 31, 32, 33, 64, 65, 128]) {
    for (let position = 0; position < length; position += 1) {
      check(() => `${'a'.repeat(position)}\u00e9${'b'.repeat(length - position - 1)}`, `é at ${position} of ${length}`);
      check(() => `${'a'.repeat(position)}\u20ac${'b'.repeat(length - position - 1)}`, `€ at ${position} of ${length}`);
    }
  }
});

test('each kind of text is written right around the powers of two up to 4 Mi', () => {
  for (let exponent = 9; exponent <= 22; exponent += 1) {
    for (const delta of exponent > 20 ? [-1, 0, 1] : [-2, -1, 0, 1, 2]) {
      const length = 2 ** exponent + delta;
      check(() => 'x'.repeat(length), `ascii, ${length}`);
      check(() => `${'x'.repeat(length - 1)}\u00e9`, `é last, ${length}`);
      check(() => `\u00e9${'x'.repeat(length - 1)}`, `é first, ${length}`);
      check(() => '\u00e9a'.repeat(length).slice(0, length), `latin1, ${length}`);
      check(() => '\u20acb\u00e9'.repeat(length).slice(0, length), `wide, ${length}`);
    }
  }
});

// Lengths at which a conversion or a native call may cut a string.
const EDGES = [];
for (const edge of [4096, 8192, 16384, 21845, 32768, 65536, 131072, 3 * 65536, 262144, 524288, 1 << 20, 2 << 20, 3 << 20]) {
  EDGES.push(edge);
}

test('a surrogate pair is kept whole where a piece may end', () => {
  for (const edge of EDGES) {
    for (let shift = -4; shift <= 4; shift += 1) {
      const before = edge + shift;
      const text = (middle) => `\u20ac${'y'.repeat(before - 1)}${middle}${'z'.repeat(70)}`;
      check(() => text(PAIR), `pair at ${before}`);
      if (edge <= 131072 || shift % 2 === 0) {
        check(() => text(LONE_HIGH), `high surrogate at ${before}`);
        check(() => text(LONE_LOW), `low surrogate at ${before}`);
        check(() => text(LONE_LOW + LONE_HIGH), `swapped surrogates at ${before}`);
        check(() => text(LONE_HIGH + PAIR), `high surrogate and pair at ${before}`);
      }
    }
  }
});

test('long strings of surrogate pairs or lone surrogates are written right', () => {
  for (const length of [65_536, 65_537, 1_048_575, 1_048_576, 1_048_577, 2_097_153, 3_000_001]) {
    check(() => PAIR.repeat(length / 2 + 1).slice(0, length), `pairs, ${length}`);
    check(() => PAIR.repeat(length / 2 + 2).slice(1, length + 1), `pairs from the middle of one, ${length}`);
    check(() => LONE_HIGH.repeat(length), `high surrogates, ${length}`);
    check(() => LONE_LOW.repeat(length), `low surrogates, ${length}`);
    check(() => '\u65e5'.repeat(length), `three bytes a character, ${length}`);
  }
});

test('ropes, slices and external strings are written right', () => {
  const narrow = 'abcdefg\u00e9'.repeat(300_000);
  const wide = 'abc\u20acdef'.repeat(300_000);
  const rope = (piece, count) => {
    let text = '';
    for (let index = 0; index < count; index += 1) text += piece + index;
    return text;
  };
  const left = (count) => {
    let text = '';
    for (let index = 0; index < count; index += 1) text = `${index}\u00e9${text}`;
    return text;
  };
  check(() => rope('na\u00efve ', 5), 'short rope');
  check(() => rope('plain ', 200_000), 'long rope');
  check(() => rope('\u20ac wide ', 100_000), 'long wide rope');
  check(() => left(50_000), 'rope that grows to the left');
  check(() => rope('x', 10) + wide.slice(5, 400) + rope('\u00e9', 10), 'rope of mixed widths');
  for (const [name, text] of [['narrow', narrow], ['wide', wide]]) {
    for (const [start, end] of [[0, 13], [1, 14], [7, 1000], [3, 70_000], [1, 1_048_578], [5, text.length], [2, text.length - 3]]) {
      check(() => text.slice(start, end), `${name} slice ${start}..${end}`);
      check(() => text.slice(start, end) + text.slice(start, end), `${name} slices joined ${start}..${end}`);
    }
  }
  check(() => `\u20ac${'narrow part '.repeat(4000)}`.slice(1), 'narrow part of a wide string');
  for (const size of [1_031_912, 1_031_914, 1_500_000, 3_200_001]) {
    check(() => Buffer.alloc(size, 'outside \u00e9', 'latin1').toString('latin1'), `external one-byte, ${size}`);
    check(() => Buffer.alloc(size, 'plain ').toString('latin1'), `external ascii, ${size}`);
    check(() => Buffer.alloc(size & ~1, 'p\u20ac', 'utf16le').toString('utf16le'), `external two-byte, ${size}`);
    check(() => Buffer.alloc(size, 'outside').toString('latin1').slice(100, -7), `slice of external, ${size}`);
    check(() => `${Buffer.alloc(size, 'outside').toString('latin1')}\u20ac`, `rope over external, ${size}`);
  }
  // Strings that smallfry has read may be kept outside the heap.
  fs.writeFileSync(file2, 'plain text read by smallfry '.repeat(9000));
  check(() => smallfry.readFileSync(file2, 'utf8'), 'string read by smallfry');
  check(() => smallfry.readFileSync(file2, 'utf8').slice(3, 5000), 'slice of a string read by smallfry');
  check(() => JSON.parse('"internal\\u00e9"'), 'internalised string');
  check(() => String(Symbol.iterator.description), 'string of the engine');
  check(() => Object.keys({ ['key\u20ac']: 1 })[0], 'name of a property');
});

test('random strings are written right by path and by descriptor, blocking or not', async () => {
  const random = chance(seed);
  const alphabets = ['abc \n', 'abc\u00e9\u00ff', 'a\u20ac\u0416', `a${PAIR}`, `${PAIR}${LONE_LOW}a`];
  const draw = () => {
    const parts = [];
    for (let count = 1 + random.below(5); count > 0; count -= 1) {
      const alphabet = random.pick(alphabets);
      const length = random.next() < 0.9 ? random.below(3000) : random.below(300_000);
      const start = random.below(alphabet.length);
      parts.push(alphabet.repeat(length / alphabet.length + 2).slice(start, start + length));
    }
    return parts;
  };
  for (let round = 0; round < 150; round += 1) {
    const parts = draw();
    check(() => parts.join(''), `seed ${seed}, round ${round}`);
    await checkLater(() => parts.join(''), `seed ${seed}, round ${round}, later`);
    const fd = fs.openSync(file2, 'w');
    for (const part of parts) smallfry.writeFileSync(fd, part, 'utf8');
    smallfry.appendFileSync(fd, parts[0], { encoding: 'utf-8' });
    fs.closeSync(fd);
    const expected = Buffer.concat([...parts, parts[0]].map((part) => Buffer.from(part)));
    expectBytes(fs.readFileSync(file2), expected, `seed ${seed}, round ${round}, descriptor`);
  }
});

test('calls that finish later write lone surrogates, ropes and long strings right', async () => {
  for (const length of [1_048_575, 1_048_576, 1_048_577, 2_097_152]) {
    await checkLater(() => `\u20ac${'y'.repeat(length - 2)}${PAIR}z`, `pair at the edge, ${length}`);
    await checkLater(() => 'y'.repeat(length), `ascii, ${length}`);
    await checkLater(() => '\u00e9'.repeat(length), `latin1, ${length}`);
    await checkLater(() => LONE_LOW.repeat(length), `low surrogates, ${length}`);
  }
});

// The variable is simdutf's own.
if (process.env.SIMDUTF_FORCE_IMPLEMENTATION === undefined && process.arch === 'x64') {
  test('strings are written right by the code for processors without AVX-512', async () => {
    const { code, stdout } = await runNode(['--test', fileURLToPath(import.meta.url)], { env: { SIMDUTF_FORCE_IMPLEMENTATION: 'haswell' } });
    assert.strictEqual(code, 0, stdout);
  });
}
