// svgo over the icons of simple-icons. `--quiet`, because it prints sizes in the order in which
// files become ready.

import { moveAway } from '../input.mjs';

export default {
  make(directory, input) {
    input.copyIcons(`${directory}/icons`);
  },
  command: ['svgo', '--quiet', '--folder', 'icons', '--output', 'out'],
  prepare: moveAway('out'),
  outputs: ['out'],
};
