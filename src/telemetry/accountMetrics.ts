import type { Registry } from 'prom-client';
import { type AccountCommand, type AccountEvent, operation } from '../../domain/account/messages.ts';
import type { AccountKind } from '../../domain/account/account.ts';
import type { AccountWriter } from '../commands/writer/accountWriter.ts';
import type { Outcome } from '../commands/writer/outcome.ts';
import { metersOn } from './meters.ts';

type AccountCounters = ReturnType<typeof countersOn>;

const countersOn = (register: Registry) => {
  const { counter } = metersOn(register);
  const counters = {
    commands: counter(
      'quire_commands_total',
      'Commands on accounts, by outcome; repeat: the command had taken effect before.',
      'command',
      'outcome',
    ),
    refusals: counter('quire_refusals_total', 'Commands that an account refused, by reason.', 'code'),
    burns: counter('quire_burns_total', 'Burns: settled holds and charges, by operation.', 'operation'),
    burned: counter('quire_burned_credits_total', 'Credits burned, by operation.', 'operation'),
  };
  for (const one of operation.options) {
    counters.burns.inc({ operation: one }, 0);
    counters.burned.inc({ operation: one }, 0);
  }
  counters.refusals.inc({ code: 'insufficient_credits' }, 0);
  return counters;
};

const outcomeName = (outcome: Outcome<AccountKind>): string =>
  outcome.kind === 'done' && outcome.events.length === 0 ? 'repeat' : outcome.kind;

const countEvents = ({ burns, burned }: AccountCounters, events: readonly AccountEvent[]): void => {
  for (const { type, data } of events) {
    if (type !== 'CreditsBurned') continue;
    burns.inc({ operation: data.operation });
    burned.inc({ operation: data.operation }, data.credits);
  }
};

const count = (counters: AccountCounters, { type }: AccountCommand, outcome: Outcome<AccountKind>): void => {
  counters.commands.inc({ command: type, outcome: outcomeName(outcome) });
  if (outcome.kind === 'rejected') counters.refusals.inc({ code: outcome.rejection.code });
  if (outcome.kind === 'done') countEvents(counters, outcome.events);
};

/** Counts commands, refusals and burns of the accounts written here. Answers come no later than without. */
export const countedAccounts = (writer: AccountWriter, register: Registry): AccountWriter => {
  const counters = countersOn(register);
  return {
    execute: (command) => {
      const answer = writer.execute(command);
      answer.then(
        (outcome) => count(counters, command, outcome),
        () => counters.commands.inc({ command: command.type, outcome: 'failed' }),
      );
      return answer;
    },
    stateOf: (tenantId, maxAgeMs) => writer.stateOf(tenantId, maxAgeMs),
    forget: (what) => writer.forget(what),
    close: () => writer.close(),
  };
};
