// Which child processes a program starts, and which of them it starts without the NODE_OPTIONS that load smallfry: a
// trial of those would compare node:fs with itself. Not seen from here: children of workers, and what a shell script
// sets inside.

import childProcess = require('node:child_process');
import nodeModule = require('node:module');

import { type Call, noticed } from './wrap.js';

/** So many commands are told, and so much of each. */
const TOLD = 5;
const LONGEST = 120;

/** What ChildProcess.prototype.spawn is given. */
interface Spawned {
  file: string;
  args?: readonly string[];
  envPairs?: readonly string[];
}

/** The children of a process. */
export class Children {
  /** How many it started. */
  started = 0;
  /** Commands that it started in such a way that smallfry is not loaded, should they be Node.js. */
  readonly without = new Set<string>();

  /** What loads smallfry, as NODE_OPTIONS has it; '' if something else did. */
  readonly #ours: string;

  constructor(options = process.env.NODE_OPTIONS ?? '') {
    const at = options.lastIndexOf('--require');
    this.#ours = at < 0 ? '' : options.slice(at);
  }

  /** Notices every child that this thread starts from now on. */
  notice(): void {
    // All that do not block come by here.
    const prototype = childProcess.ChildProcess.prototype as unknown as { spawn: Call };
    prototype.spawn = noticed(prototype.spawn, (options) => {
      const { file, args, envPairs } = options as Spawned;
      const pair = envPairs?.find((one) => one.startsWith('NODE_OPTIONS='));
      this.#note([file, ...(args ?? []).slice(1)], pair?.slice('NODE_OPTIONS='.length));
    });
    const functions = childProcess as unknown as Record<string, Call>;
    for (const name of ['spawnSync', 'execFileSync', 'execSync']) {
      functions[name] = noticed(functions[name], (file, ...rest) => {
        const args: unknown[] = Array.isArray(rest[0]) ? rest[0] : [];
        const options = rest.find((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
        const { env } = (options ?? {}) as { env?: NodeJS.ProcessEnv };
        this.#note([file, ...args].map(String), (env ?? process.env).NODE_OPTIONS);
      });
    }
    nodeModule.syncBuiltinESMExports();
  }

  #note(words: readonly string[], options: string | undefined): void {
    this.started += 1;
    const isLost = this.#ours !== '' && (!(options ?? '').includes(this.#ours) || words.some(replacesOptions));
    if (isLost && this.without.size < TOLD) this.without.add(shown(words));
  }
}

/** Does it set NODE_OPTIONS for what it starts, and leave out what is there? As a shell, cross-env and env do. */
function replacesOptions(word: string): boolean {
  const settings = [...word.matchAll(/\bNODE_OPTIONS=("[^"]*"|'[^']*'|\S*)/g)];
  return settings.some(([setting]) => !/\$\{?NODE_OPTIONS|%NODE_OPTIONS%/.test(setting));
}

/** What a shell is given, without the shell. */
function shown(words: readonly string[]): string {
  const line = (words.length === 3 && words[1] === '-c' ? words.slice(2) : words).join(' ');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}...` : line;
}
