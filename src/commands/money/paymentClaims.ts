import {
  type ClaimPayment,
  payment,
  type PaymentClaim,
  paymentCodec,
  type PaymentCommand,
  type PaymentKind,
} from '../../../domain/payment.ts';
import {
  accountStream,
  type GrantCredits,
  type PaymentIdentity,
  paymentKey,
  paymentStream,
  type RefundCredits,
  type ReverseRefund,
} from '../../../domain/account/messages.ts';
import type { Clock, EventStore } from '../../../domain/ports/log.ts';
import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';
import { stateIn, UnreadableStream } from '../../writer/streamFold.ts';
import { account, type AccountKind } from '../../../domain/account/account.ts';
import { type AccountState, paymentAt, refundAt } from '../../../domain/account/state.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { deterministicEventId } from '../../../domain/kernel/chain.ts';
import {
  accountCodec,
  AccountUnavailable,
  type AccountWriter,
  askAccount,
} from '../../writer/accountWriter.ts';
import type { Answered } from '../../writer/earlier.ts';
import { commandHandler, type CommandHandler, type HandlerOptions } from '../../writer/commandHandler.ts';
import { BUSY, decideBatch, type Outcome, UNKNOWN } from '../../writer/decideBatch.ts';
import { isContradiction } from '../../writer/append.ts';

/** The holder of a payment stream's identity; undefined: nobody. */
export const claimAt = async (store: EventStore, stream: string): Promise<PaymentClaim | undefined> =>
  (await stateIn(store, stream, { ...payment, codec: paymentCodec })).claim ?? undefined;

/** Which tenant holds a payment identity, and for what; undefined while nobody does. */
export const claimantOf =
  (store: EventStore) =>
  (identity: PaymentIdentity): Promise<PaymentClaim | undefined> =>
    claimAt(store, paymentStream(identity));

/** Runs work one after another for each key. */
interface KeyedQueue {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

const keyedQueue = (): KeyedQueue => {
  const last = new Map<string, Promise<unknown>>();
  return {
    run: async (key, work) => {
      const before = last.get(key) ?? Promise.resolve();
      const mine = before.then(work, work);
      last.set(key, mine);
      try {
        return await mine;
      } finally {
        if (last.get(key) === mine) last.delete(key);
      }
    },
  };
};

export interface PaymentsDeps {
  readonly store: EventStore;
  readonly writer: AccountWriter;
  /** For when each part of a payment is recorded, maybe long after its request; left out: as its command says. */
  readonly clock?: Pick<Clock, 'now'>;
  readonly options?: HandlerOptions;
  /** Two tenants hold one payment: what no rule allows, and an operator must see. */
  readonly onDoubleClaim?: (stream: string) => void;
}

/** The command that a payment identity is claimed for. */
export type PaymentIntent = GrantCredits | RefundCredits | ReverseRefund;

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
  const encoding = { stream: accountStream(tenantId), tenantId, codec: accountCodec };
  const place = { revision: 'no_stream', hash: null, position: undefined } as const;
  const rules = { decider: account, encoding, isKnown: () => false };
  const decided = await askNow(writer, tenantId, (state) =>
    decideBatch(rules, { ...place, state }, [command]),
  );
  if (decided === undefined) return BUSY;
  const [verdict] = decided.answer.verdicts;
  if (verdict === undefined) throw new Error('a payment was not decided');
  if (verdict.kind === 'failed') throw verdict.error;
  if (verdict.kind === 'rejected') return verdict;
  return verdict.events.length > 0 ? undefined : { ...verdict, position: undefined };
};

/** Asks an account at the log's end; undefined while the log cannot be read. */
const askNow = async <T>(
  writer: Pick<AccountWriter, 'ask'>,
  tenantId: string,
  question: (state: AccountState) => T,
): Promise<Answered<AccountState, T> | undefined> => {
  try {
    return await writer.ask(tenantId, question, 0);
  } catch (error) {
    if (error instanceof AccountUnavailable) return undefined;
    throw error;
  }
};

const KINDS = { GrantCredits: 'sale', RefundCredits: 'refund', ReverseRefund: 'reversal' } as const;

/** The data of a claim for a command. */
export const claimFor = (command: PaymentIntent): ClaimPayment['data'] => {
  const { tenant_id, provider, provider_txn_id, fingerprint } = command.data;
  return { tenant_id, provider, provider_txn_id, fingerprint, kind: KINDS[command.type], intent: command };
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

/** The service cannot finish the claim by its rules; its caller's retry or an operator can end it. */
export interface Stuck {
  readonly kind: 'stuck';
  readonly why: 'unreadable' | 'may_have_been_refused';
}

export type Finished = Outcome<AccountKind> | Stuck;

/** Whether the account has the sale, refund or reversal that was claimed. Throws EventsNeeded. */
export const tookEffect = (state: AccountState, claim: PaymentClaim): boolean => {
  const key = paymentKey(claim);
  const effects = {
    sale: () => paymentAt(state, key)?.sale?.sale,
    refund: () => refundAt(state, key)?.refund,
    reversal: () => paymentAt(state, key)?.reversal,
  };
  return effects[claim.kind]()?.fingerprint === claim.fingerprint;
};

/** A process that executes for others may do so only while exactly this claim stands. */
const stillStands = async (store: EventStore, { stream, claim }: Claimed): Promise<boolean> => {
  const now = await claimAt(store, stream);
  return now?.fingerprint === claim.fingerprint && now.claimed_at === claim.claimed_at;
};

/**
 * Executes a claimed command that another request claimed. The claim is looked at between the decision and
 * the append, and the append holds for exactly the revision that was decided on: so what a refusal has freed
 * in the meantime is not done. For who refuses frees first, and then looks at the account once more.
 */
const executed = (
  parts: PaymentParts,
  of: Claimed,
  command: PaymentIntent,
): Promise<Outcome<AccountKind>> => {
  const { store, options = {} } = parts;
  const handle = commandHandler({
    decider: account,
    codec: accountCodec,
    store,
    tenantOf: ({ data }) => data.tenant_id,
    mayAppend: () => stillStands(store, of),
    options,
  });
  return handle(accountStream(command.data.tenant_id), command);
};

/** Does what was claimed by another request, or frees it and says why. */
export const finishAs = async (
  parts: PaymentParts,
  of: Claimed,
  command: PaymentIntent,
): Promise<Outcome<AccountKind>> => {
  const { meta } = command;
  let outcome: Outcome<AccountKind>;
  try {
    outcome = await executed(parts, of, asOfNow(parts, of, command));
  } catch (error) {
    const known = await afterFailure(parts, of, { command, error });
    if (known === undefined) throw error;
    return known;
  }
  if (outcome.kind === 'done' && outcome.events.length > 0) {
    // It was appended beside the account's writer, which reads it here.
    await askNow(parts.writer, of.claim.tenant_id, () => undefined);
    await keepClaim(parts, of, command);
  }
  if (outcome.kind !== 'rejected') return outcome;
  const freed = await release(parts, of, { reason: outcome.rejection.code, meta });
  return freed ? ((await effectAfterAll(parts, of, command)) ?? outcome) : UNKNOWN;
};

/** Frees a failed claim, and still tells its outcome; undefined: nothing happened, as far as is known. */
export const afterFailure = async (
  parts: PaymentParts,
  of: Claimed,
  { command, error }: { readonly command: PaymentIntent; readonly error: unknown },
): Promise<Outcome<AccountKind> | undefined> => {
  // These say nothing of what became of it: the claim waits for a log that can be believed.
  if (error instanceof UnreadableStream || isContradiction(error)) return undefined;
  if (!(await release(parts, of, { reason: 'failed', meta: command.meta }))) return UNKNOWN;
  return effectAfterAll(parts, of, command);
};

/** Who claimed it may have been at it at the same time, and done it before it was freed. */
const effectAfterAll = async (
  parts: PaymentParts,
  of: Claimed,
  command: PaymentIntent,
): Promise<Outcome<AccountKind> | undefined> => {
  const asked = await askNow(parts.writer, of.claim.tenant_id, (state) => tookEffect(state, of.claim));
  if (asked === undefined) return UNKNOWN;
  if (!asked.answer) return undefined;
  await keepClaim(parts, of, command);
  return { kind: 'done', events: [], state: asked.state, position: undefined };
};

/** An event that was recorded so long before a claim was still under way when it was made. */
const RACE_MS = 10 * 60_000;

const recordedAt = ({ metadata }: RecordedEvent): string => {
  const at = metadata['recorded_at'];
  return typeof at === 'string' ? at : '';
};

/**
 * Releases before version 2 of the claim answered no and left it standing, where a total would have passed
 * 2^53 or the log did not take the release. Such a refusal needs a state of the account that refuses, at the
 * claim or since: where none was, nobody was told no.
 */
const wasNeverRefused = async (
  store: EventStore,
  { claimed_at }: PaymentClaim,
  command: PaymentIntent,
): Promise<boolean> => {
  const from = Date.parse(claimed_at) - RACE_MS;
  const { tenant_id: tenantId } = command.data;
  const takes = async (state: AccountState) => {
    const isTaken = (of: AccountState) => account.decide(of, command).kind === 'accepted';
    return (await askAccount(store, { tenantId, state }, isTaken)).answer;
  };
  let state = account.initialState;
  for await (const recorded of store.read(accountStream(tenantId))) {
    const isSince = Date.parse(recordedAt(recorded)) >= from;
    if (isSince && !(await takes(state))) return false;
    state = account.evolve(state, accountCodec.decode(recorded));
  }
  return takes(state);
};

/** Why the service may not finish a claim by its rules; undefined: it may. */
export const whyStuck = async (store: EventStore, claim: PaymentClaim): Promise<Stuck['why'] | undefined> => {
  const intent = intentOf(claim);
  if (intent === undefined) return 'unreadable';
  const isOld = claim.lifted_from === 1;
  return isOld && !(await wasNeverRefused(store, claim, intent)) ? 'may_have_been_refused' : undefined;
};

/** Finishes another process's claim, as of `now`: the sale keeps its time, its record has the present one. */
export const finishFor = async (parts: PaymentParts, of: Claimed, now: string): Promise<Finished> => {
  const { claim } = of;
  const asked = await askNow(parts.writer, claim.tenant_id, (state) => tookEffect(state, claim));
  if (asked === undefined) return BUSY;
  if (asked.answer) return { kind: 'done', events: [], state: asked.state, position: undefined };
  const [intent, why] = [intentOf(claim), await whyStuck(parts.store, claim)];
  if (intent === undefined || why !== undefined) return { kind: 'stuck', why: why ?? 'unreadable' };
  return finishAs(parts, of, { ...intent, meta: { ...intent.meta, now } });
};

/** What came of an operator's wish to free a claim. */
export type OperatorRelease =
  | { readonly kind: 'none' | 'took_effect' | 'young' | 'busy' }
  | { readonly kind: 'released'; readonly claim: PaymentClaim };

/** A younger claim is still in its own request's hands, or the sweeper's. */
const SETTLED_BY_ITSELF_MS = 60_000;

/** Frees a claim that has no effect, for an operator who says why. */
export const releaseStranded = async (
  parts: PaymentParts,
  stream: string,
  given: { readonly reason: string; readonly meta: CommandMeta },
): Promise<OperatorRelease> => {
  const claim = await claimAt(parts.store, stream);
  if (claim === undefined) return { kind: 'none' };
  const hasEffect = async () =>
    (await askNow(parts.writer, claim.tenant_id, (state) => tookEffect(state, claim)))?.answer;
  const before = await hasEffect();
  if (before === undefined) return { kind: 'busy' };
  if (before) return { kind: 'took_effect' };
  if (Date.parse(given.meta.now) - Date.parse(claim.claimed_at) < SETTLED_BY_ITSELF_MS)
    return { kind: 'young' };
  const of = { stream, claim };
  if (!(await release(parts, of, { ...given, released_by: 'operator' }))) return { kind: 'busy' };
  if ((await hasEffect()) !== true) return { kind: 'released', claim };
  await keepClaim(parts, of, given);
  return { kind: 'took_effect' };
};
