// A function of node:fs that counts its calls and is otherwise the same: name, length, further properties and errors.

import { type Cell } from './cells.js';
import { type Form } from './functions.js';

/** A function of node:fs, whichever. */
export type Call = (...args: unknown[]) => unknown;

/** Bytes that a call moved, from its arguments and its result. */
export type Bytes = (args: readonly unknown[], result: unknown) => number;

/** What a call does, given what it is a call of. */
type Apply = (target: Call, self: unknown, args: unknown[]) => unknown;

/** Above 0 while a counted function runs: what it calls in turn is part of it, and counted once. */
let depth = 0;

const now = process.hrtime.bigint.bind(process.hrtime);

/** `call`, counted in `cell`. The time of a sync call is the caller's own; of another, that until its result is there. */
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

/** What a program prints is no small file, even where it goes to one. */
const isStandardStream = (target: unknown) => target === 0 || target === 1 || target === 2;

/** `call`, with the arguments of each call told to `note` before. */
export function noticed<T>(call: T, note: (...args: unknown[]) => void): T {
  return new Proxy(call as Call, {
    apply: (target, self: unknown, args: unknown[]) => {
      note(...args);
      return Reflect.apply(target, self, args);
    },
  }) as T;
}

/** One call under way. */
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
    // The caller gets the promise made here, so that a rejection which nobody handles is still noticed.
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
