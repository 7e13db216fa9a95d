// Wraps functions of node:fs so that their calls are counted. Name, length, other properties and
// errors stay the same.

import { type Cell } from './cells.js';
import { type Form } from './functions.js';

/** Any function of node:fs. */
export type Call = (...args: unknown[]) => unknown;

/** Returns the bytes that a call read or wrote, from its arguments and its result. */
export type Bytes = (args: readonly unknown[], result: unknown) => number;

/** Makes a call. */
type Apply = (target: Call, self: unknown, args: unknown[]) => unknown;

/** Above 0 while a counted function runs. The functions that it calls are not counted then. */
let depth = 0;

const now = process.hrtime.bigint.bind(process.hrtime);

/**
 * Wraps `call` to be counted in `cell`. The time of a call that does not block is the time until
 * its result is there.
 */
export function counted<T>(call: T, form: Form, cell: Cell, bytes: Bytes): T {
  const apply = { sync: finishing, callback: callingBack, promise: promising }[form](cell, bytes);
  return new Proxy(call as Call, {
    apply: (target, self: unknown, args: unknown[]) => {
      if (depth > 0 || isStandardStream(args[0])) return Reflect.apply(target, self, args);
      depth += 1;
      try {
        return apply(target, self, args);
      } finally {
        depth -= 1;
      }
    },
  }) as T;
}

/** Output of the program is not counted, even if it goes to a file. */
const isStandardStream = (target: unknown) => target === 0 || target === 1 || target === 2;

/** Wraps `call` so that `note` gets the arguments of each call before it begins. */
export function noticed<T>(call: T, note: (...args: unknown[]) => void): T {
  return new Proxy(call as Call, {
    apply: (target, self: unknown, args: unknown[]) => {
      note(...args);
      return Reflect.apply(target, self, args);
    },
  }) as T;
}

/** One call that is running. */
class Timer {
  private readonly began = now();

  constructor(private readonly cell: Cell) {
    cell.add('calls', 1n);
  }

  succeed(bytes: () => number): void {
    this.end();
    this.cell.add('bytes', BigInt(bytes()));
  }

  fail(): void {
    this.end();
    this.cell.add('failed', 1n);
  }

  private end(): void {
    this.cell.add('nanoseconds', now() - this.began);
  }
}

function finishing(cell: Cell, bytes: Bytes): Apply {
  return (target, self, args) => {
    const timer = new Timer(cell);
    let result: unknown;
    try {
      result = Reflect.apply(target, self, args);
    } catch (error) {
      timer.fail();
      throw error;
    }
    timer.succeed(() => bytes(args, result));
    return result;
  };
}

function callingBack(cell: Cell, bytes: Bytes): Apply {
  return (target, self, args) => {
    const place = args.findLastIndex((argument) => typeof argument === 'function');
    const done = args[place] as Call | undefined;
    if (done === undefined) return Reflect.apply(target, self, args);
    const timer = new Timer(cell);
    const given = args.with(place, function wrapped(this: unknown, ...results: unknown[]) {
      if (results[0] instanceof Error) timer.fail();
      else timer.succeed(() => bytes(args, results[1]));
      return Reflect.apply(done, this, results);
    });
    try {
      return Reflect.apply(target, self, given);
    } catch (error) {
      timer.fail();
      throw error;
    }
  };
}

function promising(cell: Cell, bytes: Bytes): Apply {
  return (target, self, args) => {
    const timer = new Timer(cell);
    // The caller gets the promise made here, so that Node still notices an unhandled rejection.
    return (Reflect.apply(target, self, args) as Promise<unknown>).then(
      (result) => {
        timer.succeed(() => bytes(args, result));
        return result;
      },
      (error: unknown) => {
        timer.fail();
        throw error;
      },
    );
  };
}
