import type { JsonObject } from '../../../domain/kernel/json.ts';
import { hashVersionOf } from '../../../domain/kernel/chain.ts';
import { accountOf, recordedAt, type AuditedEvent, type AuditedEventOf } from '../log/auditedEvent.ts';
import { wrong } from '../findings.ts';
import type { Books } from './accountBooks.ts';

export type Effect = AuditedEventOf<'CreditsGranted' | 'CreditsRefunded'>;
type Claimed = AuditedEventOf<'PaymentClaimed'>;

/** What a payment was claimed for, as far as the claim says it. */
export interface Intent {
  readonly type: string;
  readonly data: JsonObject;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The command that a claim keeps; undefined where it keeps none, as earlier releases could. */
export const intentOf = ({ data }: Claimed): Intent | undefined => {
  const { type, data: members } = data.intent as Readonly<Record<string, unknown>>;
  return typeof type === 'string' && isObject(members) ? { type, data: members } : undefined;
};

/** Members of a refund's command that name its sale; the event has the sale's grant instead. */
const ORIGINAL = ['original_provider', 'original_provider_txn_id'];

const COMMANDS = { CreditsGranted: 'GrantCredits', CreditsRefunded: 'RefundCredits' } as const;

/** A member in which an effect is not what was claimed. */
interface Difference {
  readonly member: string;
  readonly claimed: string;
  readonly found: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What a refund leaves open (null) follows from its sale. `grantOf` gives the grant of a payment. */
const expectedOf = (
  event: Effect,
  { data }: Intent,
  grantOf: (payment: { readonly provider: string; readonly provider_txn_id: string }) => string | undefined,
): Readonly<Record<string, unknown>> => {
  const { original_provider, original_provider_txn_id, ...members } = data;
  const { tenant_id: _, ...said } = members;
  if (event.type === 'CreditsGranted') return said;
  const stated = Object.entries(said).filter(([, value]) => value !== null);
  const grant_id = grantOf({
    provider: text(original_provider),
    provider_txn_id: text(original_provider_txn_id),
  });
  // A reason that was not given stays null, it does not follow from the sale.
  return { ...Object.fromEntries(stated), reason: said['reason'] ?? null, grant_id };
};

/** In what an effect differs from the command it was claimed for; empty: in nothing. */
export const differencesFrom = (
  event: Effect,
  intent: Intent,
  grantOf: Parameters<typeof expectedOf>[2],
): readonly Difference[] => {
  if (intent.type !== COMMANDS[event.type])
    return [{ member: 'command', claimed: intent.type, found: COMMANDS[event.type] }];
  const actual = event.data as Readonly<Record<string, unknown>>;
  const tenant = {
    member: 'tenant_id',
    claimed: text(intent.data['tenant_id']),
    found: accountOf(event.stream) ?? '',
  };
  const members = Object.entries(expectedOf(event, intent, grantOf)).map(([member, value]) => ({
    member,
    claimed: text(value ?? null),
    found: text(actual[member] ?? null),
  }));
  return [tenant, ...members].filter(
    ({ member, claimed, found }) => claimed !== found && !ORIGINAL.includes(member),
  );
};

/** How long after its recording a movement may say that it was made, where its release did not say both alike. */
const LEASE_MS = 5 * 60_000;

/** The time at which a command was given, as an event of an account repeats it. */
const givenAt = (event: AuditedEvent): string | undefined => {
  if (accountOf(event.stream) === undefined) return undefined;
  const { data } = event;
  if ('created_at' in data) return data.created_at;
  if ('set_at' in data) return data.set_at;
  return 'released_at' in data ? data.released_at : undefined;
};

/**
 * A movement says when it was made: that is when it was recorded. Since hash version 2 the two are one time;
 * before, up to the lease apart.
 */
export const checkMoment = (books: Pick<Books, 'findings'>, event: AuditedEvent): void => {
  const at = givenAt(event);
  if (at === undefined) return;
  books.findings.checked('time');
  const recorded = recordedAt(event);
  if (at === recorded) return;
  const apart = Math.abs(Date.parse(at) - Date.parse(recorded));
  if (apart <= (hashVersionOf(event) === 1 ? LEASE_MS : 0)) return;
  wrong(books.findings, 'time', event)('It was recorded at another time than it was made.', recorded, at);
};
