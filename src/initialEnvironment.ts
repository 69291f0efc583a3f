import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

/** Where `/proc/self/stat` says at which address the environment of the start lies, counted after the name. */
const ENVIRONMENT_AT = 50 - 3;

/** Where the values of these variables lie in the environment that the process was started with. */
const valuesIn = (environment: Buffer, names: readonly string[]): readonly (readonly [number, number])[] => {
  const found: (readonly [number, number])[] = [];
  for (let at = 0; at < environment.length;) {
    const zero = environment.indexOf(0, at);
    const end = zero < 0 ? environment.length : zero;
    const equals = environment.indexOf('=', at);
    if (equals > at && equals < end && names.includes(environment.toString('utf8', at, equals)))
      found.push([equals + 1, end]);
    at = end + 1;
  }
  return found;
};

const eraseIn = (memory: number, names: readonly string[]): void => {
  const facts = readFileSync('/proc/self/stat', 'latin1');
  const start = Number(facts.slice(facts.lastIndexOf(')') + 2).split(' ')[ENVIRONMENT_AT]);
  for (const [from, to] of valuesIn(readFileSync('/proc/self/environ'), names))
    writeSync(memory, Buffer.alloc(to - from), 0, to - from, start + from);
};

const isErased = (environment: Buffer, names: readonly string[]): boolean =>
  valuesIn(environment, names).every(([from, to]) =>
    environment.subarray(from, to).every((byte) => byte === 0),
  );

/**
 * Overwrites the values of variables in the memory that the process was started with, which Linux shows to
 * all of the user's processes as `/proc/<pid>/environ`, whatever was deleted since. Nothing may refer to them
 * any more. False where the system does not let a process write there.
 */
export const eraseInitialValues = (names: readonly string[]): boolean => {
  try {
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      eraseIn(memory, names);
      return isErased(readFileSync('/proc/self/environ'), names);
    } finally {
      closeSync(memory);
    }
  } catch {
    return false;
  }
};
