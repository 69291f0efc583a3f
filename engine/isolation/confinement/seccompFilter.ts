import { callsOf, NEWER_FROM, type Architecture } from './deniedCalls.ts';

/** Stands in the filter where the launcher puts the process's own id, which nobody knows before. */
export const PID_MARK = 'PID!';

/** Classic BPF: load a word of `struct seccomp_data`, compare it, return. */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;

const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
/** The low half of each argument. */
const FIRST_AT = 16;
const SECOND_AT = 24;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const ERROR = 0x00050000;
const DENY = ERROR | 1; // EPERM
const NOT_THERE = ERROR | 38; // ENOSYS

const AUDIT_ARCHITECTURE: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

const CLONE_THREAD = 0x10000;
/** F_SETOWN, F_SETSIG, F_SETOWN_EX: signals to others by way of a file. */
const FCNTL_DENIED = [8, 10, 15];
/** FIOSETOWN, SIOCSPGRP, TIOCSTI, TIOCLINUX. */
const IOCTL_DENIED = [0x8901, 0x8902, 0x5412, 0x541c];

type Step = readonly [code: number, yes: number, no: number, operand: number | typeof PID_MARK];

const give = (answer: number): Step => [RETURN, 0, 0, answer];
const load = (at: number): Step => [LOAD, 0, 0, at];
/** Ends with `answer` when the loaded word is `value`. */
const endIf = (value: number | typeof PID_MARK, answer: number): readonly Step[] => [
  [IF_EQUAL, 0, 1, value],
  give(answer),
];

/** What is done for one call alone; `steps` end by themselves. */
const onCall = (number: number, steps: readonly Step[]): readonly Step[] => [
  [IF_EQUAL, 0, steps.length, number],
  ...steps,
];

const encoded = (steps: readonly Step[]): Buffer =>
  Buffer.concat(
    steps.map(([code, yes, no, operand]) => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt16LE(code, 0);
      bytes.writeUInt8(yes, 2);
      bytes.writeUInt8(no, 3);
      if (typeof operand === 'number') bytes.writeUInt32LE(operand, 4);
      else bytes.write(operand, 4, 'latin1');
      return bytes;
    }),
  );

/**
 * The filter of a process that parses, as seccomp wants it: it makes no socket and no process, signals and
 * limits nobody but itself, and changes nothing of the machine. Threads, memory and open files are left to it.
 */
export const seccompFilter = (architecture: Architecture): Buffer => {
  const { denied, unknown, asked } = callsOf(architecture);
  const deniedArguments = (values: readonly number[]): readonly Step[] => [
    load(SECOND_AT),
    ...values.flatMap((value) => endIf(value, DENY)),
    give(ALLOW),
  ];
  return encoded([
    load(ARCHITECTURE_AT),
    [IF_EQUAL, 1, 0, AUDIT_ARCHITECTURE[architecture]],
    give(KILL),
    load(NUMBER_AT),
    [IF_AT_LEAST, 0, 1, NEWER_FROM],
    give(NOT_THERE),
    ...onCall(asked.clone, [load(FIRST_AT), [IF_ANY_BIT, 1, 0, CLONE_THREAD], give(DENY), give(ALLOW)]),
    ...onCall(asked.tgkill, [load(FIRST_AT), ...endIf(PID_MARK, ALLOW), give(DENY)]),
    ...onCall(asked.prlimit64, [load(FIRST_AT), ...endIf(0, ALLOW), ...endIf(PID_MARK, ALLOW), give(DENY)]),
    ...onCall(asked.fcntl, deniedArguments(FCNTL_DENIED)),
    ...onCall(asked.ioctl, deniedArguments(IOCTL_DENIED)),
    ...unknown.flatMap((number) => endIf(number, NOT_THERE)),
    ...denied.flatMap((number) => endIf(number, DENY)),
    give(ALLOW),
  ]);
};
