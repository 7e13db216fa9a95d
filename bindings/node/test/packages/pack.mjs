// Makes the packages for npm: that of everyone, and one for each system that was built. They are
// laid out as @napi-rs/cli does it, with the command beside the addon, and packed into archives.
// Usage: node test/packages/pack.mjs OUTPUT SYSTEM=DIRECTORY... The directory of a system, such as
// linux-x64-gnu, is the one where cargo has put the addon and the command.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { NapiCli } from '@napi-rs/cli';

const [output, ...systems] = process.argv.slice(2);
if (output === undefined || systems.some((system) => !system.includes('='))) {
  console.error('usage: node test/packages/pack.mjs OUTPUT SYSTEM=DIRECTORY...');
  process.exit(2);
}
const here = path.resolve(fileURLToPath(import.meta.url), '../../..');
const licenses = ['LICENSE-MIT', 'LICENSE-APACHE'];
const readJson = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
const writeJson = (file, value) => { fs.writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`); };
const copyLicenses = (to) => { for (const name of licenses) fs.copyFileSync(path.join(here, '../..', name), path.join(to, name)); };

const manifest = readJson(path.join(here, 'package.json'));
fs.rmSync(output, { recursive: true, force: true });
fs.mkdirSync(output, { recursive: true });
const places = path.resolve(output, 'systems');
// It makes directories nowhere but in the package.
await new NapiCli().createNpmDirs({ cwd: here, npmDir: 'npm' });
fs.cpSync(path.join(here, 'npm'), places, { recursive: true });
fs.rmSync(path.join(here, 'npm'), { recursive: true });
const known = fs.readdirSync(places);

const packed = [];
for (const system of systems) {
  const at = system.indexOf('=');
  const [name, built] = [system.slice(0, at), system.slice(at + 1)];
  const place = path.join(places, name);
  const isWindows = name.startsWith('win32');
  const library = { linux: 'libsmallfry_node.so', darwin: 'libsmallfry_node.dylib', win32: 'smallfry_node.dll' }[name.split('-')[0]];
  const command = isWindows ? 'smallfry.exe' : 'smallfry';
  const file = path.join(place, 'package.json');
  const own = readJson(file);
  fs.copyFileSync(path.join(built, library), path.join(place, own.main));
  fs.copyFileSync(path.join(built, command), path.join(place, command));
  fs.chmodSync(path.join(place, command), 0o755);
  // What cargo has built for tests holds its debug information.
  if (name.startsWith(`${process.platform}-${process.arch}`)) execFileSync('strip', [path.join(place, own.main), path.join(place, command)]);
  copyLicenses(place);
  fs.writeFileSync(path.join(place, 'README.md'), `# ${own.name}\n\nThe native parts of [smallfry](https://github.com/smallfry/smallfry#readme) for ${name}.\n`);
  // The command needs no addon, and a library no command: both files are all that is here.
  writeJson(file, { ...own, files: [own.main, command, 'LICENSE-*'], preferUnplugged: true, repository: manifest.repository, publishConfig: manifest.publishConfig });
  packed.push(place);
}

const root = path.join(output, 'smallfry');
fs.mkdirSync(root);
for (const part of ['dist', 'esm', 'README.md']) fs.cpSync(path.join(here, part), path.join(root, part), { recursive: true });
copyLicenses(root);
const published = { ...manifest };
for (const field of ['devDependencies', 'scripts', 'napi']) delete published[field];
const optionalDependencies = Object.fromEntries(known.map((name) => [`smallfry-${name}`, manifest.version]));
writeJson(path.join(root, 'package.json'), { ...published, optionalDependencies });
packed.unshift(root);

for (const place of packed) {
  const [told] = JSON.parse(execFileSync('npm', ['pack', '--json', '--pack-destination', output, place], { encoding: 'utf8' }));
  console.log(`${told.filename}: ${(told.size / 1e6).toFixed(2)} MB, unpacked ${(told.unpackedSize / 1e6).toFixed(2)} MB`);
}
