import { digestText } from './digestText.ts';

/** What a caller gave a synchronous request to be known by: whichever route it takes, it is the same work. */
interface WorkIdentity {
  readonly tenant_id: string;
  readonly kind: string;
  readonly idempotency_key: string;
  /** Counts uses of the key: after a day, or after the work failed, it names other work. */
  readonly generation: number;
}

/** The same request always names the same work, so it is billed once, whoever does it, and however often. */
export const workIdFor = (
  prefix: string,
  { tenant_id, kind, idempotency_key, generation }: WorkIdentity,
): string =>
  `${prefix}_${digestText(['work', tenant_id, kind, idempotency_key, String(generation)].join('\u001f'))}`;

/** Everything after the first `_`. */
export const suffixOf = (id: string): string => id.replace(/^[a-z]+_/, '');

/** Characters of a request's digest that its hold carries. */
const PRINT_CHARACTERS = 12;

/**
 * The hold of work that has an identity. Another request under the same identity would place another hold, which the
 * account refuses: of two at once one is told that the key belongs to another request.
 */
export const holdIdFor = (workId: string, fingerprint: string): string =>
  `hold_${workId}${fingerprint === '' ? '' : `_${fingerprint.slice(0, PRINT_CHARACTERS)}`}`;
