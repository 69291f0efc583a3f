import { expect } from 'chai';
import type { Decider, Decision } from '../../domain/kernel/decider.ts';

interface AnyEvent {
  readonly type: string;
  readonly data: object;
}

/** Carries out commands one after the other; a rejection throws, since a spec's past must be possible. */
export const after = <State, Command, Event, Rejection>(
  { initialState, decide, evolve }: Decider<State, Command, Event, Rejection>,
  commands: readonly Command[],
): State =>
  commands.reduce((state, command) => {
    const decision = decide(state, command);
    if (decision.kind === 'rejected') throw new Error(`given: ${JSON.stringify(decision.rejection)}`);
    return decision.events.reduce(evolve, state);
  }, initialState);

/** Sentences about a decider: given a past, when a command comes, then events, nothing or a rejection. */
export const specFor = <State, Command, Event extends AnyEvent, Rejection>(
  decider: Decider<State, Command, Event, Rejection>,
) => {
  const given = (...past: readonly Command[]) => ({
    when: (command: Command) => {
      const before = after(decider, past);
      return outcome(before, decider.decide(before, command));
    },
    state: () => after(decider, past),
  });

  const outcome = (before: State, decision: Decision<Event, Rejection>) => {
    const events = () => {
      if (decision.kind === 'rejected')
        throw new Error(`unexpected rejection ${JSON.stringify(decision.rejection)}`);
      return decision.events;
    };
    return {
      /** Exactly these types in this order, each with at least these members of data. */
      then: (...expected: readonly (readonly [Event['type'], object?])[]) => {
        expect(events().map(({ type }) => type)).to.deep.equal(expected.map(([type]) => type));
        for (const [at, [, data]] of expected.entries())
          expect(events()[at]!.data).to.deep.include(data ?? {});
      },
      thenNothing: () => expect(events()).to.deep.equal([]),
      thenRejected: (rejection: Rejection) => expect(decision).to.deep.equal({ kind: 'rejected', rejection }),
      state: () => events().reduce(decider.evolve, before),
    };
  };
  return { given };
};
