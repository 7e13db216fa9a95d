// The site: `make docs` builds it from the pages of this directory.

import { defineConfig } from 'vitepress';

const pages = (base, ...items) => items.map(([text, page]) => ({ text, link: `${base}${page}` }));

// Made beside the pages by scripts/references.sh.
const references = [['Rust', 'rust/smallfry'], ['Node.js', 'node'], ['Kotlin and Java', 'jvm']].map(([text, place]) => (
  { text, link: `/api/${place}/index.html`, target: '_self' }
));

export default defineConfig({
  title: 'smallfry',
  description: 'Lots of small files, fast and safely: for Rust, Node.js and the JVM',
  // The directory of the site on its server.
  base: process.env.DOCS_BASE ?? '/',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${process.env.DOCS_BASE ?? '/'}favicon.svg` }]],
  cleanUrls: false,
  themeConfig: {
    search: { provider: 'local' },
    nav: [
      { text: 'Does it help me?', link: '/guide/does-it-help' },
      { text: 'Results', link: '/results/README' },
      { text: 'References', items: references },
    ],
    sidebar: [
      { text: 'Guides', items: pages('/guide/', ['Does it help me?', 'does-it-help'], ['Node.js', 'node'], ['Rust', 'rust'], ['Kotlin and Java', 'jvm'], ['The command', 'command']) },
      { text: 'The command', items: pages('/', ['try', 'try'], ['bench', 'bench'], ['Reports', 'reports'], ['slow', 'slow'], ['scope', 'scope']) },
      { text: 'What holds', items: pages('/', ['Durability', 'durability'], ['Is it a module?', 'package-json'], ['A tree’s digest', 'tree-digest'], ['Testing', 'testing']) },
      {
        text: 'Results',
        collapsed: true,
        items: [
          ...pages('/results/', ['Where it stands', 'README'], ['References', 'references']),
          ...pages('/results/', ...['build', 'read-many', 'promise-all', 'one-call', 'calls', 'write-many', 'write-string', 'scale', 'close', 'fsync', 'fsync-many', 'package-scope', 'jvm', 'start', 'trees', 'archives', 'try'].map((name) => [name, name])),
        ],
      },
      { text: 'How it works', items: pages('/', ['Design', 'design'], ['Auto', 'auto'], ['Transcoding', 'transcoding'], ['Experiments', 'experiments'], ['Releasing', 'releasing']) },
    ],
    outline: [2, 3],
  },
});
