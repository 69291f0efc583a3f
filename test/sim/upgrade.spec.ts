import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { RecordedEvent } from '../../domain/ports/log.ts';
import { runWorld, type Former } from './run.ts';
import { SMALL } from './smallWorlds.ts';

/**
 * A log of the release before queued work was one machine, and each put and removal of an object with how many events
 * the log had then.
 */
interface Recorded {
  readonly events: readonly (Omit<RecordedEvent, 'revision' | 'position'> & { readonly revision: number })[];
  readonly objects: readonly (readonly [events: number, key: string, text: string | null, at: number])[];
}

const FOLDER = new URL('../../../test/sim/former/', import.meta.url);
/** What is in the log before anything is asked for. */
const BASE_EVENTS = 6;

const recordedAs = (file: string): Recorded =>
  JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Recorded;

/** What was there when the log had so many events. */
const upTo = ({ events, objects }: Recorded, count: number): Former => {
  const there = new Map<string, Former['objects'][number]>();
  for (const [after, key, text, at] of objects)
    if (after <= count) {
      if (text === null) there.delete(key);
      else there.set(key, { key, bytes: new TextEncoder().encode(text), at });
    }
  const kept = events
    .slice(0, count)
    .map((event, index) => ({ ...event, revision: BigInt(event.revision), position: BigInt(index + 1) }));
  return { events: kept, objects: [...there.values()] };
};

/** Work of a tenant that has begun, of the kinds that have an end of their own. */
const BEGUN = ['OperationAccepted', 'TrainingJobCreated'];
const ENDS = /^(?:Operation|TrainingJob)(?:Succeeded|Failed|Cancelled)$/;

describe('work that an earlier release has left at any moment', () => {
  const files = readdirSync(FOLDER);
  expect(files).to.have.length(6);

  for (const file of files) {
    const name = file.replace('.json', '').replaceAll('-', ' ');
    it(`ends well: ${name}`, async () => {
      const recorded = recordedAs(file);
      const world = SMALL.find((one) => one.name === name)!;
      for (let count = BASE_EVENTS + 1; count < recorded.events.length; count += 1) {
        const last = recorded.events[count - 1]!.type;
        const { findings, events } = await runWorld({
          world,
          former: upTo(recorded, count),
          plan: { deviation: () => undefined, latencyMs: () => 1 },
          seed: `${name} ${String(count)}`,
          isWanted: () => false,
        });
        // The book knows what callers asked of this release, and not what they asked of the earlier one.
        const known = findings.filter(({ id }) => id !== 'book');
        expect(known, `after ${last}`).to.deep.equal([]);
        const types = events.map(({ type }) => type);
        const begun = types.filter((type) => BEGUN.includes(type)).length;
        const ended = types.filter((type) => ENDS.test(type)).length;
        expect(ended, `ends after ${last}`).to.be.at.least(begun);
      }
    });
  }
});
