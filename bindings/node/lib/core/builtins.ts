// Modules of Node that few calls need. Loading each of them takes 0.1 to 0.3 ms.

/* eslint-disable @typescript-eslint/no-require-imports -- only when they are needed */
export const os = () => require('node:os') as typeof import('node:os');
export const url = () => require('node:url') as typeof import('node:url');
export const util = () => require('node:util') as typeof import('node:util');
