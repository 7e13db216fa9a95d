#!/usr/bin/env node
// Runs the command smallfry, which is in the package of this system.

'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');
const path = require('node:path');

/** Returns the names that the package of this system may have. */
function packages() {
  const system = `smallfry-${process.platform}-${process.arch}`;
  if (process.platform === 'linux') return [`${system}-gnu`, `${system}-musl`];
  return [process.platform === 'win32' ? `${system}-msvc` : system];
}

function findCommand() {
  const name = process.platform === 'win32' ? 'smallfry.exe' : 'smallfry';
  for (const each of packages()) {
    try {
      return path.join(path.dirname(require.resolve(`${each}/package.json`)), name);
    } catch {
      // That of the other C library may be there.
    }
  }
  return undefined;
}

function fail(reason) {
  console.error(`smallfry: ${reason}`);
  process.exitCode = 1;
}

const command = findCommand();
if (command === undefined) {
  fail(`the package ${packages().join(' or ')} is not installed: optional dependencies may have been left out, or there is none for this system`);
} else {
  // `try` and `bench` measure this package.
  const env = { SMALLFRY_NODE_PACKAGE: path.dirname(__dirname), ...process.env };
  const child = spawn(command, process.argv.slice(2), { stdio: 'inherit', env });
  // A terminal sends its signals to both. The command ends by them as it wants to, and this process
  // after it.
  const passOn = ['SIGTERM', 'SIGHUP'].map((signal) => [signal, () => child.kill(signal)]);
  const handlers = [...passOn, ['SIGINT', () => {}], ['SIGQUIT', () => {}]];
  for (const [signal, handler] of handlers) if (signal in constants.signals) process.on(signal, handler);
  child.on('error', (error) => { fail(`cannot run ${command}: ${error.message}`); });
  child.on('exit', (code, signal) => {
    for (const [name, handler] of handlers) process.removeListener(name, handler);
    if (signal === null) process.exitCode = code;
    else process.kill(process.pid, signal);
  });
}
