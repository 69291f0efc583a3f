import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { Clock } from '../../domain/ports/log.ts';

/** A mistake that the operator can do something about: one sentence, and how the command ends. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
  /** 1: it could not be done. 2: it was asked wrongly. */
  readonly exitCode: 1 | 2;
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Where an operation's items go, and when to stop. */
export interface OperationContext {
  /** Resolves when there is room for the next. */
  readonly send: (item: unknown) => Promise<void>;
  /** Aborts when whoever asked has gone away. */
  readonly signal: AbortSignal;
}

/** One thing that an operator can ask of the service. It throws OperatorError for what he can mend. */
export type Operation = (input: unknown, context: OperationContext) => Promise<void>;
export type Operations = Readonly<Record<string, Operation>>;

/** All items that an operation sends. */
export const itemsOf = async <Item>(
  run: (send: OperationContext['send']) => Promise<void>,
): Promise<readonly Item[]> => {
  const items: Item[] = [];
  await run((item) => {
    items.push(item as Item);
    return Promise.resolve();
  });
  return items;
};

/** One line of an answer: items, then exactly one `done` or `error`. */
export type AnswerLine =
  | { readonly item: unknown }
  | { readonly done: true }
  | { readonly error: { readonly message: string; readonly exit_code: 1 | 2; readonly known: boolean } };

/** JSON with positions, which are larger than a number may be, as text. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? member.toString() : member))}\n`;

/** Of a command that an operator gives; `what` names the operation in its correlation ID. */
export const operatorMeta = (clock: Clock, what: string): CommandMeta => ({
  now: clock.now(),
  actor: { key_id: 'cli', role: 'system' },
  correlation_id: `${what}-${clock.uuid()}`,
  command_id: clock.uuid(),
});
