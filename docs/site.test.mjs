// The site that `make docs` has built: every link leads somewhere, the references too, and a browser
// shows each page without an error.
//
// SMALLFRY_SCREENSHOTS names a directory for pictures.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import puppeteer from 'puppeteer-core';

const site = path.join(import.meta.dirname, '.vitepress/dist');
const pages = fs.readdirSync(site, { recursive: true }).filter((name) => name.endsWith('.html') && !name.startsWith('api/'));

/** The file that a path on the site gives, or undefined. */
function fileOf(url) {
  const file = path.join(site, decodeURIComponent(url));
  return [file, path.join(file, 'index.html')].find((each) => fs.existsSync(each) && fs.statSync(each).isFile());
}

const anchors = new Map();
/** The anchors of a page. */
function anchorsOf(file) {
  if (!anchors.has(file)) anchors.set(file, new Set(Array.from(fs.readFileSync(file, 'utf8').matchAll(/ id="([^"]+)"/g), ([, id]) => id)));
  return anchors.get(file);
}

test('every link leads to a page of the site, and to a place on it', () => {
  const broken = [];
  for (const page of pages) {
    const text = fs.readFileSync(path.join(site, page), 'utf8');
    for (const [, link] of text.matchAll(/ (?:href|src)="([^"]+)"/g)) {
      const { origin, pathname, hash } = new URL(link.replaceAll('&amp;', '&'), `http://site/${page}`);
      if (origin !== 'http://site') continue;
      const file = fileOf(pathname);
      const anchor = decodeURIComponent(hash.slice(1));
      const isThere = file && (!anchor || !file.endsWith('.html') || anchorsOf(file).has(anchor));
      if (!isThere) broken.push(`${page}: ${link}`);
    }
  }
  assert.deepEqual(broken, []);
});

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'chrome'];
const executablePath = NAMES.map((name) => spawnSync('which', [name], { encoding: 'utf8' }).stdout.trim()).find(Boolean);
const skip = !executablePath && 'no Chromium on PATH';
if (skip && process.env.CI === 'true') throw new Error(skip);

const TYPES = { '.css': 'text/css', '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json', '.svg': 'image/svg+xml' };

test('each page and reference is shown without an error, also on a telephone', { skip }, async () => {
  const server = http.createServer((request, response) => {
    const file = fileOf(new URL(request.url, 'http://site').pathname);
    response.writeHead(file ? 200 : 404, { 'content-type': TYPES[path.extname(file ?? '')] ?? 'application/octet-stream' });
    response.end(file && fs.readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await puppeteer.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    const said = [];
    // Other tools make the references, whose pages write warnings to the console.
    const say = (text) => page.url().includes('/api/') || said.push(`${page.url()}: ${text}`);
    page.on('console', (message) => ['error', 'warn'].includes(message.type()) && say(message.text()));
    page.on('pageerror', (error) => say(String(error)));
    page.on('response', (response) => response.status() >= 400 && say(`no ${response.url()}`));
    const references = ['rust/smallfry', 'node', 'jvm'].map((name) => `api/${name}/index.html`).filter((name) => fs.existsSync(path.join(site, name)));
    for (const name of [...pages.filter((name) => name !== '404.html'), ...references]) {
      for (const width of [1280, 390]) {
        await page.setViewport({ width, height: 844 });
        await page.goto(`http://127.0.0.1:${server.address().port}/${name}`, { waitUntil: 'load' });
        const [heading, wide] = await page.evaluate(() => [document.querySelector('h1')?.textContent ?? '', document.documentElement.scrollWidth]);
        assert.notEqual(heading.trim(), '', name);
        if (!name.startsWith('api/')) assert.ok(wide <= width, `${name} is ${wide} pixels wide on ${width}`);
        if (process.env.SMALLFRY_SCREENSHOTS) {
          await page.screenshot({ path: path.join(process.env.SMALLFRY_SCREENSHOTS, `${name.replaceAll('/', '-')}-${width}.png`) });
        }
      }
    }
    assert.deepEqual(said, []);
  } finally {
    await browser.close();
    server.close();
  }
});
