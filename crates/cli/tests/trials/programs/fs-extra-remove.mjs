// The remove of fs-extra, over a node_modules of 20,000 files. A file beside it must stay.

import fs from 'node:fs';

const SCRIPT = `\
import fs from 'fs-extra';

await fs.remove('out/tree');
`;

export default {
  make(directory, input) {
    input.copyTree(`${directory}/tree`);
    fs.writeFileSync(`${directory}/remove.mjs`, SCRIPT);
  },
  command: ['node', 'remove.mjs'],
  prepare: 'rm -rf out && mkdir out && cp -r tree out/tree && echo stays > out/beside.txt',
  outputs: ['out'],
};
