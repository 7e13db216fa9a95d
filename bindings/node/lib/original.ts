// node:fs as it was when smallfry was loaded: what is not done natively is done by these, unchanged.

import fs = require('node:fs');

/** The functions that have a native form, as they were. */
export const original = {
  writeFileSync: fs.writeFileSync,
  appendFileSync: fs.appendFileSync,
  readFileSync: fs.readFileSync,
  mkdirSync: fs.mkdirSync,
  writeFile: fs.writeFile,
  appendFile: fs.appendFile,
  readFile: fs.readFile,
  promises: {
    writeFile: fs.promises.writeFile,
    appendFile: fs.promises.appendFile,
    readFile: fs.promises.readFile,
  },
};
