import {
  type AccountEventOf,
  type AccountRejection,
  type PaymentIdentity,
  paymentKey,
  type RefundCredits,
} from '../../../domain/account/messages.ts';
import { creditsDue } from '../../../domain/account/payments.ts';
import {
  type AccountState,
  availableIn,
  paymentAt,
  refundAt,
  sentAt,
} from '../../../domain/account/state.ts';
import { asCredits, staysExact } from '../../../domain/kernel/amounts.ts';
import { deterministicEventId, fingerprintOf } from '../../../domain/kernel/chain.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import type { Clock } from '../../../domain/ports/log.ts';
import { SYSTEM } from '../../writer/commandMeta.ts';
import { AccountUnavailable, type AccountWriter } from '../../writer/accountWriter.ts';
import { BUSY, type NotNow } from '../../writer/decideBatch.ts';
import { derivedMeta } from './paymentClaims.ts';

/** Credits for another tenant, as a caller asks for it. */
export interface TransferRequest {
  readonly tenant_id: string;
  readonly to_tenant_id: string;
  /** null: all that are available. */
  readonly credits: number | null;
  readonly reason: string;
  readonly idempotency_key: string | null;
  /** Credits of this sale go first. */
  readonly of_grant?: string;
}

export interface TransfersDeps {
  readonly accounts: Pick<AccountWriter, 'execute' | 'ask'>;
  readonly clock: Pick<Clock, 'newId'>;
}

type Sent = AccountEventOf<'CreditsTransferredOut'>['data'];

/** Credits that left a tenant. */
export interface Leaving {
  readonly transfer_id: string;
  readonly from_tenant_id: string;
  readonly to_tenant_id: string;
  readonly credits: number;
  readonly created_at: string;
}

export type TransferRejection = AccountRejection | { readonly code: 'tenant_not_found' };

type Transfer =
  | {
      readonly kind: 'done';
      readonly transfer: Sent;
      readonly balance: number;
      readonly to_balance: number;
      /** Whether this very request moved the credits; false for a repeat. */
      readonly credited: boolean;
      readonly position: bigint | undefined;
      readonly to_position: bigint | undefined;
    }
  | { readonly kind: 'rejected'; readonly rejection: TransferRejection }
  | NotNow;

/** Lets credits arrive that left, no earlier than that: another process's clock, which let them leave, may be ahead. */
const arrive = (
  { accounts }: { readonly accounts: Pick<AccountWriter, 'execute'> },
  { transfer_id, from_tenant_id, to_tenant_id: tenant_id, credits, created_at }: Leaving,
  meta: CommandMeta,
) => {
  const derived = derivedMeta(meta, `receive ${transfer_id}`);
  return accounts.execute({
    type: 'ReceiveCredits',
    data: { tenant_id, transfer_id, from_tenant_id, credits: asCredits(credits), left_at: created_at },
    meta: derived.now < created_at ? { ...derived, now: created_at } : derived,
  });
};

/** Why a tenant cannot receive credits, looked at before any leave; undefined: it can. */
const whyNotTo = async (
  { accounts }: Pick<TransfersDeps, 'accounts'>,
  { to_tenant_id, credits }: TransferRequest,
): Promise<Exclude<Transfer, { readonly kind: 'done' }> | undefined> => {
  try {
    const { answer } = await accounts.ask(to_tenant_id, ({ opened, balance, adjusted }) => ({
      opened,
      hasRoom: [balance, adjusted].every((total) => staysExact(total, asCredits(credits ?? 0))),
    }));
    if (!answer.opened) return { kind: 'rejected', rejection: { code: 'tenant_not_found' } };
    return answer.hasRoom ? undefined : { kind: 'rejected', rejection: { code: 'credits_out_of_range' } };
  } catch (error) {
    if (error instanceof AccountUnavailable) return BUSY;
    throw error;
  }
};

/**
 * Moves credits to another tenant, with what was paid for them: they leave one account and then arrive in the other.
 * What left and did not arrive, because a process died in between, arrives by a repeat or by the sweeper.
 */
export const transferCredits =
  (deps: TransfersDeps) =>
  async (asked: TransferRequest, meta: CommandMeta): Promise<Transfer> => {
    const { tenant_id, to_tenant_id, credits, reason, idempotency_key, of_grant } = asked;
    const refusal = await whyNotTo(deps, asked);
    if (refusal !== undefined) return refusal;
    const transfer_id = deps.clock.newId('trf');
    const left = await deps.accounts.execute({
      type: 'SendCredits',
      data: {
        tenant_id,
        transfer_id,
        to_tenant_id,
        idempotency_key,
        reason,
        credits: credits === null ? null : asCredits(credits),
        ...(of_grant === undefined ? {} : { of_grant }),
        fingerprint: fingerprintOf({ kind: 'transfer', to_tenant_id, credits, reason }),
      },
      meta,
    });
    if (left.kind !== 'done') return left;
    const own = left.events.find(({ type }) => type === 'CreditsTransferredOut');
    const sent = own?.type === 'CreditsTransferredOut' ? own.data : sentAt(left.state, idempotency_key ?? '');
    if (sent === undefined) throw new Error('a transfer that was sent is not in its account');
    const arrived = await arrive(deps, { ...sent, from_tenant_id: tenant_id }, meta);
    if (arrived.kind !== 'done') return arrived;
    return {
      kind: 'done',
      transfer: sent,
      balance: left.state.balance,
      to_balance: arrived.state.balance,
      credited: own !== undefined,
      position: left.position,
      to_position: arrived.position,
    };
  };

/** Lets credits arrive that left some time ago; false: not now. */
export const finishTransfer =
  ({
    accounts,
    clock,
  }: {
    readonly accounts: Pick<AccountWriter, 'execute'>;
    readonly clock: Pick<Clock, 'now'>;
  }) =>
  async (leaving: Leaving): Promise<boolean> => {
    const { transfer_id } = leaving;
    const command_id = deterministicEventId(`transfer ${transfer_id}`, 'finish', 0);
    const meta = { now: clock.now(), actor: SYSTEM, correlation_id: `sweep-${transfer_id}`, command_id };
    return (await arrive({ accounts }, leaving, meta)).kind === 'done';
  };

/** Unused credits of a sale that a tenant has. */
interface Elsewhere {
  readonly tenant_id: string;
  readonly credits: number;
}

/** What a refund brings back before it is decided. */
interface BringBack {
  readonly tenant_id: string;
  readonly grant_id: string;
  /** Credits of the sale that are wanted from other tenants. */
  readonly credits: number;
  /** The refund that wants them: the same for each try of it. */
  readonly of: PaymentIdentity;
}

/**
 * Brings credits of a sale back to the tenant that bought them, as far as the others still have them. Each try of a
 * refund names the same transfers, so that what a first try brought is not brought again.
 */
const bringBack =
  (deps: TransfersDeps) =>
  async (
    { tenant_id, grant_id, credits, of }: BringBack,
    places: readonly Elsewhere[],
    meta: CommandMeta,
  ): Promise<NotNow | undefined> => {
    let wanted = credits;
    for (const { tenant_id: from, credits: there } of places) {
      const { answer: available } = await deps.accounts.ask(from, availableIn);
      const part = Math.min(wanted, there, available);
      if (part < 1) continue;
      const idempotency_key = fingerprintOf({ kind: 'bring back', refund: paymentKey(of), from, credits });
      const request = { tenant_id: from, to_tenant_id: tenant_id, credits: part, idempotency_key };
      const why = { of_grant: grant_id, reason: 'brought back for a refund' };
      const done = await transferCredits(deps)(
        { ...request, ...why },
        derivedMeta(meta, `bring back ${from}`),
      );
      if (done.kind === 'done') wanted -= part;
      else if (done.kind !== 'rejected') return done;
    }
    return undefined;
  };

/** What a refund of this account wants of its sale; undefined where no credits ever left, or nothing is to be done. */
const wantedBy = (state: AccountState, { data }: RefundCredits) => {
  if (!state.hasSent || refundAt(state, paymentKey(data)) !== undefined) return undefined;
  const { original_provider: provider, original_provider_txn_id: provider_txn_id } = data;
  const sale = paymentAt(state, paymentKey({ provider, provider_txn_id }))?.sale;
  return sale && { grant_id: sale.sale.grant_id, due: creditsDue(data, sale) };
};

export interface MovedLots extends TransfersDeps {
  /** Who has unused credits of a sale, as far as the read models know. */
  readonly lotsOfGrant: (grantId: string) => Promise<readonly Elsewhere[]>;
}

/** Before a refund or a dispute is decided: its sale's credits that went to other tenants come back for it. */
export const broughtBackFor =
  (deps: MovedLots) =>
  async (command: RefundCredits): Promise<NotNow | undefined> => {
    const { tenant_id, provider, provider_txn_id } = command.data;
    try {
      const { answer: wanted } = await deps.accounts.ask(tenant_id, (state) => wantedBy(state, command));
      if (wanted === undefined) return undefined;
      const { grant_id, due } = wanted;
      const lots = await deps.lotsOfGrant(grant_id);
      const here = lots.find((lot) => lot.tenant_id === tenant_id)?.credits ?? 0;
      const places = lots.filter((lot) => lot.tenant_id !== tenant_id);
      const missing = { tenant_id, grant_id, credits: due - here, of: { provider, provider_txn_id } };
      return await bringBack(deps)(missing, places, command.meta);
    } catch (error) {
      if (error instanceof AccountUnavailable) return BUSY;
      throw error;
    }
  };
