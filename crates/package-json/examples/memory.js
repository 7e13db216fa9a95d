// The comparison in JavaScript: bytes of heap for each package.json whose parsed object is kept in
// a Map by its path.
//
// node --expose-gc crates/package-json/examples/memory.js node_modules

'use strict';

const fs = require('node:fs');
const path = require('node:path');

const root = fs.realpathSync(process.argv[2]);
const files = fs.readdirSync(root, { recursive: true }).filter((name) => path.basename(name) === 'package.json').map((name) => path.join(root, name));
const texts = files.map((file) => fs.readFileSync(file, 'utf8'));
const held = () => {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
};

const before = held();
const parsed = new Map(files.map((file, index) => [file, JSON.parse(texts[index])]));
console.log(`${parsed.size} packages: ${Math.round((held() - before) / parsed.size)} bytes each for what JSON.parse gives`);
