export * from 'node:fs';
import fs from '../dist/fs.js';

export const {
  appendFile, appendFileSync, cp, cpSync, promises, readdir, readdirSync, readFile, readFileSync, realpath, rm, rmSync, writeFile,
  writeFileSync,
} = fs;
export default fs;
