// Eleventy with pass-through copy: the read-me of each package in a node_modules as a page, and the
// icons of simple-icons copied as they are.

import fs from 'node:fs';

import { moveAway } from '../input.mjs';

const CONFIG = `\
export default (config) => {
  config.addPassthroughCopy('content/icons');
  return { dir: { input: 'content', includes: '_includes', output: '_site' }, markdownTemplateEngine: false };
};
`;
const LAYOUT = '<!doctype html>\n<title>{{ title }}</title>\n{{ content | safe }}\n<footer>{{ page.url }}</footer>\n';

export default {
  make(directory, input) {
    fs.mkdirSync(`${directory}/content/_includes`, { recursive: true });
    fs.writeFileSync(`${directory}/content/_includes/page.njk`, LAYOUT);
    fs.writeFileSync(`${directory}/eleventy.config.js`, CONFIG);
    fs.writeFileSync(`${directory}/package.json`, JSON.stringify({ name: 'site', type: 'module' }));
    for (const [name, text] of input.readmes()) {
      const page = `${directory}/content/packages/${name}.md`;
      fs.mkdirSync(page.slice(0, page.lastIndexOf('/')), { recursive: true });
      // A fixed date, instead of the time at which the file was made.
      fs.writeFileSync(page, `---\nlayout: page.njk\ntitle: "${name}"\ndate: 2024-02-29\n---\n${text}`);
    }
    input.copyIcons(`${directory}/content/icons`);
  },
  command: ['eleventy', '--quiet'],
  prepare: moveAway('_site'),
  outputs: ['_site'],
};
