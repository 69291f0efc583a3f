import type { Finding } from '../../audit/findings.ts';
import { damageIn } from '../../backup/damage.ts';
import type { CheckedBackup } from '../../backup/checkBackup.ts';
import type { Manifest, MissingObject } from '../../backup/manifest.ts';
import { OperatorError } from '../../operator/protocol.ts';
import { grouped } from '../output.ts';

const SHOWN = 20;
const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** A size as a person reads it. */
const sizeText = (bytes: number): string => {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power] ?? ''}`;
};

/** What a backup is, in two lines. */
export const backupText = (folder: string, { made_at, log, objects, files }: Manifest): string => {
  const size = sizeText(files.reduce((sum, { bytes }) => sum + bytes, 0));
  const kept = objects === null ? 'objects are in S3 and not in it' : `${grouped(objects.count)} objects`;
  return (
    `${folder}: backup of ${made_at}, ${size}\n` +
    `log up to position ${log.position ?? '- (empty)'}: ${grouped(log.events)} events in ` +
    `${grouped(log.streams)} streams; ${kept}\n`
  );
};

const ENCRYPTION_SECRET = 'data/encryption-secret';

/** What opens the secrets that a backup holds, and what is lost without it. */
export const keyText = ({ files }: Pick<Manifest, 'files'>): string => {
  const lost =
    'without it own keys of saved configs have to be published again, secrets of webhooks to be rotated, and ' +
    'work that waits with an own key or a password fails';
  return files.some(({ path }) => path === ENCRYPTION_SECRET)
    ? 'The backup holds encryption-secret, the key that the service made itself: it opens secrets of webhooks and of ' +
        `work that waits, so keep the backup private. What FIELD_ENCRYPTION_KEY sealed needs that key: ${lost}.\n`
    : `The backup does not hold the key that sealed the secrets in it, FIELD_ENCRYPTION_KEY: ${lost}.\n`;
};

const listed = (lines: readonly string[]): string => {
  const more = lines.length - SHOWN;
  const shown = lines.slice(0, SHOWN).map((line) => `  ${line}\n`);
  return `${shown.join('')}${more > 0 ? `  … and ${grouped(more)} more\n` : ''}`;
};

/** Objects that are not there, and what that means; empty when all are. */
export const missingText = (missing: readonly MissingObject[]): string =>
  missing.length === 0
    ? ''
    : `${grouped(missing.length)} objects that events refer to were missing or changed in the data folder:\n${listed(
        missing.map(({ key, why, stream }) => `${key}: ${why} (${stream})`),
      )}`;

const placed = ({ message, stream, revision, position }: Finding): string => {
  const at = position === undefined ? '' : `, position ${position}`;
  return `${message}${stream === undefined ? '' : ` (${stream} revision ${revision ?? '-'}${at})`}`;
};

/** What is wrong with an audited log, in one sentence; undefined when nothing is. `what`: the log, as it is called. */
export const logComplaint = (
  what: string,
  total: number,
  findings: readonly Finding[],
): string | undefined => {
  const [first] = damageIn(findings);
  if (first !== undefined) {
    const { stream, revision, position } = first;
    const where =
      stream === undefined
        ? ''
        : `, first in ${stream} at revision ${revision ?? '-'}, position ${position ?? '-'}`;
    return `${what} is damaged${where}: see above.`;
  }
  if (total === 0) return undefined;
  return `${what} is whole, and its audit has ${grouped(total)} findings: see above, and docs/how-to/audit.md.`;
};

/** What the audit of the log found; empty when nothing is wrong. */
export const findingsText = (total: number, findings: readonly Finding[]): string =>
  total === 0
    ? ''
    : `The audit of the log found ${grouped(total)} things that are wrong; ` +
      `\`quire audit --log-only\` shows all:\n${listed(findings.map(placed))}`;

/** The backup, when it is whole. Throws OperatorError with all that is wrong with it. */
export const wholeOrRefuse = (
  folder: string,
  checked: CheckedBackup,
): Extract<CheckedBackup, { kind: 'whole' }> => {
  if (checked.kind === 'whole') return checked;
  throw new OperatorError(`${folder} is not a whole backup:\n${listed(checked.complaints).trimEnd()}`);
};
