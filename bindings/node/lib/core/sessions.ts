// Calls for many files that native code works on.

/** The progress of a call. */
export interface State {
  /** The number of results so far. */
  done: number;
  /** The number of failures among them. */
  failed: number;
  /** The bytes that were read or written. */
  bytes: number;
  /** There are no more results. */
  ended: boolean;
}

/** An object that is told of the results of one call. */
export interface Follower {
  advance(state: State): void;
}

const followers = new Map<number, Follower>();
let last = 0;

/** Returns the number for a new call, and has `follower` told of its results. */
export function follow(follower: Follower): number {
  do last = (last + 1) & 0x7fffffff; while (followers.has(last));
  followers.set(last, follower);
  return last;
}

/** Gives up the number of a call that native code did not accept. */
export function unfollow(id: number): void {
  followers.delete(id);
}

/** Tells a follower of new results. Native code calls this. */
export function advance(id: number, done: number, failed: number, bytes: number, ended: number): void {
  const follower = followers.get(id);
  if (follower === undefined) return;
  if (ended === 1) followers.delete(id);
  follower.advance({ done, failed, bytes, ended: ended === 1 });
}
