import { expect } from 'chai';
import { readdirSync, readFileSync } from 'node:fs';
import { categoryOfStream, decodeAny, EVENT_CATALOGUE } from '../../domain/catalogue.ts';
import { verifyChain } from '../../domain/kernel/chain.ts';
import { eventMetadata } from '../../domain/kernel/decider.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';

/** From the compiled spec to the sources. */
const FOLDER = new URL('../../../test/golden/', import.meta.url);

interface Golden {
  readonly file: string;
  readonly event: RecordedEvent;
}

type Stored = Omit<RecordedEvent, 'revision' | 'position'> & { readonly revision: number };

const asRecorded = (stored: Stored): RecordedEvent => ({
  ...stored,
  revision: BigInt(stored.revision),
  position: 0n,
});

const golden: readonly Golden[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => {
    const stored = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Stored;
    return { file, event: asRecorded(stored) };
  });

const typesOf = (category: keyof typeof EVENT_CATALOGUE) =>
  EVENT_CATALOGUE[category].options.map(({ shape }) => shape.type.value);

const categories = Object.keys(EVENT_CATALOGUE) as (keyof typeof EVENT_CATALOGUE)[];

/** One stored example of every version of every event ever written. Never change one: add. */
describe('golden events', () => {
  for (const { file, event } of golden)
    it(`${file} still decodes, and to nothing else than what was stored`, () => {
      const version = eventMetadata.parse(event.metadata).schema_version;
      // A second example of a version has what the first leaves out: a member that came later.
      expect(file).to.match(new RegExp(`^${event.type}\\.v${version}(\\.[a-z]+)?\\.json$`));
      const decoded = decodeAny(event);
      expect(decoded.type).to.equal(event.type);
      const isLatest = !golden.some(({ file: other }) => other === `${event.type}.v${version + 1}.json`);
      if (isLatest) expect(decoded.data).to.deep.equal(event.data);
    });

  for (const category of categories)
    for (const type of typesOf(category))
      it(`has an example of ${type}, in a stream of ${category}`, () => {
        const example = golden.find(({ event }) => event.type === type);
        expect(example, `test/golden/${type}.v1.json is missing`).not.to.equal(undefined);
        expect(categoryOfStream(example!.event.stream)).to.equal(category);
      });

  for (const file of ['version2.json', 'from1to2.json'])
    it(`chains/${file} still holds, and not with any change`, () => {
      const stored = JSON.parse(readFileSync(new URL(`chains/${file}`, FOLDER), 'utf8')) as Stored[];
      const events = stored.map(asRecorded);
      expect(verifyChain(events)).to.equal(null);
      for (const event of events) expect(decodeAny(event).data).to.deep.equal(event.data);
      const last = events.at(-1)!;
      for (const change of [{ id: events[0]!.id }, { stream: 'account-other' }, { type: 'PlanSet' }])
        expect(verifyChain([...events.slice(0, -1), { ...last, ...change }])?.revision).to.equal(
          last.revision,
        );
    });

  it('carry hashes that still hold', () => {
    for (const stream of new Set(golden.map(({ event }) => event.stream))) {
      const events = golden.filter(({ event }) => event.stream === stream).map(({ event }) => event);
      events.sort((a, b) => Number(a.revision - b.revision));
      expect(verifyChain(events), stream).to.equal(null);
    }
  });
});
