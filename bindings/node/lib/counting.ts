// The part that counts calls, in a file of its own.

export { start } from './counting/index.js';
