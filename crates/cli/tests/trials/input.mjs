// The real input of the programs: files of npm packages, of the versions in the lockfiles here.
//
// `package.json` here names the programs, and the packages whose files one of them reads.
// `tree/package.json` is a package with a node_modules of 20,000 files. It has a lockfile of npm
// and one of pnpm.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));

/** The directory with the programs and the packages. */
export const PACKAGES = path.join(here, 'node_modules');

/** The path of a program from an npm package. */
export const program = (name) => path.join(PACKAGES, '.bin', name);

/**
 * The shell command that moves what a run wrote out of the way, to a new directory beside the
 * project. ext4 without a journal does not use the inodes of removed files again for a minute. It
 * looks at each of them when it makes a file. So `pnpm install` took 6 s instead of 1.6 s after
 * `rm -rf`.
 */
export const moveAway = (...names) => `mkdir -p ${names.join(' ')} && mv ${names.join(' ')} "$(mktemp -d ../old.XXXXXX)"`;

/** The input of all programs of one run of the trials. */
export class Input {
  #part;
  #directory;
  #tree;

  /**
   * `part` is the share of the full input. `directory` is the directory of the projects. The
   * installed tree, the cache of npm and the store of pnpm are beside them, as `tree`, `npm-cache`
   * and `pnpm-store`.
   */
  constructor(part, directory) {
    this.#part = part;
    this.#directory = directory;
  }

  require = createRequire(path.join(here, 'input.mjs'));

  /** The number of files that stands for `full` of them. */
  count(full) {
    return Math.max(1, Math.round(full * this.#part));
  }

  /** The directory of an installed package, or a path in it. */
  installed(name) {
    return path.join(PACKAGES, name);
  }

  /** Copies the icons of simple-icons. */
  copyIcons(to) {
    this.copyPackage('simple-icons/icons', to, '.svg');
  }

  /**
   * Copies the files of a package, or of a directory in it. With an `ending`, only the files with
   * it, and only the share of them that this run is about.
   */
  copyPackage(name, to, ending) {
    const from = this.installed(name);
    if (ending === undefined) {
      fs.cpSync(from, to, { recursive: true });
      return;
    }
    const files = fs.readdirSync(from, { recursive: true }).filter((file) => file.endsWith(ending)).sort();
    for (const file of files.slice(0, this.count(files.length))) {
      fs.mkdirSync(path.dirname(path.join(to, file)), { recursive: true });
      fs.copyFileSync(path.join(from, file), path.join(to, file));
    }
  }

  /** Copies the node_modules of 20,000 files. */
  copyTree(to) {
    // As it is, with the links in `.bin` relative to it.
    fs.cpSync(path.join(this.tree(), 'node_modules'), to, { recursive: true, verbatimSymlinks: true });
  }

  /** The name and the read-me of each package in the tree. */
  readmes() {
    const packages = path.join(this.tree(), 'node_modules');
    return fs.readdirSync(packages, { recursive: true })
      .filter((file) => /^(@[^/]+\/)?[^/@.][^/]*\/readme\.md$/i.test(file))
      .sort()
      .map((file) => [path.dirname(file), fs.readFileSync(path.join(packages, file), 'utf8')]);
  }

  /** Installs the tree into `to` with pnpm, which fills its store, and removes the files again. */
  fillStore(to) {
    this.#manifest(to, 'pnpm-lock.yaml');
    const always = ['--dir', to, 'install', '--store-dir', path.join(this.#directory, 'pnpm-store'), '--ignore-scripts'];
    if (this.#part < 1) run('pnpm', [...always, '--lockfile-only', '--no-frozen-lockfile']);
    run('pnpm', [...always, '--frozen-lockfile']);
    fs.rmSync(path.join(to, 'node_modules'), { recursive: true });
  }

  /** Puts the package of the tree into `to`, after its packages went to the cache of npm. */
  fillCache(to) {
    fs.mkdirSync(to);
    for (const name of ['package.json', 'package-lock.json']) fs.copyFileSync(path.join(this.tree(), name), path.join(to, name));
  }

  /** The directory of the installed tree. */
  tree() {
    if (this.#tree === undefined) {
      const tree = path.join(this.#directory, 'tree');
      this.#manifest(tree, 'package-lock.json');
      const always = ['--prefix', tree, '--cache', path.join(this.#directory, 'npm-cache'), '--ignore-scripts', '--no-audit', '--no-fund'];
      if (this.#part < 1) run('npm', ['install', '--package-lock-only', ...always]);
      run('npm', ['ci', ...always]);
      this.#tree = tree;
    }
    return this.#tree;
  }

  /** Writes a package.json with the share of the dependencies that this run is about. */
  #manifest(to, lockfile) {
    fs.mkdirSync(to, { recursive: true });
    const manifest = JSON.parse(fs.readFileSync(path.join(here, 'tree/package.json'), 'utf8'));
    const all = Object.entries(manifest.dependencies);
    manifest.dependencies = Object.fromEntries(all.slice(0, Math.ceil(all.length * this.#part)));
    fs.writeFileSync(path.join(to, 'package.json'), JSON.stringify(manifest, null, 2));
    fs.copyFileSync(path.join(here, 'tree', lockfile), path.join(to, lockfile));
  }
}

/** Runs a program of these packages, and throws if it fails. */
function run(name, args) {
  const { status, error, stdout, stderr } = spawnSync(program(name), args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cannot make the input: ${name} ${args.join(' ')} failed:\n${error ?? ''}${stdout}${stderr}`);
}
