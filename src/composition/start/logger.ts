import { pino, type Logger } from 'pino';
import { ownRedactor, type Config } from '../../config.ts';
import { REDACTED, SECRET_MEMBERS } from '../../redact.ts';
import { standardOutput } from './standardStreams.ts';

const WARN = pino.levels.values['warn'] ?? 0;

/**
 * The log on standard output: a line of JSON each. Secrets are kept out twice: by the member that would
 * carry them, and, whatever carries them, by the values that the environment has. Warnings and worse are written
 * at once, with what came before them.
 */
export const openLogger = ({ logLevel }: Pick<Config, 'logLevel'>): Logger => {
  const redact = ownRedactor();
  const options = { level: logLevel, redact: { paths: [...SECRET_MEMBERS], censor: REDACTED }, base: null };
  const { add, flush } = standardOutput;
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
