'use strict';
// A whole process: list the directory, read every file, keep nothing. What was read is counted,
// because a row must not be fast by reading less.
const fs = require('node:fs');
const [launch, work] = process.argv.slice(-2).map((text) => JSON.parse(text));
const functions = launch.functions === 'smallfry' ? require(launch.package) : fs;
const { style, directory } = work;
const files = fs.readdirSync(directory).map((name) => `${directory}/${name}`);
let [count, bytes] = [0, 0];
const add = (contents) => {
  count++;
  bytes += contents.length;
};
process.on('exit', (code) => {
  if (code === 0 && (count !== work.files || bytes !== work.bytes)) {
    fs.writeSync(2, `Error: it read ${bytes} bytes of ${count} files instead of ${work.bytes} bytes of ${work.files}\n`);
    process.exitCode = 1;
  }
});
if (style === 'sync') {
  for (const file of files) add(functions.readFileSync(file));
} else if (style === 'callback') {
  for (const file of files) {
    functions.readFile(file, (error, contents) => {
      if (error) throw error;
      add(contents);
    });
  }
} else if (style === 'parallel') {
  Promise.all(files.map((file) => functions.promises.readFile(file).then(add)));
} else if (style === 'bulk-sync') {
  functions.readFilesSync(files).forEach(add);
} else {
  functions.readFiles(files).then((all) => all.forEach(add));
}
