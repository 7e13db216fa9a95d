// Notes the child processes that a program starts, and how many of them lack the NODE_OPTIONS that
// load smallfry. A trial of these would compare node:fs with itself. Children of workers, and
// variables that a shell script sets, are not seen.

import childProcess = require('node:child_process');
import nodeModule = require('node:module');

import { type Call, noticed } from './wrap.js';

/** The maximum number of commands that are reported, and of the characters of each. */
const MAX_COMMANDS = 5;
const MAX_LENGTH = 120;

/** The argument of ChildProcess.prototype.spawn. */
interface Spawned {
  file: string;
  args?: readonly string[];
  envPairs?: readonly string[];
}

/** The children of a process. */
export class Children {
  /** The number of children started. */
  started = 0;
  /** Commands that were started without the options that load smallfry into Node. */
  readonly without = new Set<string>();

  /** The options of NODE_OPTIONS that load smallfry; '' if something else did. */
  readonly #ours: string;

  constructor(options = process.env.NODE_OPTIONS ?? '') {
    const at = options.lastIndexOf('--require');
    this.#ours = at < 0 ? '' : options.slice(at);
  }

  /** Begins to note the children that this thread starts. */
  notice(): void {
    // All functions that do not block call this one.
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
    if (isLost && this.without.size < MAX_COMMANDS) this.without.add(shown(words));
  }
}

/**
 * Tells whether a word of a command sets NODE_OPTIONS without the old value, as for a shell,
 * cross-env and env.
 */
function replacesOptions(word: string): boolean {
  const settings = [...word.matchAll(/\bNODE_OPTIONS=("[^"]*"|'[^']*'|\S*)/g)];
  return settings.some(([setting]) => !/\$\{?NODE_OPTIONS|%NODE_OPTIONS%/.test(setting));
}

/** Makes the text of a command. For a shell, that is the line that it gets. */
function shown(words: readonly string[]): string {
  const line = (words.length === 3 && words[1] === '-c' ? words.slice(2) : words).join(' ');
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}...` : line;
}
