// A build of many small pages, to try smallfry on: `node scripts/pages.mjs make|build DIRECTORY`.
// `make` writes 5,000 pages into DIRECTORY/pages, `build` reads them and writes as many into
// DIRECTORY/out, all at once under Promise.all.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';

const PAGES = 5000;

const [what, directory] = process.argv.slice(2);
if (!['make', 'build'].includes(what) || directory === undefined) {
  console.error('usage: node scripts/pages.mjs make|build DIRECTORY');
  process.exit(2);
}
const [from, to] = ['pages', 'out'].map((name) => join(directory, name));

if (what === 'make') {
  await mkdir(from, { recursive: true });
  const text = (page) => `# Page ${page}\n\n${'A line of text, as pages have many.\n'.repeat(20 + (page % 40))}`;
  await Promise.all(Array.from({ length: PAGES }, (_, page) => writeFile(join(from, `${page}.md`), text(page))));
} else {
  await mkdir(to, { recursive: true });
  const page = async (name) => {
    const text = await readFile(join(from, name), 'utf8');
    await writeFile(join(to, name.replace('.md', '.html')), `<pre>${text}</pre>`);
  };
  await Promise.all((await readdir(from)).map(page));
}
