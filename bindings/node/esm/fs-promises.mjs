export * from 'node:fs/promises';
import promises from '../dist/fs-promises.js';

export const { appendFile, readFile, writeFile } = promises;
export default promises;
