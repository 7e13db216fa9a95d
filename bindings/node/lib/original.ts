// The functions of node:fs as they were when smallfry was loaded. They do the calls that native
// code does not take.

import fs = require('node:fs');

/** The functions that have a native form. */
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
