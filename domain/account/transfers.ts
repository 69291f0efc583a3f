import { accept, type Decision, reject } from '../kernel/decider.ts';
import { minus, negated, plus, staysExact } from '../kernel/amounts.ts';
import type { AccountEvent, AccountRejection, ReceiveCredits, SendCredits } from './messages.ts';
import { type AccountState, availableIn, opening, receivedAt, sentAt } from './state.ts';

type AccountDecision = Decision<AccountEvent, AccountRejection>;

/** Credits for another tenant: at most the available ones, all of these where none are named. */
export const sendCredits = (state: AccountState, { data, meta }: SendCredits): AccountDecision => {
  if (data.to_tenant_id === data.tenant_id) return reject({ code: 'transfer_to_itself' });
  const earlier = data.idempotency_key === null ? undefined : sentAt(state, data.idempotency_key);
  if (earlier?.fingerprint === data.fingerprint) return accept();
  if (earlier !== undefined) return reject({ code: 'idempotency_key_reused' });

  const available_credits = availableIn(state);
  const credits = data.credits ?? available_credits;
  if (credits > available_credits || available_credits < 1)
    return reject({ code: 'insufficient_balance', available_credits });
  if (!staysExact(state.adjusted, negated(credits))) return reject({ code: 'credits_out_of_range' });

  const { tenant_id: _, ...transfer } = data;
  return accept({
    type: 'CreditsTransferredOut',
    data: { ...transfer, credits, created_at: meta.now, balance_after: minus(state.balance, credits) },
  });
};

/** What another tenant sent arrives once and not before it left, in an account that is opened by it if need be. */
export const receiveCredits = (state: AccountState, { data, meta }: ReceiveCredits): AccountDecision => {
  if (receivedAt(state, data.transfer_id) !== undefined) return accept();
  if (data.from_tenant_id === data.tenant_id) return reject({ code: 'transfer_to_itself' });
  if (meta.now < data.left_at) return reject({ code: 'transfer_too_early' });
  const isExact = [state.balance, state.adjusted].every((total) => staysExact(total, data.credits));
  if (!isExact) return reject({ code: 'credits_out_of_range' });

  const { tenant_id, left_at: _, ...transfer } = data;
  return accept(...opening(state, tenant_id, meta), {
    type: 'CreditsTransferredIn',
    data: { ...transfer, created_at: meta.now, balance_after: plus(state.balance, data.credits) },
  });
};
