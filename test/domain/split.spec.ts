import { expect } from 'chai';
import fc from 'fast-check';
import { placedInBatch, misplacedPage, partsIn, questionAbout } from '../../domain/split.ts';
import {
  earlierSightings,
  keyOfFile,
  keyOfValues,
  type Sighting,
  sighting,
} from '../../domain/rules/sighting.ts';

const INTO = { batch_id: 'bat_1', sent: ['Invoice'] };

/** A stack of pages, cut at some of them. */
const stacks = fc
  .tuple(fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { minLength: 1 }), fc.infiniteStream(fc.boolean()))
  .map(([numbers, cuts]) => {
    const parts: { pages: number[]; class: string | null }[] = [];
    for (const page of numbers.sort((a, b) => a - b)) {
      const last = parts.at(-1);
      if (last === undefined || cuts.next().value === true)
        parts.push({ pages: [page], class: page % 2 === 0 ? 'Invoice' : null });
      else last.pages.push(page);
    }
    return parts;
  });

describe('the parts of a stack', () => {
  it('have places in the batch in their order, without gaps', () => {
    fc.assert(
      fc.property(stacks, (parts) => {
        const { documents, batch_id } = placedInBatch(parts, INTO);
        const sent = documents.filter(({ class: name }) => name === 'Invoice');
        expect(sent.map(({ batch_index }) => batch_index)).to.deep.equal(sent.map((_, at) => at));
        expect(documents.filter(({ batch_index }) => batch_index !== null)).to.deep.equal(sent);
        expect(batch_id).to.equal(sent.length === 0 ? null : 'bat_1');
      }),
    );
  });

  it('may be cut elsewhere by a person, and lose, double or move no page', () => {
    fc.assert(
      fc.property(stacks, (parts) => {
        const pages = parts.flatMap((part) => part.pages);
        const [first = 0] = pages;
        const whole = (now: readonly number[]) => [{ pages: now, class: null }];
        expect(misplacedPage(whole(pages), parts)).to.equal(undefined);
        expect(misplacedPage(whole(pages.slice(1)), parts)).to.equal(first);
        expect(misplacedPage(whole([...pages, first]), parts)).to.equal(first);
        if (pages.length > 1) expect(misplacedPage(whole([...pages].reverse()), parts)).to.equal(first);
      }),
    );
  });

  it('are asked about by their confidence, and never where nobody asks', () => {
    const parts = [
      { pages: [1], class: 'Invoice', confidence: 0.9 },
      { pages: [2], class: null, confidence: 0.4 },
    ];
    const asked = { file_sha256: 'a', classes: ['Invoice'], into: INTO };
    const question = questionAbout(parts, { ...asked, review: { below: 0.5 } });
    expect(question?.doubts).to.deep.equal([{ code: 'below', path: '/documents/1', confidence: 0.4 }]);
    expect(questionAbout(parts, { ...asked, review: { below: 0.4 } })).to.equal(undefined);
    expect(questionAbout(parts, { ...asked, review: undefined })).to.equal(undefined);
    expect(questionAbout(parts, { ...asked, review: { sample: 1 } })?.doubts).to.deep.equal([
      { code: 'sample', path: '' },
    ]);
  });

  it('are none in what is no answer', () => {
    for (const documents of [undefined, null, 'a', {}, [null, 1, 'a', [], {}, { pages: 1 }]])
      expect(partsIn({ documents } as never)).to.deep.equal([]);
  });
});

describe('sightings of documents', () => {
  const OF = { tenant_id: 'acme', config_id: 'cfg-1' };
  const seen = (work_id: string, document_id = `doc_${work_id}`, pages: string | null = null) =>
    ({ work_id, document_id, pages }) as Sighting;

  it('are told by letters and digits of values, and by nothing if one is missing', () => {
    const key = (number: unknown, party: unknown) =>
      keyOfValues(OF, ['/number', '/party/name'], { number, party: { name: party } } as never);
    expect(key('INV-001', 'Müller & Söhne')).to.equal(key(' inv 001', 'MÜLLER SÖHNE'));
    expect(key(7, 'a')).to.equal(key('7', 'A.'));
    expect(key('1', '2')).to.not.equal(key('12', ''));
    expect(key('12', '3')).to.not.equal(key('1', '23'));
    for (const missing of [undefined, null, '', ' - ', [], {}, true])
      expect(key('1', missing)).to.equal(undefined);
    expect(keyOfValues(OF, [], { number: 1 })).to.equal(undefined);
    expect(keyOfValues(OF, ['/__proto__'], {})).to.equal(undefined);
    expect(keyOfValues(OF, ['/number'], { number: 1 })).to.not.equal(
      keyOfValues({ ...OF, tenant_id: 'b' }, ['/number'], { number: 1 }),
    );
    expect(keyOfFile(OF, 'a', null)).to.not.equal(keyOfFile(OF, 'a', '1'));
  });

  it('count if they are earlier, and of another document or other pages', () => {
    const all = [seen('1'), seen('2', 'doc_9', '1'), seen('3', 'doc_9', '2'), seen('4')];
    const own = { work_id: '3', document_id: 'doc_9', pages: '2' };
    expect(earlierSightings(all, own)).to.deep.equal([all[0], all[1]]);
    expect(earlierSightings(all, { ...own, pages: '1', work_id: '9' })).to.deep.equal([
      all[0],
      all[2],
      all[3],
    ]);
    expect(earlierSightings(all, seen('1'))).to.deep.equal([]);
  });

  it('are written once for a reading, and only the first ones', () => {
    const decide = (of: readonly Sighting[], work_id: string) => {
      const command = { type: 'Sight', data: seen(work_id), meta: { now: '2026-01-31T08:00:00.000Z' } };
      const decision = sighting.decide(of, command as never);
      return decision.kind === 'accepted' ? decision.events.length : -1;
    };
    expect([decide([], '1'), decide([seen('1')], '1'), decide([seen('1')], '2')]).to.deep.equal([1, 0, 1]);
    const many = Array.from({ length: 20 }, (_, at) => seen(String(at)));
    expect(decide(many, 'new')).to.equal(0);
  });
});
