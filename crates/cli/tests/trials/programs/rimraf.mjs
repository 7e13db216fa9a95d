// The command rimraf, over a node_modules of 20,000 files. A file beside it must stay.

export default {
  make(directory, input) {
    input.copyTree(`${directory}/tree`);
  },
  command: ['rimraf', 'out/tree'],
  prepare: 'rm -rf out && mkdir out && cp -r tree out/tree && echo stays > out/beside.txt',
  outputs: ['out'],
};
