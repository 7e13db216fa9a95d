// The numbers of the calls for paths. `src/sys/metadata.rs` has the same.

export const ACCESS = 0;
export const STAT = 1;
export const LSTAT = 2;
export const READDIR = 3;
export const REALPATH_NATIVE = 4;
export const REALPATH = 5;
export const READLINK = 6;
export const MKDIR = 7;
export const CHMOD = 8;
export const UTIMES = 9;

/** Added for a status whose fields become bigints. */
export const AS_BIGINTS = 32;
