import { pino, type Logger } from 'pino';
import { ownRedactor, type Config } from '../../config.ts';
import { REDACTED, SECRET_MEMBERS } from '../../redact.ts';
import { gatheredLines, type GatheredLines } from './gatheredLines.ts';

const WARN = pino.levels.values['warn'] ?? 0;

let out: GatheredLines | undefined;

/** Standard output, of which a process has one. */
const standardOutput = (): GatheredLines => {
  if (out !== undefined) return out;
  const file = pino.destination({ fd: 1, sync: true });
  out = gatheredLines((text) => file.write(text));
  process.once('exit', out.flush);
  return out;
};

/**
 * The log on standard output: a line of JSON each. Secrets are kept out twice: by the member that would
 * carry them, and, whatever carries them, by the values that the environment has. Warnings and worse are written
 * at once, with what came before them.
 */
export const openLogger = ({ logLevel }: Pick<Config, 'logLevel'>): Logger => {
  const redact = ownRedactor();
  const options = { level: logLevel, redact: { paths: [...SECRET_MEMBERS], censor: REDACTED }, base: null };
  const { add, flush } = standardOutput();
  const destination = {
    // With this member a destination is told the level of each line.
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write: (line: string): void => {
      add(redact(line));
      if (destination.lastLevel >= WARN) flush();
    },
  };
  return pino(options, destination);
};
