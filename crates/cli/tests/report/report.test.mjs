// The report of `--html` in Chromium: it loads nothing, runs nothing, and can be read without
// scripts, in the dark, on paper and by a screen reader.
//
// SMALLFRY_COMMAND names the command. SMALLFRY_SCREENSHOTS names a directory for pictures.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import puppeteer from 'puppeteer-core';

const COMMAND = process.env.SMALLFRY_COMMAND ?? join(import.meta.dirname, '../../../../target/debug/smallfry');
const SCREENSHOTS = process.env.SMALLFRY_SCREENSHOTS;
const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];

const executablePath = NAMES.map((name) => spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim()).find(Boolean);
const missing = !executablePath && 'no Chromium on PATH';
if (missing && process.env.CI === 'true') throw new Error(missing);

let directory;
let browser;

before(async () => {
    if (missing) return;
    directory = mkdtempSync(join(tmpdir(), 'smallfry-report-'));
    browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox'] });
});

after(async () => {
    await browser?.close();
    if (directory) rmSync(directory, { recursive: true });
});

/** Measures, and returns the paths of the report and of the JSON file. */
function measure(name, argumentsOf) {
    const [html, json] = ['html', 'json'].map((format) => join(directory, `${name}.${format}`));
    execFileSync(COMMAND, argumentsOf(['--html', html, '--json', json]), { cwd: directory, stdio: 'pipe' });
    return { html, json };
}

const bench = () =>
    measure('bench', (files) => ['bench', 'write-string', '--quick', '--cells', '1024 ascii fd null', '--dir', directory, ...files]);

/** The command's name is one that a page could take for markup. */
function trial() {
    writeFileSync(join(directory, 'build.cjs'), "require('fs').writeFileSync('out.txt', 'text');");
    const command = ['node', 'build.cjs', '<img src=x onerror=alert(1)>', '</style><script>alert(2)</script>'];
    return measure('try', (files) => ['try', '--runs', '6', '--outputs', 'out.txt', ...files, '--', ...command]);
}

/** Opens a report, and returns the page with what it said and asked for. */
async function open(html, { scripts = true, dark = false } = {}) {
    const page = await browser.newPage();
    const said = [];
    page.on('console', (message) => said.push(message.text()));
    page.on('pageerror', (error) => said.push(error.message));
    page.on('dialog', (dialog) => said.push(dialog.message()));
    page.on('request', (request) => said.push(request.url()));
    await page.setJavaScriptEnabled(scripts);
    await page.setViewport({ width: 1000, height: 1400 });
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }]);
    const url = pathToFileURL(html).href;
    await page.goto(url);
    const others = said.filter((text) => text !== url && !text.startsWith('data:'));
    return { page, others };
}

async function picture(page, name) {
    if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

for (const [name, make] of [['bench', bench], ['try', trial]]) {
    test(`the report of ${name} says nothing and asks for nothing, with and without scripts`, { skip: missing }, async () => {
        const { html, json } = make();
        const document = JSON.parse(readFileSync(json, 'utf8'));
        for (const scripts of [true, false]) {
            const { page, others } = await open(html, { scripts });
            assert.deepEqual(others, []);
            const text = await page.$eval('body', (body) => body.textContent).catch(() => page.content());
            for (const comparison of document.comparisons) {
                for (const row of comparison.rows) assert.ok(text.includes(row.name), row.name);
            }
            assert.match(text, /times as fast as/i);
            await page.close();
        }
        const { page } = await open(html);
        await picture(page, `${name}-light`);
        assert.equal(await page.$$eval('img, script, iframe', (found) => found.length), 0);
        assert.ok((await page.$$eval('figure svg', (found) => found.length)) >= 2);
        // The data is in the page.
        const links = await page.$$eval('a[download]', (found) => found.map((link) => link.href));
        const [data, lines] = links.map((link) => decodeURIComponent(link.slice(link.indexOf(',') + 1)));
        assert.deepEqual(JSON.parse(data).comparisons, document.comparisons);
        const samples = document.comparisons.flatMap(({ rows }) => rows).flatMap((row) => row.samples_ns);
        assert.equal(lines.trim().split(/\r?\n/).length, 1 + samples.filter((ns) => ns !== null).length);
        await page.close();
    });

    test(`the report of ${name} is dark where that is wanted, and goes onto paper`, { skip: missing }, async () => {
        const { page } = await open(join(directory, `${name}.html`), { dark: true });
        const colours = await page.$eval('body', (body) => {
            const letters = getComputedStyle(document.querySelector('svg text')).fill;
            return [getComputedStyle(body).backgroundColor, letters];
        });
        assert.deepEqual(colours, ['rgb(22, 24, 27)', 'rgb(232, 232, 232)']);
        await picture(page, `${name}-dark`);
        const paper = await page.pdf({ format: 'A4' });
        assert.ok(paper.length > 10_000);
        await page.close();
    });

    test(`the report of ${name} is reached by the keyboard and read by a screen reader`, { skip: missing }, async () => {
        const { page } = await open(join(directory, `${name}.html`));
        await page.keyboard.press('Tab');
        assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the results');
        await page.close();
        const checked = await browser.newPage();
        await checked.setBypassCSP(true);
        await checked.goto(pathToFileURL(join(directory, `${name}.html`)).href);
        await checked.addScriptTag({ path: createRequire(import.meta.url).resolve('axe-core/axe.min.js') });
        const { violations } = await checked.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`), []);
        await checked.close();
    });
}
