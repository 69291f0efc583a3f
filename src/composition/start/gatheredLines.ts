/** Longer texts are written before the turn ends. */
const CHARS_MAX = 65_536;

/** Lines on their way to where they are written. */
interface GatheredLines {
  readonly add: (line: string) => void;
  /** Writes what was gathered. */
  readonly flush: () => void;
}

/**
 * Gathers the lines of one turn of the event loop and writes them at once: the call that writes a line costs a
 * seventh of a small request. A process that is killed loses the lines of its last turn, and no more.
 */
export const gatheredLines = (write: (text: string) => void): GatheredLines => {
  let gathered = '';
  const flush = (): void => {
    const text = gathered;
    gathered = '';
    if (text !== '') write(text);
  };
  return {
    add: (line) => {
      if (gathered === '') setImmediate(flush);
      gathered += line;
      if (gathered.length >= CHARS_MAX) flush();
    },
    flush,
  };
};
