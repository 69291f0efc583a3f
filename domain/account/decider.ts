import type { Decider } from '../kernel/decider.ts';
import { adjustCredits } from './adjustment.ts';
import { chargeCredits } from './charge.ts';
import type { AccountCommand, AccountRejection } from './commands.ts';
import type { AccountDecision } from './decision.ts';
import type { AccountEvent } from './events.ts';
import { evolve } from './evolve.ts';
import { holdCredits, releaseHold, settleHold } from './holds.ts';
import { openAccount, setPlan } from './opening.ts';
import { refundCredits } from './refund.ts';
import { grantCredits } from './sale.ts';
import { NEW_ACCOUNT, type AccountState } from './state.ts';

const decide = (state: AccountState, command: AccountCommand): AccountDecision => {
  const { tenant_id } = command.data;
  if (state.tenant_id !== null && state.tenant_id !== tenant_id)
    throw new Error(`a command for ${tenant_id} was sent to the account of ${state.tenant_id}`);
  return decideOn(state, command);
};

const decideOn = (state: AccountState, command: AccountCommand): AccountDecision => {
  switch (command.type) {
    case 'OpenAccount':
      return openAccount(state, command);
    case 'SetPlan':
      return setPlan(state, command);
    case 'GrantCredits':
      return grantCredits(state, command);
    case 'RefundCredits':
      return refundCredits(state, command);
    case 'AdjustCredits':
      return adjustCredits(state, command);
    case 'HoldCredits':
      return holdCredits(state, command);
    case 'SettleHold':
      return settleHold(state, command);
    case 'ReleaseHold':
      return releaseHold(state, command);
    case 'ChargeCredits':
      return chargeCredits(state, command);
  }
};

/** The credit account of one tenant. */
export const account: Decider<AccountState, AccountCommand, AccountEvent, AccountRejection> = {
  initialState: NEW_ACCOUNT,
  decide,
  evolve,
};
