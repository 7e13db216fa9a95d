// Turns of the event loop.

import timers = require('node:timers');

/** The time for which work goes on before the event loop may do other things. In milliseconds. */
export const TURN = 2;

/**
 * Calls a function with arguments in the next turn, in the asynchronous context of the present. It
 * is bound at load time, so that mocked timers of a test do not hold up files.
 */
export const later: <Args extends unknown[]>(call: (...args: Args) => void, ...args: Args) => void = timers.setImmediate;
