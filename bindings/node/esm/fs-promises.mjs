export * from 'node:fs/promises';
import promises from '../dist/fs-promises.js';

export const {
  access, appendFile, chmod, cp, lstat, mkdir, readdir, readFile, readlink, rm, stat, utimes, writeFile,
} = promises;
export default promises;
