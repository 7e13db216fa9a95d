export * from 'node:fs';
import fs from 'node:fs';
export default fs;
