// Turns of the event loop.

import { nextTurn } from '../original.js';

/** The time for which work goes on before the event loop may do other things. In milliseconds. */
export const TURN = 2;

/** Calls a function with arguments in the next turn, in the asynchronous context of the present. */
export const later: <Args extends unknown[]>(call: (...args: Args) => void, ...args: Args) => void = nextTurn.call;
