// Bundles lib/ into dist/: each entry of the package into one file, and the modules that the first
// calls load into a few more. Loading a second file would take half as long as all of `register`.
// Parsing 50 KB takes 1 ms.
// Usage: node scripts/bundle.mjs

import { rmSync } from 'node:fs';

import { build } from 'rolldown';

/** Files that `require` loads within a function. */
const LATER = /(?:^|[\\/])(?:bulk|core|counting|fs-promises)\.js$/;

function bundle(names, options) {
  return {
    input: Object.fromEntries(names.map((name) => [name, `lib/${name}.ts`])),
    platform: 'node',
    external: (id) => id.startsWith('node:') || LATER.test(id),
    preserveEntrySignatures: 'allow-extension',
    output: { dir: 'dist', format: 'cjs', sourcemap: true, comments: false, ...options },
  };
}

rmSync('dist', { recursive: true, force: true });
await build([
  ...['command', 'index', 'fs', 'fs-promises', 'register'].map((name) => bundle([name], { minify: true })),
  bundle(['core', 'bulk', 'counting', 'package-json/index'], {
    chunkFileNames: '[name].js',
    codeSplitting: { groups: [{ name: 'core', test: /[\\/]lib[\\/](?:core[\\/]|(?:core|original|shared)\.ts$)/ }] },
  }),
]);
