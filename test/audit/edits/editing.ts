import type { Json, JsonObject } from '../../../domain/kernel/json.ts';
import { RICH } from '../auditedHistory.ts';
import type { Intruder, StoredEvent } from '../tampering.ts';
import type { Check } from '../../../src/audit/findings.ts';

/**
 * What finds an edit: the audit by itself, only a seal that was made before, or neither. `unsealed`: it is among the
 * events that the audit says no seal covers.
 */
export type FoundBy = 'audit' | 'seal' | 'unsealed' | 'neither';

/** Something that was done to a log after it was sealed. */
export interface Edit {
  readonly name: string;
  readonly foundBy: FoundBy;
  /** The check that finds it; left out: any. */
  readonly check?: Check;
  readonly make: (intruder: Intruder) => void;
}

export const ACCOUNT = `account-${RICH}`;

export type Change = (value: JsonObject) => JsonObject;

export const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject;
export const same: Change = (value) => value;

/** Changes an event and makes its stream's chain and the file's digests fit again. */
export const change = (
  intruder: Intruder,
  event: StoredEvent,
  { data = same, metadata = same }: { readonly data?: Change; readonly metadata?: Change },
): void => {
  const texts = [JSON.stringify(data(parsed(event.data))), JSON.stringify(metadata(parsed(event.metadata)))];
  if (texts[0] === event.data && texts[1] === event.metadata)
    throw new Error(`nothing changed: ${event.data}`);
  intruder.run('update events set data = ?, metadata = ? where position = ?', ...texts, event.position);
  intruder.rechain(event.stream);
};

/** Sets members of the first event of a type that fits. */
export const set =
  (type: string, members: JsonObject | Change, like = '%') =>
  (intruder: Intruder): void => {
    const [event] = intruder.all(`type = '${type}' and data like '${like}' order by position limit 1`);
    if (event === undefined) throw new Error(`no ${type} like ${like}`);
    change(intruder, event, {
      data: typeof members === 'function' ? members : (data) => ({ ...data, ...members }),
    });
  };

export const setMeta =
  (type: string, members: Change) =>
  (intruder: Intruder): void =>
    change(intruder, intruder.first(type), { metadata: members });

export const text =
  (column: 'data' | 'metadata', type: string, edit: (text: string) => string) =>
  ({ first, run }: Intruder): void => {
    const event = first(type);
    const after = edit(event[column]);
    if (after === event[column]) throw new Error(`nothing to edit in ${type}`);
    run(`update events set ${column} = ? where position = ?`, after, event.position);
  };

/** Numbers revisions and positions anew without gaps, and makes all chains fit. */
export const closeUp = (intruder: Intruder): void => {
  const next = new Map<string, number>();
  let position = 0;
  for (const event of intruder.all('1 = 1 order by position')) {
    position += 1;
    const revision = next.get(event.stream) ?? 0;
    next.set(event.stream, revision + 1);
    const sql = 'update events set position = ?, revision = ? where position = ?';
    intruder.run(sql, position, revision, event.position);
  }
  for (const stream of next.keys()) intruder.rechain(stream);
};

/** Makes every balance of an account follow from what is there. */
export const rebalance = (intruder: Intruder, stream: string): void => {
  let balance = 0;
  for (const event of intruder.all(`stream = '${stream}' order by revision`)) {
    const data = parsed(event.data);
    if (!('balance_after' in data)) continue;
    const minus = ['CreditsRefunded', 'CreditsTransferredOut', 'CreditsBurned'].includes(event.type);
    balance += (minus ? -1 : 1) * Number(data['credits']);
    const after = JSON.stringify({ ...data, balance_after: balance });
    intruder.run('update events set data = ? where position = ?', after, event.position);
  }
  intruder.rechain(stream);
};

/** Lets two rows change places; each keeps its stream and revision. */
export const swapPositions = ({ run }: Intruder, a: StoredEvent, b: StoredEvent): void => {
  const move = 'update events set position = ? where position = ?';
  run(move, -1, a.position);
  run(move, a.position, b.position);
  run(move, b.position, -1);
};

/** The last two neighbours that belong to two tenants: no rule says which was first. */
export const twoTenants = ({ all }: Intruder): readonly [StoredEvent, StoredEvent] => {
  const events = all('1 = 1 order by position desc');
  const tenant = (event: StoredEvent) => parsed(event.metadata)['tenant_id'] ?? null;
  for (const [n, after] of events.entries()) {
    const before = events[n + 1];
    if (before === undefined || tenant(before) === null || tenant(after) === null) continue;
    if (tenant(before) !== tenant(after)) return [before, after];
  }
  throw new Error('no two tenants are neighbours');
};

export const at = (value: Json | undefined, ms: number): string =>
  new Date(Date.parse(value as string) + ms).toISOString();

/** The last posting of the account, as a forger would go on from it. */
export const forgeAdjustment = ({ all, forge, first }: Intruder): void => {
  const [last] = all(`stream = '${ACCOUNT}' and data like '%balance_after%' order by revision desc limit 1`);
  const recorded = parsed(all(`stream = '${ACCOUNT}' order by revision desc limit 1`)[0]?.metadata ?? '{}');
  const balance = Number(parsed(last?.data ?? '{}')['balance_after']);
  forge(ACCOUNT, 'CreditsAdjusted', {
    ...parsed(first('CreditsAdjusted').data),
    adjustment_id: 'adj_forged',
    idempotency_key: null,
    credits: 5_000,
    created_at: recorded['recorded_at'] ?? '',
    balance_after: balance + 5_000,
  });
};

export const dropTail = (intruder: Intruder, from: number): void =>
  intruder.run('delete from events where position >= ?', from);

export const positionOfLast = ({ all }: Intruder): number =>
  all('1 = 1 order by position desc limit 1')[0]?.position ?? 0;

export const paidSale = '%"gross_amount_minor":2000%';

/** Takes events out and makes all that is left fit: revisions, positions, balances, hashes, IDs and digests. */
export const takeOut = (intruder: Intruder, gone: readonly StoredEvent[]): void => {
  for (const { position } of gone) intruder.run('delete from events where position = ?', position);
  closeUp(intruder);
  rebalance(intruder, ACCOUNT);
};

/** A refund that was not undone, with the claim that it was made for. */
export const refundAndClaim = ({ all }: Intruder): readonly StoredEvent[] => {
  const [refund] = all(`stream = '${ACCOUNT}' and type = 'CreditsRefunded' order by position desc limit 1`);
  if (refund === undefined) throw new Error('no refund');
  const txn = parsed(refund.data)['provider_txn_id'] as string;
  return [refund, ...all(`type = 'PaymentClaimed' and data like '%"provider_txn_id":"${txn}"%'`)];
};

/** Changes a sale and, alike, the claim that it was made for. */
export const saleAndClaim = (intruder: Intruder): void => {
  const fee = { provider_fee_minor: 17 };
  set('CreditsGranted', fee, paidSale)(intruder);
  const ofClaim: Change = (data) => {
    const intent = data['intent'] as JsonObject;
    return { ...data, intent: { ...intent, data: { ...(intent['data'] as JsonObject), ...fee } } };
  };
  set('PaymentClaimed', ofClaim, paidSale)(intruder);
};
