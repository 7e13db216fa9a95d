export * from 'node:fs/promises';
import promises from '../dist/fs-promises.js';
export const appendFile: typeof promises.appendFile;
export const readFile: typeof promises.readFile;
export const writeFile: typeof promises.writeFile;
export default promises;
