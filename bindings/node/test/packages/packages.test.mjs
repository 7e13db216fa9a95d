// Guards against: a package that works in the source tree alone. The packages are installed from
// their archives into empty projects, as npm would from its registry.
//
// SMALLFRY_PACKAGES names the directory where `make npm-packages` has put them.

import assert from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const tools = path.join(here, 'node_modules');
const runtimes = path.join(here, '../runtimes/node_modules');
const packages = path.resolve(process.env.SMALLFRY_PACKAGES);
const archives = fs.readdirSync(packages).filter((name) => name.endsWith('.tgz'));
const rootArchive = path.join(packages, archives.find((name) => /^smallfry-\d/.test(name)));
const system = `linux-${process.arch}-gnu`;
const systemArchive = path.join(packages, archives.find((name) => name.startsWith(`smallfry-${system}-`)));

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'smallfry-packages-'));
after(() => fs.rmSync(directory, { recursive: true, force: true }));

/** Runs a program to its end, which must be a good one, and returns its output. */
function run(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: 'utf8', ...options, env: { ...process.env, NODE_OPTIONS: '', ...options.env } });
  assert.strictEqual(done.status, 0, `${command} ${args.join(' ')}: ${done.error ?? ''}\n${done.stdout}\n${done.stderr}`);
  return done.stdout;
}

function makeProject(name, fields = {}) {
  const project = path.join(directory, name);
  fs.mkdirSync(project);
  fs.writeFileSync(path.join(project, 'package.json'), JSON.stringify({ name, private: true, ...fields }));
  return project;
}

// The packages of other systems are not in a registry yet: npm leaves out what is optional.
const project = makeProject('project');
run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', rootArchive, systemArchive], { cwd: project });

const SMOKE = path.join(here, 'smoke.cjs');
fs.copyFileSync(SMOKE, path.join(project, 'smoke.cjs'));
fs.writeFileSync(path.join(project, 'smoke.mjs'), `
import assert from 'node:assert';
import { isNative, readFileSync } from 'smallfry';
import fs from 'smallfry/fs';
import { readFile } from 'smallfry/fs/promises';
import { moduleFormat } from 'smallfry/package-json';
assert.ok(isNative());
const text = await readFile('package.json', 'utf8');
assert.strictEqual(readFileSync('package.json', 'utf8'), text);
assert.strictEqual(fs.readFileSync('package.json', 'utf8'), text);
assert.ok(moduleFormat('smoke.mjs'));
console.log('good');`);

const RUNTIMES = [
  ...[20, 22, 24, 26].map((version) => [`Node ${version}`, path.join(runtimes, `node${version}/bin/node`), []]),
  ['Bun', path.join(runtimes, 'bun/bin/bun'), []],
  ['Deno', path.join(runtimes, 'deno/deno'), ['run', '--allow-all']],
];

for (const [name, binary, args] of RUNTIMES) {
  test(`installed, it works in ${name}`, () => {
    for (const script of ['smoke.cjs', 'smoke.mjs']) assert.strictEqual(run(binary, [...args, script], { cwd: project }), 'good\n');
  });
}

test('a program is preloaded as the README says', () => {
  const script = `console.log(String(require('fs').readFileSync) !== process.argv[1], require('smallfry').isNative())`;
  const own = run(process.execPath, ['--print', 'String(fs.readFileSync)']).trim();
  assert.strictEqual(run(process.execPath, ['--require', 'smallfry/register', '--eval', script, own], { cwd: project }), 'true true\n');
});

test('the command comes along', () => {
  assert.match(run('npx', ['--no-install', 'smallfry', '--version'], { cwd: project }), /^smallfry \d/);
  run('npx', ['--no-install', 'smallfry', 'cp', 'package.json', 'copied.json'], { cwd: project });
  assert.ok(fs.existsSync(path.join(project, 'copied.json')));
  const wrong = spawnSync('npx', ['--no-install', 'smallfry', 'cp', 'missing', 'x'], { cwd: project, encoding: 'utf8' });
  assert.strictEqual(wrong.status, 1);
  assert.match(wrong.stderr, /missing/);
});

test('npx smallfry try runs a build with this package', () => {
  fs.writeFileSync(path.join(project, 'build.cjs'), `
    const fs = require('fs');
    fs.mkdirSync('dist', { recursive: true });
    Promise.all(Array.from({ length: 200 }, (_, index) => fs.promises.writeFile('dist/' + index, 'x'.repeat(index))));`);
  const told = run('npx', ['--no-install', 'smallfry', 'try', '--runs', '2', '--outputs', 'dist', '--', 'node', 'build.cjs'], { cwd: project });
  assert.match(told, /SAME\s+200 outputs/);
});

test('a signal ends the command and what started it', () => {
  const script = `
    const { spawn } = require('child_process');
    const child = spawn(process.execPath, ['node_modules/smallfry/dist/command.js', 'try', '--', 'sleep', '60'], { stdio: 'ignore' });
    setTimeout(() => child.kill('SIGTERM'), 1000);
    child.on('exit', (code, signal) => console.log(code ?? signal));`;
  assert.match(run(process.execPath, ['--eval', script], { cwd: project, timeout: 20_000 }), /^(?:SIGTERM|143|130)\n$/);
});

test('without the package of the system, node:fs does the work and the command says why', () => {
  const bare = makeProject('bare');
  run('npm', ['install', '--no-audit', '--no-fund', '--omit=optional', rootArchive], { cwd: bare });
  const script = `require('smallfry').readFileSync('package.json'); console.log(require('smallfry').isNative())`;
  const done = spawnSync(process.execPath, ['--eval', script], { cwd: bare, encoding: 'utf8' });
  assert.strictEqual(done.stdout, 'false\n');
  assert.match(done.stderr, new RegExp(`no native addon: neither the package smallfry-${system} `));
  const command = spawnSync('npx', ['--no-install', 'smallfry', '--version'], { cwd: bare, encoding: 'utf8' });
  assert.strictEqual(command.status, 1);
  assert.match(command.stderr, /smallfry-linux-.* is not installed/);
});

test('both packages have the licences', () => {
  for (const archive of [rootArchive, systemArchive]) {
    const licenses = run('tar', ['-tf', archive]).split('\n').filter((name) => name.includes('LICENSE'));
    assert.deepStrictEqual(licenses.sort(), ['package/LICENSE-APACHE', 'package/LICENSE-MIT']);
  }
});

test('publint and arethetypeswrong find nothing', () => {
  run(process.execPath, [path.join(tools, 'publint/src/cli.js'), '--strict', '--pack', 'false', path.join(packages, 'smallfry')]);
  run(process.execPath, [path.join(tools, '@arethetypeswrong/cli/dist/index.js'), rootArchive, '--no-emoji']);
});

const PROGRAM = `
import { readFiles, writeFiles, copyTree, hashTree, type HashTreeOptions } from 'smallfry';
import { readFileSync } from 'smallfry/fs';
import { readFile } from 'smallfry/fs/promises';
import { moduleFormat } from 'smallfry/package-json';
export async function all(paths: string[], options: HashTreeOptions): Promise<string> {
  const texts: string[] = await readFiles(paths, { encoding: 'utf8' });
  const buffers: Buffer[] = await readFiles(paths);
  await writeFiles(paths.map((path, index): [string, Buffer | string] => [path, buffers[index] ?? texts[index] ?? '']), { durability: 'full' });
  await copyTree('a', 'b', { existing: 'keep' });
  const text: string = readFileSync('a', 'utf8');
  const later: string = await readFile('a', 'utf8');
  return (await hashTree('b', options)).digest + text + later + String(moduleFormat('a'));
}`;
const SETTINGS = {
  node16: { module: 'node16', moduleResolution: 'node16' },
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
  commonjs: { module: 'commonjs', moduleResolution: 'node10' },
};

for (const compiler of ['typescript-5.4', 'typescript']) {
  test(`types are right for ${compiler}`, () => {
    for (const [name, settings] of Object.entries(SETTINGS)) {
      // TypeScript 7 has no such resolution any more.
      if (name === 'commonjs' && compiler === 'typescript') continue;
      const place = path.join(project, `${compiler}-${name}`);
      fs.mkdirSync(place);
      for (const file of ['program.ts', ...(name === 'commonjs' ? [] : ['program.mts', 'program.cts'])]) fs.writeFileSync(path.join(place, file), PROGRAM);
      fs.writeFileSync(path.join(place, 'tsconfig.json'), JSON.stringify({
        compilerOptions: { ...settings, target: 'es2022', strict: true, noEmit: true, types: ['node'], typeRoots: [path.join(tools, '@types')] },
      }));
      run(process.execPath, [path.join(tools, compiler, 'bin/tsc'), '--project', place]);
    }
  });
}

test('bundled by esbuild and by webpack, it finds its addon', async () => {
  const entry = path.join(project, 'smoke.cjs');
  run(path.join(tools, 'esbuild/bin/esbuild'), [entry, '--bundle', '--platform=node', '--log-level=warning', `--outfile=${path.join(project, 'esbuild/bundle.cjs')}`]);
  assert.strictEqual(run(process.execPath, ['esbuild/bundle.cjs'], { cwd: project }), 'good\n');
  const { default: webpack } = await import(path.join(tools, 'webpack/lib/index.js'));
  await new Promise((resolve, reject) => {
    const output = { path: path.join(project, 'webpack'), filename: 'bundle.cjs' };
    webpack({ mode: 'production', target: 'node20', context: project, entry, output }, (error, stats) => {
      if (error || stats.hasErrors()) reject(error ?? new Error(stats.toString()));
      else resolve();
    });
  });
  assert.strictEqual(run(process.execPath, ['webpack/bundle.cjs'], { cwd: project }), 'good\n');
});

test('Yarn finds it without node_modules', () => {
  const pnp = makeProject('pnp', {
    packageManager: 'yarn@4.0.0',
    dependencies: { smallfry: `file:${rootArchive}` },
    resolutions: Object.fromEntries(Object.keys(JSON.parse(fs.readFileSync(path.join(packages, 'smallfry/package.json'), 'utf8')).optionalDependencies)
      .map((name) => [name, name === `smallfry-${system}` ? `file:${systemArchive}` : 'npm:empty-npm-package@1.0.0'])),
  });
  fs.writeFileSync(path.join(pnp, 'yarn.lock'), '');
  fs.copyFileSync(SMOKE, path.join(pnp, 'smoke.cjs'));
  const yarn = (...args) => run(process.execPath, [path.join(tools, '@yarnpkg/cli-dist/bin/yarn.js'), ...args], {
    cwd: pnp, env: { YARN_IGNORE_PATH: '1', YARN_ENABLE_GLOBAL_CACHE: 'false', YARN_ENABLE_TELEMETRY: '0', YARN_ENABLE_IMMUTABLE_INSTALLS: 'false' },
  });
  yarn('install');
  assert.ok(!fs.existsSync(path.join(pnp, 'node_modules')));
  assert.strictEqual(yarn('node', 'smoke.cjs'), 'good\n');
});

const canMount = process.platform === 'linux' && process.getuid() === 0;
test('a node_modules that is mounted read-only is enough', { skip: canMount ? false : 'needs root' }, () => {
  const modules = path.join(project, 'node_modules');
  execFileSync('mount', ['--bind', modules, modules]);
  try {
    execFileSync('mount', ['-o', 'remount,bind,ro', modules]);
    assert.strictEqual(run(process.execPath, ['smoke.cjs'], { cwd: project }), 'good\n');
  } finally {
    execFileSync('umount', [modules]);
  }
});
