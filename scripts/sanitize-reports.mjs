// Reads the reports of AddressSanitizer: `node sanitize-reports.mjs DIRECTORY ADDON`. It prints each
// error and each leak of memory that the addon has allocated. If there is one, it ends with 1.
//
// Node keeps memory until its process ends, and the sanitizer does not see pointers in V8's heap. So
// a leak counts only if the addon itself called the allocator. `start` keeps the state of an
// environment on purpose, and memory that this state points to is an indirect leak.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const [directory, addon] = process.argv.slice(2);
const symbols = execFileSync('nm', ['-S', '--defined-only', '--demangle', addon], { encoding: 'utf8', maxBuffer: 1 << 30 });
const start = symbols.match(/^([0-9a-f]+) ([0-9a-f]+) . smallfry_node::start$/m);
if (!start) throw new Error(`smallfry_node::start is not in ${addon}`);
const [first, size] = start.slice(1).map((digits) => Number.parseInt(digits, 16));
const addonFrame = new RegExp(`/${path.basename(addon).replaceAll('.', '\\.')}\\+0x([0-9a-f]+)\\)`);

const found = [];
let kept = 0;
const reports = fs.readdirSync(directory);
for (const report of reports) {
  for (const block of fs.readFileSync(path.join(directory, report), 'utf8').split(/\n{2,}/)) {
    if (block.includes('ERROR: AddressSanitizer')) found.push(block);
    if (!block.startsWith('Direct leak of')) continue;
    const frames = block.split('\n').slice(1).filter((line) => !line.includes('/libclang_rt.'));
    if (!frames[0]?.match(addonFrame)) continue;
    const offsets = frames.flatMap((frame) => frame.match(addonFrame)?.slice(1) ?? []).map((digits) => Number.parseInt(digits, 16));
    if (offsets.some((offset) => offset >= first && offset < first + size)) {
      kept += 1;
    } else {
      const names = execFileSync('addr2line', ['-f', '-C', '-s', '-p', '-e', addon, ...offsets.map((offset) => offset.toString(16))], { encoding: 'utf8' });
      found.push(`${block.split('\n')[0]}\n${names}`);
    }
  }
}
for (const block of found) console.log(block);
console.log(`smallfry: ${reports.length} processes have reports, with ${found.length} errors and leaks of the addon, and ${kept} states of environments`);
process.exitCode = found.length > 0 ? 1 : 0;
