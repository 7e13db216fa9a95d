// The numbers of the calls for paths. `src/sys/metadata.rs` has the same.

export const ACCESS = 0;
export const STAT = 1;
export const LSTAT = 2;
export const READDIR = 3;
export const REALPATH = 4;
export const READLINK = 5;
export const MKDIR = 6;
export const CHMOD = 7;
export const UTIMES = 8;

/** Added for a status whose fields become bigints. */
export const AS_BIGINTS = 32;
