import { expect } from 'chai';
import type { AnyKind, Decider, Decision } from '../../domain/kernel/decider.ts';

/** Carries out commands one after the other; a rejection throws, since a spec's past must be possible. */
export const after = <Kind extends AnyKind>(
  { initialState, decide, evolve }: Decider<Kind>,
  commands: readonly Kind['command'][],
): Kind['state'] =>
  commands.reduce<Kind['state']>((state, command) => {
    const decision = decide(state, command);
    if (decision.kind === 'rejected') throw new Error(`given: ${JSON.stringify(decision.rejection)}`);
    return decision.events.reduce(evolve, state);
  }, initialState);

/** Sentences about a decider: given a past, when a command comes, then events, nothing or a rejection. */
export const specFor = <Kind extends AnyKind>(decider: Decider<Kind>) => {
  const given = (...past: readonly Kind['command'][]) => ({
    when: (command: Kind['command']) => {
      const before = after(decider, past);
      return outcome(before, decider.decide(before, command));
    },
    state: () => after(decider, past),
  });

  const outcome = (before: Kind['state'], decision: Decision<Kind['event'], Kind['rejection']>) => {
    const events = () => {
      if (decision.kind === 'rejected')
        throw new Error(`unexpected rejection ${JSON.stringify(decision.rejection)}`);
      return decision.events;
    };
    return {
      /** Exactly these types in this order, each with at least these members of data. */
      then: (...expected: readonly (readonly [Kind['event']['type'], object?])[]) => {
        expect(events().map(({ type }) => type)).to.deep.equal(expected.map(([type]) => type));
        for (const [at, [, data]] of expected.entries())
          expect(events()[at]!.data).to.deep.include(data ?? {});
      },
      thenNothing: () => expect(events()).to.deep.equal([]),
      thenRejected: (rejection: Kind['rejection']) =>
        expect(decision).to.deep.equal({ kind: 'rejected', rejection }),
      state: () => events().reduce(decider.evolve, before),
    };
  };
  return { given };
};
