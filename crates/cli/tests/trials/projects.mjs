// Makes the projects that the trials build. The same number of files always gives the same bytes.
//
// To the tool that builds it, each looks like a real project: modules in directories that import a
// few others, or pages with front matter and a layout. The entries are like those of `programs/`.

import fs from 'node:fs';
import path from 'node:path';

import { moveAway } from './input.mjs';

export const PROJECTS = {
  tsc: { make: (directory, input) => makeTypeScript(directory, input.count(1500)), command: ['tsc', '--project', '.'], prepare: moveAway('dist'), outputs: ['dist'] },
  eslint: { make: (directory, input) => makeEslint(directory, input.count(1500)), command: ['eslint', '--format', 'json', '--output-file', 'out/report.json', 'src'], prepare: moveAway('out'), outputs: ['out'] },
  prettier: { make: (directory, input) => makePrettier(directory, input.count(1500)), command: ['prettier', '--write', '--log-level', 'warn', 'src'], prepare: `${moveAway('src')} && cp -r unformatted src`, outputs: ['src'] },
  vite: { make: (directory, input) => makeVite(directory, input.count(1000)), command: ['vite', 'build', '--logLevel', 'warn'], prepare: moveAway('dist'), outputs: ['dist'] },
  eleventy: { make: (directory, input) => makeEleventy(directory, input.count(2000)), command: ['eleventy', '--quiet'], prepare: moveAway('_site'), outputs: ['_site'] },
};

/** Returns a random generator with this seed (mulberry32). `below(n)` draws a number below n. */
function chance(seed) {
  let state = seed >>> 0;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * n);
  };
}

const WORDS = 'smelt herring anchovy sprat minnow sardine whitebait café naïve größer 魚 рыба of the in a with under river shoal net'.split(' ');
const PER_DIRECTORY = 50;

const sentence = (below, words) => Array.from({ length: words }, () => WORDS[below(WORDS.length)]).join(' ');
const moduleName = (index) => `part${Math.floor(index / PER_DIRECTORY)}/module${index}`;

function put(directory, name, text) {
  const file = path.join(directory, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, typeof text === 'string' ? text : JSON.stringify(text, null, 2));
}

/** Earlier modules that module `index` imports. */
function imported(index, below) {
  const count = Math.min(index, 1 + below(3));
  return [...new Set(Array.from({ length: count }, () => below(index)))];
}

const importFrom = (from, index, ending) => {
  const relative = path.posix.relative(path.posix.dirname(moduleName(from)), moduleName(index));
  return `${relative.startsWith('.') ? '' : './'}${relative}${ending}`;
};

function makeTypeScript(directory, files) {
  const below = chance(1);
  put(directory, 'package.json', { name: 'typescript-project', type: 'module' });
  put(directory, 'tsconfig.json', {
    compilerOptions: { target: 'es2022', module: 'nodenext', outDir: 'dist', rootDir: 'src', strict: true, declaration: true, sourceMap: true, types: [] },
    include: ['src'],
  });
  for (let index = 0; index < files; index += 1) {
    const others = imported(index, below);
    const lines = others.map((other) => `import { type Shape${other}, size${other} } from '${importFrom(index, other, '.js')}';`);
    lines.push('', `/** ${sentence(below, 12)} */`, `export interface Shape${index} {`);
    for (let field = 0; field < 6; field += 1) lines.push(`  field${field}: ${['string', 'number', 'boolean[]', 'Map<string, number>'][below(4)]};`);
    lines.push(...others.map((other) => `  inner${other}?: Shape${other};`), '}', '');
    lines.push(`export function size${index}(shape: Partial<Shape${index}>): number {`, `  const text = ${JSON.stringify(sentence(below, 8))};`);
    lines.push(...others.map((other) => `  if (shape.inner${other} !== undefined) return size${other}(shape.inner${other});`));
    lines.push('  return text.length + Object.keys(shape).length;', '}', '');
    put(directory, `src/${moduleName(index)}.ts`, lines.join('\n'));
  }
}

function javaScript(index, below, spaced) {
  const others = imported(index, below);
  const [open, gap] = spaced ? ['{ ', '  '] : ['{', '\t\t '];
  const lines = others.map((other) => `import ${open}value${other}${spaced ? ' ' : ''}} from '${importFrom(index, other, '.js')}';`);
  lines.push('', `// ${sentence(below, 10)}`, `export function value${index}(depth) {`, `${gap}const words = ${JSON.stringify(sentence(below, 15).split(' '))};`);
  lines.push(`${gap}if (depth <= 0) return words.length;`, `${gap}let sum = ${below(1000)};`);
  for (const other of others) lines.push(`${gap}sum += value${other}(depth - 1) * ${1 + below(9)};`);
  lines.push(`${gap}return sum${spaced ? '' : ' +   words.map((word)=>word.length)\n.reduce((a,b)=>{ return a+b },0)'};`, '}', '');
  return lines.join('\n');
}

function makeEslint(directory, files) {
  const below = chance(2);
  put(directory, 'package.json', { name: 'eslint-project', type: 'module' });
  put(directory, 'eslint.config.mjs', "export default [{ rules: { 'no-undef': 'error', 'no-unused-vars': 'warn', 'prefer-const': 'warn', eqeqeq: 'error', 'no-shadow': 'warn' } }];\n");
  for (let index = 0; index < files; index += 1) put(directory, `src/${moduleName(index)}.js`, javaScript(index, below, true));
}

function makePrettier(directory, files) {
  const below = chance(3);
  put(directory, 'package.json', { name: 'prettier-project', type: 'module' });
  for (let index = 0; index < files; index += 1) put(directory, `unformatted/${moduleName(index)}.js`, javaScript(index, below, false));
}

function makeVite(directory, files) {
  const below = chance(4);
  put(directory, 'package.json', { name: 'vite-project', type: 'module' });
  put(directory, 'index.html', '<!doctype html><title>fish</title><script type="module" src="/src/main.js"></script>\n');
  for (let index = 0; index < files; index += 1) {
    const style = index % 10 === 0 ? `import './module${index}.css';\n` : '';
    if (style) put(directory, `src/${moduleName(index)}.css`, `.shape${index} { color: #${(index % 4096).toString(16).padStart(3, '0')}; }\n`);
    put(directory, `src/${moduleName(index)}.js`, style + javaScript(index, below, true));
  }
  const all = Array.from({ length: files }, (_, index) => index);
  put(directory, 'src/main.js', [
    ...all.map((index) => `import { value${index} } from './${moduleName(index)}.js';`),
    `console.log([${all.map((index) => `value${index}(1)`).join(', ')}]);`, '',
  ].join('\n'));
}

function makeEleventy(directory, files) {
  const below = chance(5);
  put(directory, 'package.json', { name: 'eleventy-project', type: 'module' });
  put(directory, 'eleventy.config.js', "export default () => ({ dir: { input: 'content', includes: '_includes', output: '_site' } });\n");
  put(directory, 'content/_includes/page.njk', '<!doctype html>\n<title>{{ title }}</title>\n<h1>{{ title }}</h1>\n{{ content | safe }}\n<footer>{{ page.url }}</footer>\n');
  for (let index = 0; index < files; index += 1) {
    const paragraphs = Array.from({ length: 4 + below(8) }, () => `${sentence(below, 20 + below(60))}.`);
    const front = ['---', 'layout: page.njk', `title: Page ${index}`, `tags: [kind${index % 7}]`, 'date: 2024-02-29', '---'];
    put(directory, `content/posts/${Math.floor(index / PER_DIRECTORY)}/page-${index}.md`, [...front, '', `## ${sentence(below, 4)}`, '', paragraphs.join('\n\n'), ''].join('\n'));
  }
}
