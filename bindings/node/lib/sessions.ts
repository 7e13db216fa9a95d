// Calls for many files on their way through native code.

/** How far a call is. */
export interface State {
  /** Results by now. */
  done: number;
  /** Of these, the failures. */
  failed: number;
  /** Bytes that were moved. */
  bytes: number;
  /** These are all. */
  ended: boolean;
}

/** Who follows one call. */
export interface Follower {
  advance(state: State): void;
}

const followers = new Map<number, Follower>();
let last = 0;

/** A number for a new call, whose results `follower` is told of. */
export function follow(follower: Follower): number {
  do last = (last + 1) & 0x7fffffff; while (followers.has(last));
  followers.set(last, follower);
  return last;
}

/** Takes a number back that native code did not accept. */
export function unfollow(id: number): void {
  followers.delete(id);
}

/** Called by native code. */
export function advance(id: number, done: number, failed: number, bytes: number, ended: number): void {
  const follower = followers.get(id);
  if (follower === undefined) return;
  if (ended === 1) followers.delete(id);
  follower.advance({ done, failed, bytes, ended: ended === 1 });
}
