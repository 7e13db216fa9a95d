// Guards against: artifacts that work in the source tree alone. The tests look at what Maven Central
// gets, and build a program in Java from it with Maven and Gradle.
//
// SMALLFRY_ARTIFACTS names the directory where `make jvm-artifacts` has put it.

import assert from 'node:assert';
import { execFile, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const here = path.dirname(fileURLToPath(import.meta.url));
const repository = path.resolve(process.env.SMALLFRY_ARTIFACTS);
const [version] = fs.readdirSync(path.join(repository, 'dev/smallfry/smallfry')).filter((name) => /^\d/.test(name));
const place = path.join(repository, 'dev/smallfry/smallfry', version);
const jars = fs.readdirSync(place).filter((name) => name.endsWith('.jar'));
const jar = (classifier) => `smallfry-${version}${classifier && `-${classifier}`}.jar`;
const systems = fs.readdirSync(path.join(here, 'target/native'));
const system = spawnSync('sh', ['-c', '. scripts/release/systems.sh; here'], { cwd: path.join(here, '../..'), encoding: 'utf8' }).stdout.trim();

const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'smallfry-artifacts-'));
after(() => fs.rmSync(directory, { recursive: true, force: true }));

// In so short a run, optimizing a build tool's own code takes longer than it saves.
const env = { ...process.env, MAVEN_OPTS: '-XX:TieredStopAtLevel=1', GRADLE_OPTS: '-XX:TieredStopAtLevel=1' };
const execute = promisify(execFile);
/** Runs a program to its end, which must be a good one, and returns its output. */
const run = async (command, args, cwd = directory) => (await execute(command, args, { cwd, env, encoding: 'utf8' })).stdout;

const entries = async (name) => (await run('jar', ['tf', path.join(place, name)])).split('\n');
const libraries = async (name) =>
  (await entries(name)).flatMap((entry) => /^dev\/smallfry\/native\/([^/]+)\/.*smallfry_jvm\.\w+$/.exec(entry)?.[1] ?? []).sort();

/** Copies the example with one text replaced, and returns the directory. */
function makeProject(name, file, from, to) {
  const project = path.join(directory, name);
  fs.cpSync(path.join(here, '../../examples/duplicates'), project, { recursive: true });
  const text = fs.readFileSync(path.join(project, file), 'utf8');
  assert.ok(text.includes(from));
  fs.writeFileSync(path.join(project, file), text.replace(from, to));
  fs.mkdirSync(path.join(project, 'files'));
  for (const [base, contents] of [['a', 'one'], ['b', 'two'], ['c', 'one']]) fs.writeFileSync(path.join(project, 'files', base), contents);
  return project;
}

/** Runs the example, with all libraries that a build tool found for it. */
async function assertRuns(project, classPath, found, classifier) {
  const others = fs.readdirSync(path.join(project, found)).filter((name) => name !== 'duplicates.jar');
  assert.deepStrictEqual(others.map((name) => name.replace(/-\d+\.\d+(\.\d+)?/, '')).sort(),
    ['annotations.jar', 'kotlin-stdlib.jar', `smallfry${classifier && `-${classifier}`}.jar`]);
  assert.strictEqual(await run('java', ['-cp', classPath, 'Duplicates', 'files'], project), 'The same contents:\n  files/a\n  files/c\n');
}

describe('artifacts', { concurrency: true }, () => {
  test('the jar has the library of each system, and a jar with a classifier that of one', async (context) => {
    assert.deepStrictEqual(await libraries(jar('')), systems);
    const classes = (await entries(jar(''))).filter((entry) => entry.endsWith('.class'));
    for (const one of systems) {
      assert.deepStrictEqual(await libraries(jar(one)), [one]);
      assert.deepStrictEqual((await entries(jar(one))).filter((entry) => entry.endsWith('.class')), classes);
    }
    const licenses = ['META-INF/LICENSE-APACHE', 'META-INF/LICENSE-MIT'];
    for (const one of ['', ...systems]) {
      assert.deepStrictEqual((await entries(jar(one))).filter((entry) => entry.includes('LICENSE')).sort(), licenses);
    }
    assert.deepStrictEqual(jars.sort(), ['', 'javadoc', 'sources', ...systems].map(jar).sort());
    for (const name of jars) context.diagnostic(`${name} has ${fs.statSync(path.join(place, name)).size.toLocaleString('en')} bytes`);
  });

  test('sources and documentation are beside it', async () => {
    const sources = await entries(jar('sources'));
    for (const name of fs.readdirSync(path.join(here, 'src/main/kotlin/dev/smallfry'))) assert.ok(sources.includes(`dev/smallfry/${name}`), name);
    assert.deepStrictEqual(await libraries(jar('sources')), []);
    const pages = await entries(jar('javadoc'));
    for (const name of ['index.html', 'dev/smallfry/Smallfry.html', 'dev/smallfry/WriteOptions.Builder.html']) assert.ok(pages.includes(name), name);
  });

  test('the POM has what Maven Central asks for, and the libraries that are needed', () => {
    const pom = fs.readFileSync(path.join(place, `smallfry-${version}.pom`), 'utf8');
    for (const element of ['name', 'description', 'url', 'license', 'developer', 'connection', 'developerConnection']) {
      assert.match(pom, new RegExp(`<${element}>.`, 's'));
    }
    const needed = [...pom.matchAll(/<dependency>.*?<\/dependency>/gs)].map(([text]) => text)
      .filter((text) => !/<scope>(test|import)<|<optional>true</.test(text));
    assert.deepStrictEqual(needed.map((text) => /<artifactId>(.*)</.exec(text)[1]), ['kotlin-stdlib']);
  });

  test('the same sources make the same bytes in another directory', async () => {
    const again = path.join(directory, 'built/again');
    for (const name of ['make-artifacts.sh', 'pom.xml', 'src', 'target/native']) {
      fs.cpSync(path.join(here, name), path.join(again, name), { recursive: true });
    }
    for (const name of ['LICENSE-APACHE', 'LICENSE-MIT']) {
      fs.copyFileSync(path.join(here, '../..', name), path.join(again, '../..', name));
    }
    await run('sh', [path.join(again, 'make-artifacts.sh'), path.join(directory, 'repository')]);
    for (const name of jars) {
      const second = fs.readFileSync(path.join(directory, 'repository/dev/smallfry/smallfry', version, name));
      assert.ok(second.equals(fs.readFileSync(path.join(place, name))), name);
    }
  });

  test('Maven builds a program in Java from the jar, and from that of one system', async () => {
    const settings = path.join(directory, 'settings.xml');
    fs.writeFileSync(settings, `<settings><profiles><profile><id>built</id><activation><activeByDefault>true</activeByDefault></activation>
      <repositories><repository><id>built</id><url>${pathToFileURL(repository)}</url></repository></repositories></profile></profiles></settings>`);
    // The user's own local repository may have another smallfry of this version.
    const local = path.join(repository, '../maven-local');
    for (const classifier of ['', system]) {
      fs.rmSync(path.join(local, 'dev/smallfry'), { recursive: true, force: true });
      const project = makeProject(`maven${classifier}`, 'pom.xml', `<version>${version}</version>`,
        `<version>${version}</version>${classifier && `<classifier>${classifier}</classifier>`}`);
      await run('mvn', ['-q', '-B', '-gs', settings, `-Dmaven.repo.local=${local}`, 'package'], project);
      await assertRuns(project, 'target/duplicates.jar:target/lib/*', 'target/lib', classifier);
    }
  });

  const gradle = spawnSync('gradle', ['--version']).status === 0;
  const skip = !gradle && process.env.CI !== 'true' && 'gradle is missing';
  test('Gradle builds a program in Java from the jar, and from that of one system', { skip }, async () => {
    const init = path.join(directory, 'init.gradle');
    fs.writeFileSync(init, `allprojects { repositories { maven { url '${pathToFileURL(repository)}' } } }`);
    for (const classifier of ['', system]) {
      const project = makeProject(`gradle${classifier}`, 'build.gradle', `:${version}'`, `:${version}${classifier && `:${classifier}`}'`);
      await run('gradle', ['-q', '--no-daemon', '-g', path.join(repository, '../gradle-home'), '-I', init, 'program'], project);
      await assertRuns(project, 'build/program/*', 'build/program', classifier);
    }
  });
});
