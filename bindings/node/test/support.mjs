// Helpers of the tests: directories that go away, child processes, seeded chance, and skips that
// cannot pass unnoticed.

/* global setImmediate, setTimeout */

import assert from 'node:assert';
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

export const isWindows = process.platform === 'win32';

/** Directory of the package. */
export const packageDirectory = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

export const require = createRequire(import.meta.url);

/** The package's own functions, in the shape of node:fs. */
export const smallfry = require('../dist/fs.js');

/** The package itself, with the calls for many files. */
export const bulk = require('../dist/index.js');

/** The addon's own functions. */
export const { native } = require('../dist/core.js');

/** The package as it is where there is no native addon, loaded from a copy in `directory`. */
export function withoutAddon(directory) {
  const copy = path.join(directory, 'without-addon');
  fs.cpSync(path.join(packageDirectory, 'dist'), path.join(copy, 'dist'), { recursive: true });
  return require(path.join(copy, 'dist/index.js'));
}

/**
 * Makes the package one that is found from `directory` by its name. Windows wants a privilege for
 * links: there it is copied.
 */
export function installPackage(directory) {
  const place = path.join(directory, 'node_modules', 'smallfry');
  fs.mkdirSync(path.dirname(place), { recursive: true });
  if (!isWindows) {
    fs.symlinkSync(packageDirectory, place);
    return;
  }
  const { files } = require('../package.json');
  const published = fs.readdirSync(packageDirectory).filter((name) => files.includes(name) || name === 'package.json' || name.endsWith('.node'));
  for (const name of published) fs.cpSync(path.join(packageDirectory, name), path.join(place, name), { recursive: true });
}

export const major = Number.parseInt(process.versions.node, 10);

/** The command `smallfry`, where make has put it. */
const command = process.env.SMALLFRY_COMMAND ?? path.join(process.env.CARGO_TARGET_DIR || path.join(packageDirectory, '../../target'), 'release/smallfry');

/** Puts a directory behind a simulated disk; answers the directory and how to stop that. */
export async function startSlowDisk(profile, options = []) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'smallfry-slow-'));
  const before = fs.statSync(directory).dev;
  const child = spawn(command, ['slow', profile, directory, ...options], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('close', resolve));
  while (fs.statSync(directory).dev === before && child.exitCode === null) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  if (child.exitCode !== null) throw new Error(`smallfry slow ended with ${child.exitCode}`);
  const stop = async () => {
    child.kill('SIGINT');
    await ended;
    fs.rmSync(directory, { recursive: true, force: true });
  };
  return { directory, stop };
}

/** True if a missing tool is a failure instead of a skip. */
const strict = process.env.CI === 'true';

/** A fresh directory, removed when the test file ends. */
export function makeDirectory() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'smallfry-test-'));
  // Wine keeps the name of a removed file until the last process has closed it.
  after(() => fs.rmSync(directory, { recursive: true, force: true, maxRetries: isWindows ? 10 : 3 }));
  return directory;
}

/** The number of links in the small tree. Windows wants a privilege for links. */
export const LINKS = isWindows ? 0 : 1;

/** Makes a small tree: files in two directories, two names of one file, and perhaps a link to it. */
export function makeSmallTree(at) {
  fs.mkdirSync(path.join(at, 'sub'), { recursive: true });
  fs.writeFileSync(path.join(at, 'a'), 'text a');
  fs.linkSync(path.join(at, 'a'), path.join(at, 'sub/b'));
  if (LINKS === 1) fs.symlinkSync('sub/b', path.join(at, 'link'));
}

/** A test of what only Unix has: skipped by name elsewhere. */
export function testOnUnix(what, name, ...optionsAndBody) {
  return isWindows ? test(name, { skip: `Windows has no ${what}` }, () => {}) : test(name, ...optionsAndBody);
}

/** A test of what only Windows has; elsewhere there is nothing to skip. */
export const testOnWindows = isWindows ? test : () => undefined;

/**
 * A test that needs something of the machine: skipped by name without it, failed where CI is true.
 * All of these are things of Unix.
 */
export function testNeeding(need, name, ...optionsAndBody) {
  if (isWindows) return test(name, { skip: `not on Windows: ${need.missing}` }, () => {});
  if (need.there) return test(name, ...optionsAndBody);
  if (!strict) return test(name, { skip: need.missing }, () => {});
  return test(name, () => {
    throw new Error(need.missing);
  });
}

function runs(command, ...args) {
  const { status } = spawnSync(command, args, { stdio: 'ignore' });
  return status === 0;
}

export const needs = {
  get strace() {
    return { there: runs('strace', '-o', '/dev/null', 'true'), missing: 'strace is missing or may not trace' };
  },
  get mkfifo() {
    return { there: runs('mkfifo', '--version'), missing: 'mkfifo is missing' };
  },
  get mount() {
    return {
      there: process.platform === 'linux' && process.getuid() === 0 && canMount(),
      missing: 'mounting a small tmpfs needs root',
    };
  },
  get proc() {
    return { there: fs.existsSync('/proc/self/fd'), missing: '/proc is missing' };
  },
  get slowDisk() {
    return {
      there: process.platform === 'linux' && process.getuid() === 0 && fs.existsSync('/dev/fuse') && fs.existsSync(command),
      missing: 'a simulated disk needs Linux, root, /dev/fuse and the command smallfry',
    };
  },
  get devFull() {
    return { there: fs.existsSync('/dev/full'), missing: '/dev/full is missing' };
  },
};

/** A program that is needed. */
export const program = (name) => ({ get there() { return spawnSync(name, ['--help']).error === undefined; }, missing: `${name} is missing` });

/** Runs a program, and returns its standard output. */
export function runProgram(command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  assert.strictEqual(status, 0, stderr);
  return stdout;
}

function canMount() {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'smallfry-mount-'));
  const mounted = runs('mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', directory);
  if (mounted) runs('umount', directory);
  fs.rmdirSync(directory);
  return mounted;
}

/** Numbers from a seed (mulberry32): `next()` in [0, 1), `below(n)`, `pick(list)`. */
export function chance(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const below = (n) => Math.floor(next() * n);
  return { next, below, pick: (list) => list[below(list.length)] };
}

/** The seed of this run: from SMALLFRY_TEST_SEED, or fixed, so that a failure comes back. */
export const seed = Number(process.env.SMALLFRY_TEST_SEED ?? 20240229);

/**
 * Starts a process. On Windows it tries once more if that fails for a reason that Node does not
 * know: Wine sometimes cannot create a process while other processes start.
 */
function startProcess(...call) {
  try {
    return spawn(...call);
  } catch (error) {
    if (!isWindows || error.code !== 'UNKNOWN') throw error;
    return spawn(...call);
  }
}

/**
 * Runs this Node on a file or arguments; answers `{ code, signal, stdout, stderr }` when it has
 * ended. With `closesStderr` its standard error is not read.
 */
export function runNode(args, { cwd, env = {}, input, command = process.execPath, closesStderr = false } = {}) {
  return new Promise((resolve, reject) => {
    const inherited = { ...process.env };
    // A test runner above must not be reported to by the child, nor give it options.
    delete inherited.NODE_TEST_CONTEXT;
    delete inherited.NODE_OPTIONS;
    delete inherited.NODE_V8_COVERAGE;
    const child = startProcess(command, args, { cwd, env: { ...inherited, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    if (closesStderr) child.stderr.destroy();
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

let scripts = 0;

/**
 * Runs `source` as a CommonJS script that finds the package in `smallfry` (as node:fs) and `bulk`,
 * and its own `directory`.
 */
export function runScript(directory, source, options = {}) {
  const file = path.join(directory, `script-${scripts++}.cjs`);
  const head =
    `'use strict';const smallfry = require(${JSON.stringify(path.join(packageDirectory, 'dist/fs.js'))});` +
    `const bulk = require(${JSON.stringify(path.join(packageDirectory, 'dist/index.js'))});` +
    `const fs = require('node:fs'), path = require('node:path'), directory = ${JSON.stringify(directory)};\n`;
  fs.writeFileSync(file, head + source);
  return runNode([...(options.flags ?? []), file, ...(options.args ?? [])], options);
}

/** Returns the number of open descriptors; 0 where the system does not tell. */
export const openDescriptors = () => (fs.existsSync('/proc/self/fd') && !isWindows ? fs.readdirSync('/proc/self/fd').length : 0);

/** Waits for one turn of the event loop. */
export const turn = () => new Promise((resolve) => setImmediate(resolve));
