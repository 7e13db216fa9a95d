// Turns of the event loop.

import timers = require('node:timers');

/** How long work that could go on is done before the event loop may look at other things. In milliseconds. */
export const TURN = 2;

/** Calls a function in the next turn. Taken once, so that a test's mocked timers do not hold up files. */
export const later: (call: () => void) => void = timers.setImmediate;
