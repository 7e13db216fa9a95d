export * from 'node:fs/promises';
import promises from 'node:fs/promises';
export default promises;
