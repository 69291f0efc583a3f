import type { AccountCommand } from '../../../domain/account/messages.ts';
import type { AccountState } from '../../../domain/account/state.ts';
import type { AnyEvent } from '../../../domain/catalogue.ts';
import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import type { Random } from '../../../engine/test/support/random.ts';

/** Where trades go. */
export interface Trade {
  readonly tenants: number;
  readonly random: Random;
  readonly accounts: {
    readonly stateOf: (tenant: string) => AccountState;
    readonly execute: (command: AccountCommand) => Promise<void>;
  };
  readonly metaAt: (now: string, id: string) => CommandMeta;
  readonly publish: (stream: string, events: readonly AnyEvent[], meta: CommandMeta) => Promise<void>;
}

/** The number of a piece of business, and its time. */
export interface Moment {
  readonly serial: number;
  readonly at: string;
}
