export * from 'node:fs';
import fs from '../dist/fs.js';

export const {
  appendFile, appendFileSync, promises, readFile, readFileSync, writeFile, writeFileSync,
} = fs;
export default fs;
