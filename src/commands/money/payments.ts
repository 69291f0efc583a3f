import { type AnyEvent, decodeAny } from '../../../domain/catalogue.ts';
import { account, type AccountKind } from '../../../domain/account/account.ts';
import {
  accountStream,
  type PaymentIdentity,
  paymentKey,
  paymentStream,
} from '../../../domain/account/messages.ts';
import { paymentAt } from '../../../domain/account/state.ts';
import type { PaymentClaim } from '../../../domain/payment.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';
import { accountCodec, type AccountWriter, askAccount } from '../../writer/accountWriter.ts';
import { stateIn } from '../../writer/streamFold.ts';
import {
  afterFailure,
  asOfNow,
  claimAt,
  type Claimed,
  claimFor,
  derivedMeta,
  finishAs,
  type Finished,
  finishFor,
  intentOf,
  keepClaim,
  type OperatorRelease,
  type PaymentIntent,
  paymentParts,
  type PaymentParts,
  type PaymentsDeps,
  rehearsed,
  release,
  releaseStranded,
  type Stuck,
  tookEffect,
  whyStuck,
} from './paymentClaims.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { CONTENDED, type Outcome, UNKNOWN } from '../../writer/decideBatch.ts';

/** A payment identity that is claimed and came to nothing yet. */
export interface OpenClaim {
  readonly stream: string;
  readonly provider: string;
  readonly provider_txn_id: string;
  readonly tenant_id: string;
  readonly kind: PaymentClaim['kind'];
  readonly claimed_at: string;
  /** The command that it was claimed for, as far as it can be read. */
  readonly credits: number | null;
  /** Why the service does not end it by itself; null: it does, within a minute or two. */
  readonly stuck: Stuck['why'] | null;
}

const hasEffect = async (store: EventStore, claim: PaymentClaim): Promise<boolean> => {
  const { tenant_id: tenantId } = claim;
  const state = await stateIn(store, accountStream(tenantId), { ...account, codec: accountCodec });
  return (await askAccount(store, { tenantId, state }, (of) => tookEffect(of, claim))).answer;
};

/** The claim of a payment stream, if it is open. */
export const openClaimAt = async (store: EventStore, stream: string): Promise<OpenClaim | undefined> => {
  const claim = await claimAt(store, stream);
  if (claim === undefined || (await hasEffect(store, claim))) return undefined;
  const { provider, provider_txn_id, tenant_id, kind, claimed_at, intent } = claim;
  const credits = intent.type === 'Unreadable' ? null : intent.data.credits;
  const stuck = (await whyStuck(store, claim)) ?? null;
  return { stream, provider, provider_txn_id, tenant_id, kind, claimed_at, credits, stuck };
};

/** What a payment came to, and whose it is. */
export type BookedPayment = NonNullable<ReturnType<typeof paymentAt>> & { readonly tenant_id: string };

/**
 * The sale, refund or reversal under a payment identity, by the log alone; undefined: there is none, or it is claimed
 * and not booked. Throws `AccountUnavailable`.
 */
export const paymentNamed =
  ({ store, accounts }: { readonly store: EventStore; readonly accounts: Pick<AccountWriter, 'ask'> }) =>
  async (identity: PaymentIdentity): Promise<BookedPayment | undefined> => {
    const claim = await claimAt(store, paymentStream(identity));
    if (claim === undefined) return undefined;
    const { tenant_id } = claim;
    const { answer } = await accounts.ask(tenant_id, (state) => paymentAt(state, paymentKey(identity)), 0);
    return answer && { tenant_id, ...answer };
  };

/** Payment streams of a log that may have an open claim, by its events alone. */
export const maybeOpenStreams = async (events: AsyncIterable<RecordedEvent>): Promise<readonly string[]> => {
  const open = new Set<string>();
  for await (const recorded of events) {
    if (!MOVES.has(recorded.type)) continue;
    const event = decodeAny(recorded);
    if (event.type === 'PaymentClaimed' && event.data.again !== true) open.add(recorded.stream);
    else if (event.type === 'PaymentReleased') open.delete(recorded.stream);
    else if (isEffect(event)) open.delete(paymentStream(event.data));
  }
  return [...open];
};

const EFFECTS = ['CreditsGranted', 'CreditsRefunded', 'RefundReversed'] as const;
const MOVES: ReadonlySet<string> = new Set(['PaymentClaimed', 'PaymentReleased', ...EFFECTS]);

type Effect = Extract<AnyEvent, { readonly type: (typeof EFFECTS)[number] }>;
const isEffect = (event: AnyEvent): event is Effect => EFFECTS.some((type) => type === event.type);

export type { PaymentsDeps } from './paymentClaims.ts';

/** `credited`: this very request moved the balance; false for a repeat and for whatever did not. */
export interface PaymentResult {
  readonly outcome: Outcome<AccountKind>;
  readonly credited: boolean;
}

/** Sales, refunds and their reversals: claimed for all tenants first, then decided by the account. */
export interface Payments {
  sellCredits(command: Extract<PaymentIntent, { type: 'GrantCredits' }>): Promise<PaymentResult>;
  refundCredits(command: Extract<PaymentIntent, { type: 'RefundCredits' }>): Promise<PaymentResult>;
  reverseRefund(command: Extract<PaymentIntent, { type: 'ReverseRefund' }>): Promise<PaymentResult>;
  /** Does what a claim was made for, as of `now`, or frees it. undefined: nothing is claimed there. */
  finishClaim(stream: string, now: string): Promise<Finished | undefined>;
  /** Frees a claim that an operator gave up. */
  releaseClaim(
    stream: string,
    given: { readonly reason: string; readonly meta: CommandMeta },
  ): Promise<OperatorRelease>;
}

/** Rounds of claim, find an unfinished claim, finish it. */
const ROUNDS_MAX = 4;

export const payments = (deps: PaymentsDeps): Payments => {
  const parts = paymentParts(deps);
  const pay = (command: PaymentIntent) => {
    const stream = paymentStream(command.data);
    return parts.queue.run(stream, () => claimThenAct(parts, stream, command));
  };
  return {
    sellCredits: pay,
    refundCredits: pay,
    reverseRefund: pay,
    finishClaim: (stream, now) =>
      parts.queue.run(stream, async () => {
        const claim = await claimAt(parts.store, stream);
        return claim === undefined ? undefined : finishFor(parts, { stream, claim }, now);
      }),
    releaseClaim: (stream, given) => parts.queue.run(stream, () => releaseStranded(parts, stream, given)),
  };
};

const notCredited = (outcome: Outcome<AccountKind>): PaymentResult => ({ outcome, credited: false });

/**
 * Decided against the account first, and encoded: whatever can refuse a command does it here, where nothing
 * is claimed yet. Then the identity is claimed, and the claimed command appended. After the claim there are
 * three ends: done; refused, once the claim is released; unknown, for a retry or the sweeper to finish.
 */
const claimThenAct = async (
  parts: PaymentParts,
  stream: string,
  command: PaymentIntent,
): Promise<PaymentResult> => {
  let freed: Claimed | undefined;
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const early = await rehearsed(parts, command);
    if (early !== undefined) {
      const result = await endedEarly(parts, stream, { command, early, freed });
      if (result !== 'again') return result;
      continue;
    }
    const meta = derivedMeta(command.meta, `claim ${command.meta.now} ${String(round)}`);
    const claimed = await parts.handle(stream, { type: 'ClaimPayment', data: claimFor(command), meta });
    const { kind } = claimed;
    if (kind !== 'done' && kind !== 'rejected') return notCredited(claimed);
    const { claim } = claimed.state;
    if (claim === null) continue;
    const of = { stream, claim };
    const result = await ended(parts, of, { command, claimed });
    if (result !== 'again') return result;
    freed = kind === 'done' ? of : undefined;
  }
  return notCredited(CONTENDED);
};

interface Early {
  readonly command: PaymentIntent;
  readonly early: Outcome<AccountKind>;
  /** The identity claimed for this command, and no longer. */
  readonly freed: Claimed | undefined;
}

/**
 * The account has nothing to do. A no is answered only when no claim of the same payment is left that the
 * sweeper would finish: an earlier request may have been cut short.
 */
const endedEarly = async (
  parts: PaymentParts,
  stream: string,
  { command, early, freed }: Early,
): Promise<PaymentResult | 'again'> => {
  if (early.kind === 'done' && freed !== undefined) await keepClaim(parts, freed, command);
  if (early.kind !== 'rejected') return notCredited(early);
  const claim = await claimAt(parts.store, stream);
  const { tenant_id, fingerprint } = command.data;
  const isSame = claim?.tenant_id === tenant_id && claim.fingerprint === fingerprint;
  return isSame ? actOnSame(parts, { stream, claim }, command) : notCredited(early);
};

interface Ended {
  readonly command: PaymentIntent;
  readonly claimed: Extract<Awaited<ReturnType<PaymentParts['handle']>>, { kind: 'done' | 'rejected' }>;
}

/** What becomes of a claim that stands. `again`: it was freed, and the account is asked once more. */
const ended = (
  parts: PaymentParts,
  of: Claimed,
  { command, claimed }: Ended,
): Promise<PaymentResult | 'again'> => {
  if (claimed.kind === 'rejected') return afterAnother(parts, of, command);
  return claimed.events.length > 0 ? actOnOwn(parts, of, command) : actOnSame(parts, of, command);
};

/** The claim belongs to another payload. One that never took effect is freed by trying it again. */
const afterAnother = async (
  parts: PaymentParts,
  of: Claimed,
  command: PaymentIntent,
): Promise<PaymentResult | 'again'> => {
  const finished = await finishFor(parts, of, command.meta.now);
  switch (finished.kind) {
    case 'rejected':
      return 'again';
    case 'done':
    case 'stuck':
      return reused(parts, of, command);
    default:
      return notCredited(finished);
  }
};

const reused = async (
  { writer }: PaymentParts,
  { claim }: Claimed,
  { data: { tenant_id } }: PaymentIntent,
): Promise<PaymentResult> => {
  const state = await writer.stateOf(tenant_id);
  const members = claim.tenant_id === tenant_id ? {} : { members: ['tenant_id'] };
  return notCredited({ kind: 'rejected', rejection: { code: 'idempotency_key_reused', ...members }, state });
};

/**
 * Somebody claimed the same before: another request at the same time, or one that a crash cut short. Its
 * claimed command counts, prices and IDs included; one that cannot be read is replaced by this one.
 */
const actOnSame = async (
  parts: PaymentParts,
  of: Claimed,
  command: PaymentIntent,
): Promise<PaymentResult | 'again'> => {
  const intent = { ...(intentOf(of.claim) ?? command), meta: command.meta } as PaymentIntent;
  const outcome = await finishAs(parts, of, intent);
  if (outcome.kind === 'rejected') return 'again';
  return { outcome, credited: outcome.kind === 'done' && outcome.events.length > 0 };
};

/** Executes what this request has just claimed, through the account's writer. */
const actOnOwn = async (
  parts: PaymentParts,
  of: Claimed,
  command: PaymentIntent,
): Promise<PaymentResult | 'again'> => {
  let outcome: Outcome<AccountKind>;
  try {
    outcome = await parts.writer.execute(asOfNow(parts, of, command));
  } catch (error) {
    const known = await afterFailure(parts, of, { command, error });
    if (known === undefined) throw error;
    return notCredited(known);
  }
  if (outcome.kind === 'done' && outcome.events.length > 0) await keepClaim(parts, of, command);
  if (outcome.kind !== 'rejected')
    return { outcome, credited: outcome.kind === 'done' && outcome.events.length > 0 };
  const { code: reason } = outcome.rejection;
  return (await release(parts, of, { reason, meta: command.meta })) ? 'again' : notCredited(UNKNOWN);
};
