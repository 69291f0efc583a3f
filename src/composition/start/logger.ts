import { pino, type Logger } from 'pino';
import { ownRedactor, type Config } from '../../config.ts';
import { REDACTED, SECRET_MEMBERS } from '../../redact.ts';

/**
 * The log on standard output: a line of JSON each. Secrets are kept out twice: by the member that would
 * carry them, and, whatever carries them, by the values that the environment has.
 */
export const openLogger = ({ logLevel }: Pick<Config, 'logLevel'>): Logger => {
  const redact = ownRedactor();
  const out = pino.destination({ fd: 1, sync: true });
  const options = { level: logLevel, redact: { paths: [...SECRET_MEMBERS], censor: REDACTED }, base: null };
  return pino(options, { write: (line) => out.write(redact(line)) });
};
