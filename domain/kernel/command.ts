import type { Actor } from './event.ts';

/** What arrives with every command: the domain has no clock and no randomness of its own. */
export interface CommandMeta {
  /** RFC 3339 UTC with milliseconds. */
  readonly now: string;
  readonly actor: Actor;
  /** The request that caused it. */
  readonly correlation_id: string;
  /** Makes event IDs deterministic: the same command gives the same IDs. A UUID. */
  readonly command_id: string;
  /** W3C trace context that its events carry; left out where no trace is recorded. */
  readonly traceparent?: string;
}

/** A command: its name, what it says, and when, by whom and why. */
export interface Command<Type extends string, Data> {
  readonly type: Type;
  readonly data: Data;
  readonly meta: CommandMeta;
}

/** A command whose name says it all. */
export type BareCommand<Type extends string> = Omit<Command<Type, unknown>, 'data'>;
