import type { CommandMeta } from '../../../domain/kernel/decider.ts';
import { categoryOf } from '../../../domain/kernel/chain.ts';
import type { Span, Tracer } from '../../../domain/ports/log.ts';

type Commanded = { readonly meta: CommandMeta };

const nameOf = (command: object): string =>
  'type' in command && typeof command.type === 'string' ? command.type : 'command';

/** The span of one command, from its arrival to its outcome: waiting, deciding and appending. */
export const beginCommand = (tracer: Tracer, stream: string, command: object): Span =>
  tracer.begin(`command ${nameOf(command)}`, { facts: { 'quire.category': categoryOf(stream) } });

/** The span of one append that carries a command's events; undefined where nobody records. */
export const beginAppend = (tracer: Tracer, stream: string, command: Span | undefined): Span | undefined =>
  command?.traceparent === undefined
    ? undefined
    : tracer.begin('append', {
        parent: command.traceparent,
        kind: 'producer',
        facts: { 'quire.category': categoryOf(stream) },
      });

/** The command as its events are to tell of their append. */
export const stamped = <Command extends Commanded>(command: Command, append: Span | undefined): Command =>
  append?.traceparent === undefined
    ? command
    : { ...command, meta: { ...command.meta, traceparent: append.traceparent } };

/** Does a command within its span, which ends with what became of it. */
export const withinCommand = async <Outcome extends { readonly kind: string }>(
  tracer: Tracer,
  span: Span,
  work: () => Promise<Outcome>,
): Promise<Outcome> => {
  try {
    const outcome = await tracer.within(span, work);
    span.end({ 'quire.outcome': outcome.kind });
    return outcome;
  } catch (error) {
    span.end({ 'quire.outcome': 'failed' }, 'failed');
    throw error;
  }
};
