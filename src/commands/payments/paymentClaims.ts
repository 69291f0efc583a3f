import { accountStream, type GrantCredits, type RefundCredits } from '../../../domain/account/messages.ts';
import { account, type AccountKind } from '../../../domain/account/account.ts';
import type { AccountState } from '../../../domain/account/state.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { deterministicEventId } from '../../../domain/kernel/chain.ts';
import {
  type ClaimPayment,
  payment,
  type PaymentClaim,
  paymentCodec,
  type PaymentCommand,
  type PaymentKind,
} from '../../../domain/payment.ts';
import type { Clock, EventStore } from '../../../domain/ports/log.ts';
import { accountCodec, AccountUnavailable, type AccountWriter } from '../writer/accountWriter.ts';
import { claimAt } from './claimantOf.ts';
import { commandHandler, type CommandHandler, type HandlerOptions } from '../writer/commandHandler.ts';
import { decideBatch } from '../writer/decideBatch.ts';
import { keyedQueue, type KeyedQueue } from './keyedQueue.ts';
import { BUSY, type Outcome } from '../writer/outcome.ts';

export interface PaymentsDeps {
  readonly store: EventStore;
  readonly writer: AccountWriter;
  /** For when each part of a payment is recorded, maybe long after its request; left out: as its command says. */
  readonly clock?: Pick<Clock, 'now'>;
  readonly options?: HandlerOptions;
  /** Two tenants hold one payment: what no rule allows, and an operator must see. */
  readonly onDoubleClaim?: (stream: string) => void;
}

/** What a payment identity is claimed for. */
export type PaymentIntent = GrantCredits | RefundCredits;

export interface PaymentParts extends PaymentsDeps {
  readonly handle: CommandHandler<PaymentKind>;
  readonly queue: KeyedQueue;
}

export const paymentParts = (deps: PaymentsDeps): PaymentParts => {
  const { store, clock, options = {} } = deps;
  const tenantOf = (command: PaymentCommand) =>
    command.type === 'ClaimPayment' ? command.data.tenant_id : null;
  const asAsked = commandHandler({ decider: payment, codec: paymentCodec, store, tenantOf, options });
  const handle: typeof asAsked = (stream, command) =>
    asAsked(stream, { ...command, meta: { ...command.meta, now: clock?.now() ?? command.meta.now } });
  return { ...deps, handle, queue: keyedQueue() };
};

/** A claim and the stream that it stands in. */
export interface Claimed {
  readonly stream: string;
  readonly claim: PaymentClaim;
}

/** The command as of its being carried out; not before its claim, which another process's clock may have timed. */
export const asOfNow = (
  { clock }: Pick<PaymentsDeps, 'clock'>,
  { claim: { claimed_at } }: Claimed,
  command: PaymentIntent,
): PaymentIntent => {
  if (clock === undefined) return command;
  const now = clock.now();
  return { ...command, meta: { ...command.meta, now: now < claimed_at ? claimed_at : now } };
};

/**
 * What the account at the log's end would make of the command, its events encoded as they would be stored:
 * a rejection or a repeat. undefined: something would happen. Throws what would fail.
 */
export const rehearsed = async (
  { writer }: Pick<PaymentParts, 'writer'>,
  command: PaymentIntent,
): Promise<Outcome<AccountKind> | undefined> => {
  const { tenant_id: tenantId } = command.data;
  const state = await stateNow(writer, tenantId);
  if (state === undefined) return BUSY;
  const encoding = { stream: accountStream(tenantId), tenantId, codec: accountCodec };
  const from = { state, revision: 'no_stream', hash: null, position: undefined } as const;
  const batch = decideBatch({ decider: account, encoding, isKnown: () => false }, from, [command]);
  const [verdict] = batch.verdicts;
  if (verdict === undefined) throw new Error('a payment was not decided');
  if (verdict.kind === 'failed') throw verdict.error;
  if (verdict.kind === 'rejected') return verdict;
  return verdict.events.length > 0 ? undefined : { ...verdict, position: undefined };
};

/** undefined while the log cannot be read. */
export const stateNow = async (
  writer: AccountWriter,
  tenantId: string,
): Promise<AccountState | undefined> => {
  try {
    return await writer.stateOf(tenantId, 0);
  } catch (error) {
    if (error instanceof AccountUnavailable) return undefined;
    throw error;
  }
};

/** The data of a claim for a command. */
export const claimFor = (command: PaymentIntent): ClaimPayment['data'] => {
  const { tenant_id, provider, provider_txn_id, fingerprint } = command.data;
  const kind = command.type === 'GrantCredits' ? 'sale' : 'refund';
  return { tenant_id, provider, provider_txn_id, fingerprint, kind, intent: command };
};

/** Each part of a payment is a command of its own, with an ID that a repetition derives again. */
export const derivedMeta = (meta: CommandMeta, part: string): CommandMeta => ({
  ...meta,
  command_id: deterministicEventId(part, meta.command_id, 0),
});

/** The claimed command; undefined where it cannot be read. */
export const intentOf = ({ intent }: Pick<PaymentClaim, 'intent'>): PaymentIntent | undefined => {
  if (intent.type === 'Unreadable') return undefined;
  const { now, actor, correlation_id, command_id } = intent.meta;
  return { ...intent, meta: { now, actor, correlation_id, command_id } };
};

interface ReleaseGiven {
  readonly reason: string;
  readonly meta: CommandMeta;
  readonly released_by?: 'operator';
}

/** Frees the identity; false when it cannot be said that it is free. Then nobody may be told no. */
export const release = async (
  { handle }: Pick<PaymentParts, 'handle'>,
  { stream, claim }: Claimed,
  { meta, ...why }: ReleaseGiven,
): Promise<boolean> => {
  const released = await handle(stream, {
    type: 'ReleasePayment',
    data: { fingerprint: claim.fingerprint, ...why },
    meta: derivedMeta(meta, `release ${claim.claimed_at} ${meta.now}`),
  });
  return released.kind === 'done';
};

/**
 * Between a claim being read and its command taking effect, another process may have tried the same claim,
 * been rejected and freed it. It is taken again, since it took effect after all.
 */
export const keepClaim = async (
  parts: Pick<PaymentParts, 'store' | 'handle' | 'onDoubleClaim'>,
  { stream, claim }: Claimed,
  { meta }: Pick<PaymentIntent, 'meta'>,
): Promise<void> => {
  const now = await claimAt(parts.store, stream);
  const { tenant_id, kind, fingerprint, provider, provider_txn_id, intent } = claim;
  if (now?.tenant_id === tenant_id && now.fingerprint === fingerprint) return;
  const data = { tenant_id, kind, fingerprint, provider, provider_txn_id, intent, again: true } as const;
  const again = await parts.handle(stream, {
    type: 'ClaimPayment',
    data,
    meta: derivedMeta(meta, `claim again ${meta.now}`),
  });
  if (again.kind === 'rejected') parts.onDoubleClaim?.(stream);
};
