import type { WriteStream } from 'node:tty';

/** What a text is, and so which colour it has. */
export type Tone = 'heading' | 'good' | 'warning' | 'bad';

export type Paint = (tone: Tone, text: string) => string;

/** SGR codes: the first begins, the second ends. */
const CODES: Readonly<Record<Tone, readonly [number, number]>> = {
  heading: [1, 22],
  good: [32, 39],
  warning: [33, 39],
  bad: [31, 39],
};

export const plain: Paint = (_, text) => text;

const coloured: Paint = (tone, text) => {
  const [begin, end] = CODES[tone];
  return `\u001b[${String(begin)}m${text}\u001b[${String(end)}m`;
};

export const NO_COLOUR = '--no-color';

/** Colours on a terminal that has them, unless NO_COLOR is set, TERM is `dumb`, or `--no-color` is given. */
export const paintOn = (
  stream: Pick<WriteStream, 'isTTY' | 'hasColors'>,
  args: readonly string[] = process.argv,
): Paint => (stream.isTTY && stream.hasColors() && !args.includes(NO_COLOUR) ? coloured : plain);
