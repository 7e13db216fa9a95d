// A generator of static pages: Markdown in, HTML out.
// Usage: node build.mjs CONTENT SITE
//
// Each page is one file of CONTENT in SITE, and index.html lists them. A page that comes out as it
// was is left alone, so its time stays, and servers and mirrors have nothing to do.

import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { readTree, writeFiles } from 'smallfry';

const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Turns the headings, list items and paragraphs of Markdown into HTML: enough for an example. */
export function render(markdown) {
  const [, title = 'Untitled'] = /^# (.*)$/m.exec(markdown) ?? [];
  const blocks = markdown.split(/\n{2,}/).map((block) => block.trim()).filter(Boolean);
  const body = blocks.map((block) => {
    const [, level, heading] = /^(#{1,6}) (.*)$/.exec(block) ?? [];
    if (level) return `<h${level.length}>${escape(heading)}</h${level.length}>`;
    if (block.startsWith('- ')) return `<ul>${block.split('\n').map((line) => `<li>${escape(line.slice(2))}</li>`).join('')}</ul>`;
    return `<p>${escape(block)}</p>`;
  });
  return { title, html: `<!doctype html><meta charset="utf-8"><title>${escape(title)}</title>\n${body.join('\n')}\n` };
}

/** Builds the whole site. Returns how many pages there are, and how many files were written. */
export async function build(content, site) {
  const sources = await readTree(content, { match: '**/*.md', encoding: 'utf8' });
  const pages = sources.map(({ path: source, contents }) => ({
    name: path.relative(content, source).replaceAll(path.sep, '/').replace(/\.md$/, '.html'),
    ...render(contents),
  }));
  pages.sort((a, b) => (a.name < b.name ? -1 : 1));
  const links = pages.map(({ name, title }) => `<li><a href="${name}">${escape(title)}</a></li>`);
  const files = new Map(pages.map(({ name, html }) => [path.join(site, name), html]));
  files.set(path.join(site, 'index.html'), `<!doctype html><meta charset="utf-8"><title>All pages</title>\n<ul>\n${links.join('\n')}\n</ul>\n`);
  // With `replace`, a reader meets a page as it was or as it is. With `full`, all of them survive a
  // power failure once the call is done, for the price of a few flushes.
  const { written } = await writeFiles(files, { createParents: true, onlyIfChanged: true, durability: 'full', replace: true });
  return { pages: pages.length, written };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [content, site] = process.argv.slice(2);
  if (site === undefined) {
    console.error('usage: node build.mjs CONTENT SITE');
    process.exit(2);
  }
  const { pages, written } = await build(content, site);
  console.log(`${pages} pages, ${written} files written`);
}
