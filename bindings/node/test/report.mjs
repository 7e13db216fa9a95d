// Reads the TAP of a run of the suite: numbers, and skipped tests by name.

const number = (output, name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);

/** Adds the numbers of one run to those of others. */
export function add(total, numbers) {
  for (const key of Object.keys(total)) total[key] += numbers[key];
}

/** Counts the tests that passed, failed and were skipped; a run that ended badly has a failure. */
export function numbersOf(output, code) {
  const numbers = {
    passed: number(output, 'pass'),
    failed: number(output, 'fail') + number(output, 'cancelled'),
    skipped: number(output, 'skipped') + number(output, 'todo'),
  };
  if (code !== 0 && numbers.failed === 0) numbers.failed = 1;
  return numbers;
}

export const none = () => ({ passed: 0, failed: 0, skipped: 0 });

export const sentence = ({ passed, failed, skipped }) => `${passed} passed, ${failed} failed, ${skipped} skipped`;

/** Names what was skipped, and why. */
export function sayWhatIsSkipped(output) {
  for (const [, what, why] of output.matchAll(/^ *ok \d+ - (.*) # SKIP ?(.*)$/gm)) console.log(`  skipped: ${what}${why ? ` (${why})` : ''}`);
  for (const [, what] of output.matchAll(/^# skipped on Windows: (.*)$/gm)) console.log(`  skipped: ${what}`);
}
