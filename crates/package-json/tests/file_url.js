// Reads questions from standard input, each `[function, url or path, windows]` as a line of JSON,
// and prints the answers of those functions of `node:url`.

'use strict';

const { readFileSync } = require('node:fs');
const path = require('node:path');
const url = require('node:url');

for (const line of readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const [name, text, windows] = JSON.parse(line);
  // `pathToFileURL` compares the end of a path with `path.sep`, even if `windows` asks for the
  // other system's rules.
  path.sep = windows ? '\\' : '/';
  let answer;
  try {
    answer = { text: String(url[name](text, { windows })) };
  } catch (error) {
    answer = { class: error.name, code: error.code ?? null, message: error.message };
  }
  console.log(JSON.stringify(answer));
}
