# In a system that has only Node: npm's packages, and what the README begins with.
mkdir -p /app/dist && cd /app
node --version
npm init --yes >/dev/null
npm install --offline --no-audit --no-fund /packages/smallfry-[0-9]*.tgz /packages/smallfry-linux-x64-gnu-*.tgz

cat >build.js <<'END'
const fs = require('fs');
fs.mkdirSync('dist', { recursive: true });
Promise.all(Array.from({ length: 300 }, (_, at) => fs.promises.writeFile(`dist/${at}.txt`, 'text\n'.repeat(at))));
END
cat >many.mjs <<'END'
import { isNative, readFiles, writeFiles } from 'smallfry';
const paths = Array.from({ length: 300 }, (_, at) => `dist/${at}.txt`);
const texts = await readFiles(paths, { encoding: 'utf8' });
await writeFiles(paths.map((path, at) => [path, texts[at].toUpperCase()]), { durability: 'full', replace: true });
if (!isNative() || texts[2] !== 'text\ntext\n') process.exit(1);
END
node --require smallfry/register build.js
node many.mjs
[ "$(cat dist/2.txt)" = $'TEXT\nTEXT' ]
npm pkg set scripts.build='node build.js'
npx --no-install smallfry try --prepare 'rm -rf dist' --outputs dist -- npm run build

npx --no-install smallfry cp dist backup
npx --no-install smallfry mirror --delete dist backup
npx --no-install smallfry pack dist.zip dist
npx --no-install smallfry unpack -C vendor dist.zip
npx --no-install smallfry hash dist vendor/dist backup
npx --no-install smallfry rm dist vendor
npx --no-install smallfry rm --later backup
npx --no-install smallfry bench --dir /app write-string
