import type { GrantCredits, RefundCredits } from '../../domain/account/commands.ts';
import type { AccountState } from '../../domain/account/state.ts';
import { account } from '../../domain/account/decider.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import type { CommandMeta } from '../../domain/kernel/command.ts';
import { deterministicEventId } from '../../domain/kernel/eventId.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import {
  payment,
  type PaymentClaim,
  type PaymentCommand,
  type PaymentRejection,
  type PaymentState,
} from '../../domain/payment/decider.ts';
import { paymentEvent, type PaymentEvent } from '../../domain/payment/events.ts';
import { paymentStream } from '../../domain/payment/identity.ts';
import type { EventStore } from '../../domain/ports/eventStore.ts';
import { AccountUnavailable, type AccountOutcome, type AccountWriter } from './accountWriter.ts';
import { commandHandler, type CommandHandler, type HandlerOptions } from './commandHandler.ts';
import { keyedQueue, type KeyedQueue } from './keyedQueue.ts';
import { BUSY, CONTENDED, type Outcome } from './outcome.ts';

/** `credited`: this very request moved the balance; false for a repeat and for whatever did not. */
export interface PaymentResult {
  readonly outcome: AccountOutcome;
  readonly credited: boolean;
}

/** Sales and refunds: claimed for all tenants first, then decided by the account. */
export interface Payments {
  sellCredits(command: GrantCredits): Promise<PaymentResult>;
  refundCredits(command: RefundCredits): Promise<PaymentResult>;
  /** Does what a claim was made for, or frees it. undefined: nothing is claimed there. */
  finishClaim(stream: string): Promise<AccountOutcome | undefined>;
}

export interface PaymentsDeps {
  readonly store: EventStore;
  readonly writer: AccountWriter;
  readonly options?: HandlerOptions;
  /** Two tenants hold one payment: what no rule allows, and an operator must see. */
  readonly onDoubleClaim?: (stream: string) => void;
}

type PaymentIntent = GrantCredits | RefundCredits;
type PaymentOutcome = Outcome<PaymentState, PaymentEvent, PaymentRejection>;

interface Parts extends PaymentsDeps {
  readonly handle: CommandHandler<PaymentState, PaymentCommand, PaymentEvent, PaymentRejection>;
  readonly queue: KeyedQueue;
}

/** Rounds of claim, find an unfinished claim, finish it. */
const ROUNDS_MAX = 4;

export const payments = (deps: PaymentsDeps): Payments => {
  const { store, options = {} } = deps;
  const tenantOf = (command: PaymentCommand) =>
    command.type === 'ClaimPayment' ? command.data.tenant_id : null;
  const codec = eventCodec(paymentEvent);
  const handle = commandHandler({ decider: payment, codec, store, tenantOf, options });
  const parts = { ...deps, handle, queue: keyedQueue() };
  const pay = (command: PaymentIntent) => {
    const stream = paymentStream(command.data);
    return parts.queue.run(stream, () => claimThenAct(parts, stream, command));
  };
  return {
    sellCredits: pay,
    refundCredits: pay,
    finishClaim: (stream) =>
      parts.queue.run(stream, async () => {
        const claim = await claimAt(parts, stream);
        return claim === undefined ? undefined : (await act(parts, stream, claim)).outcome;
      }),
  };
};

/**
 * Decided against the account first: most rejections end here and claim nothing, and so does a repeat.
 * Only then the identity is claimed, and the claimed command appended.
 */
const claimThenAct = async (parts: Parts, stream: string, command: PaymentIntent): Promise<PaymentResult> => {
  const early = await decidedWithoutClaim(parts, command);
  if (early !== undefined) return { outcome: early, credited: false };
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const claimed = await parts.handle(stream, claimFor(command));
    if (claimed.kind === 'done') {
      const { claim } = claimed.state;
      if (claim !== null) return act(parts, stream, { ...claim, command_id: command.meta.command_id });
    } else if (claimed.kind !== 'rejected') return { outcome: claimed, credited: false };
    else if (!(await isFreed(parts, stream, claimed))) return reused(parts, command);
  }
  return { outcome: CONTENDED, credited: false };
};

/** A rejection or a repeat by the account as it stands in the log; undefined: something would happen. */
const decidedWithoutClaim = async (
  { writer }: Parts,
  command: PaymentIntent,
): Promise<AccountOutcome | undefined> => {
  const state = await stateNow(writer, command.data.tenant_id);
  if (state === undefined) return BUSY;
  const decision = account.decide(state, command);
  if (decision.kind === 'rejected') return { ...decision, state };
  if (decision.events.length > 0) return undefined;
  return { kind: 'done', events: [], state, position: undefined };
};

const stateNow = async (writer: AccountWriter, tenantId: string): Promise<AccountState | undefined> => {
  try {
    return await writer.stateOf(tenantId, 0);
  } catch (error) {
    if (error instanceof AccountUnavailable) return undefined;
    throw error;
  }
};

const claimFor = (command: PaymentIntent): PaymentCommand => {
  const { tenant_id, provider, provider_txn_id, fingerprint } = command.data;
  const kind = command.type === 'GrantCredits' ? 'sale' : 'refund';
  const intent = { type: command.type, data: command.data, meta: command.meta } as unknown as JsonObject;
  const data = { tenant_id, provider, provider_txn_id, fingerprint, kind, intent } as const;
  return { type: 'ClaimPayment', data, meta: derivedMeta(command.meta, `claim ${command.meta.now}`) };
};

/** Each part of a payment is a command of its own, with an ID that a repetition derives again. */
const derivedMeta = (meta: CommandMeta, part: string): CommandMeta => ({
  ...meta,
  command_id: deterministicEventId(part, meta.command_id, 0),
});

/** The claim belongs to another payload. One that never took effect is freed by trying it again. */
const isFreed = async (
  parts: Parts,
  stream: string,
  { state }: Extract<PaymentOutcome, { kind: 'rejected' }>,
): Promise<boolean> => {
  if (state.claim === null) return true;
  const { outcome } = await act(parts, stream, state.claim);
  return outcome.kind === 'rejected';
};

const reused = async ({ writer }: Parts, command: PaymentIntent): Promise<PaymentResult> => {
  const state = await writer.stateOf(command.data.tenant_id);
  return {
    outcome: { kind: 'rejected', rejection: { code: 'idempotency_key_reused' }, state },
    credited: false,
  };
};

/**
 * Executes what was claimed, as it was claimed; frees the identity when the account says no. Requests act
 * under command IDs of their own: the writer takes one ID appended by two processes for its own in both,
 * and then both would say that they moved the balance.
 */
const act = async (
  parts: Parts,
  stream: string,
  claim: PaymentClaim & { readonly command_id?: string },
): Promise<PaymentResult> => {
  const command = claim.intent as unknown as PaymentIntent;
  const { command_id = command.meta.command_id } = claim;
  const outcome = await parts.writer.execute({ ...command, meta: { ...command.meta, command_id } });
  if (outcome.kind === 'rejected') {
    const data = { fingerprint: claim.fingerprint, reason: outcome.rejection.code };
    const meta = derivedMeta(command.meta, `release ${claim.claimed_at}`);
    await parts.handle(stream, { type: 'ReleasePayment', data, meta });
  }
  if (outcome.kind !== 'done') return { outcome, credited: false };
  if (outcome.events.length > 0) await keepClaim(parts, stream, command);
  return { outcome, credited: outcome.events.length > 0 };
};

/**
 * Between this claim being read and its command taking effect, another process may have tried the same
 * claim, been rejected and freed it. It is taken again, since it took effect after all.
 */
const keepClaim = async (parts: Parts, stream: string, command: PaymentIntent): Promise<void> => {
  const claim = await claimAt(parts, stream);
  if (claim?.tenant_id === command.data.tenant_id && claim.fingerprint === command.data.fingerprint) return;
  const data = claimFor(command).data;
  const meta = derivedMeta(command.meta, `claim again ${command.meta.now}`);
  const again = await parts.handle(stream, { type: 'ClaimPayment', data, meta } as PaymentCommand);
  if (again.kind === 'rejected') parts.onDoubleClaim?.(stream);
};

const claimAt = async ({ store }: Parts, stream: string): Promise<PaymentClaim | undefined> => {
  const codec = eventCodec(paymentEvent);
  let state = payment.initialState;
  for await (const recorded of store.read(stream)) state = payment.evolve(state, codec.decode(recorded));
  return state.claim ?? undefined;
};
