#!/usr/bin/env node
// Runs the command smallfry, which is in the package of this system.

import { spawn } from 'node:child_process';
import os = require('node:os');
import path = require('node:path');

import { systems } from './core/systems.js';

const packages = systems().map((system) => `smallfry-${system}`);

function findCommand(): string | undefined {
  const name = process.platform === 'win32' ? 'smallfry.exe' : 'smallfry';
  for (const each of packages) {
    try {
      return path.join(path.dirname(require.resolve(`${each}/package.json`)), name);
    } catch {
      // That of the other C library may be there.
    }
  }
  return undefined;
}

function fail(reason: string): void {
  console.error(`smallfry: ${reason}`);
  process.exitCode = 1;
}

function run(command: string): void {
  // `try` and `bench` measure this package.
  const env = { SMALLFRY_NODE_PACKAGE: path.dirname(__dirname), ...process.env };
  const child = spawn(command, process.argv.slice(2), { stdio: 'inherit', env });
  // A terminal sends its signals to both. The command ends by them as it wants to, and this process
  // after it.
  const handlers: [NodeJS.Signals, () => void][] = [
    ['SIGINT', () => undefined], ['SIGQUIT', () => undefined],
    ['SIGTERM', () => child.kill('SIGTERM')], ['SIGHUP', () => child.kill('SIGHUP')],
  ];
  const known = handlers.filter(([signal]) => signal in os.constants.signals);
  for (const [signal, handler] of known) process.on(signal, handler);
  child.on('error', (error) => { fail(`cannot run ${command}: ${error.message}`); });
  child.on('exit', (code, signal) => {
    for (const [name, handler] of known) process.removeListener(name, handler);
    if (signal === null) process.exitCode = code ?? 1;
    else process.kill(process.pid, signal);
  });
}

const command = findCommand();
if (command === undefined) {
  fail(`the package ${packages.join(' or ')} is not installed: optional dependencies may have been left out, or there is none for this system`);
} else {
  run(command);
}
