import { bytesOfEvent, type ChainLink } from '../../../domain/kernel/chain.ts';
import type { AnyKind, Decider } from '../../../domain/kernel/decider.ts';
import { APPEND_BYTES_MAX, type NewEvent } from '../../../domain/ports/log.ts';
import { encodeEvents, type Chained, type Encoding } from './encode.ts';
import { linkAfter, type Folded } from './streamFold.ts';

/** What one command comes to if the batch is appended. */
export type Verdict<Kind extends AnyKind> =
  | { readonly kind: 'done'; readonly events: readonly Kind['event'][]; readonly state: Kind['state'] }
  | { readonly kind: 'rejected'; readonly rejection: Kind['rejection']; readonly state: Kind['state'] }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Commands decided one after another. `verdicts[i]` is of command i; those beyond did not fit. */
export interface DecidedBatch<Kind extends AnyKind> {
  readonly verdicts: readonly Verdict<Kind>[];
  readonly events: readonly NewEvent[];
  readonly state: Kind['state'];
  readonly hash: string | null;
}

/** What deciding needs to know besides state and commands. */
interface BatchRules<Kind extends AnyKind> {
  readonly decider: Decider<Kind>;
  readonly encoding: Encoding<Kind['event']>;
  /** Whether an event of this command is in the stream already. */
  readonly isKnown: (commandId: string) => boolean;
}

/** Decides commands in order, each on what those before it leave, and encodes what they say. */
export const decideBatch = <Kind extends AnyKind>(
  rules: BatchRules<Kind>,
  from: Folded<Kind['state']>,
  commands: readonly Kind['command'][],
): DecidedBatch<Kind> => {
  const verdicts: Verdict<Kind>[] = [];
  const encoded: NewEvent[] = [];
  const ids = new Set<string>();
  let { state } = from;
  let link = linkAfter(from);
  let bytes = 0;
  for (const command of commands) {
    const { command_id } = command.meta;
    const repeated = ids.has(command_id) || rules.isKnown(command_id);
    const { verdict, chained } = repeated
      ? { verdict: { kind: 'done' as const, events: [], state }, chained: undefined }
      : verdictOn(rules, { state, link }, command);
    if (verdict.kind === 'done' && chained !== undefined) {
      for (const event of chained.events) bytes += bytesOfEvent(event);
      if (bytes > APPEND_BYTES_MAX && encoded.length > 0) break;
      for (const event of chained.events) encoded.push(event);
      ({ link } = chained);
      ({ state } = verdict);
      ids.add(command_id);
    }
    verdicts.push(verdict);
  }
  return { verdicts, events: encoded, state, hash: link.hash };
};

interface Judged<Kind extends AnyKind> {
  readonly verdict: Verdict<Kind>;
  /** undefined: nothing to append. */
  readonly chained: Chained<Kind['event']> | undefined;
}

/** A command that cannot be decided, evolved or encoded fails alone. */
const verdictOn = <Kind extends AnyKind>(
  { decider: { decide, evolve }, encoding }: BatchRules<Kind>,
  { state, link }: { readonly state: Kind['state']; readonly link: ChainLink },
  command: Kind['command'],
): Judged<Kind> => {
  try {
    const decision = decide(state, command);
    if (decision.kind === 'rejected')
      return { verdict: { kind: 'rejected', rejection: decision.rejection, state }, chained: undefined };
    if (decision.events.length === 0)
      return { verdict: { kind: 'done', events: [], state }, chained: undefined };
    const chained = encodeEvents(encoding, { events: decision.events, meta: command.meta }, link);
    const events = chained.decoded;
    return { verdict: { kind: 'done', events, state: events.reduce(evolve, state) }, chained };
  } catch (error) {
    return { verdict: { kind: 'failed', error }, chained: undefined };
  }
};
