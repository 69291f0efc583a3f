import { expect } from 'chai';
import { extract } from '../../extraction/extract.ts';
import { leftWarnings } from '../../extraction/pace.ts';
import { openFile } from '../../formats/readDocument.ts';
import { textDocument } from '../../formats/text/textDocument.ts';
import { runJob } from '../../isolation/runJob.ts';
import { workClock } from '../../kernel/workClock.ts';
import type { JsonObject } from '../../kernel/json.ts';

const TEXT = 'Order number: A-4711\nRoom: B12\nCity: Prague\nTags: new, red\n';
const text = { type: 'string' };
const SCHEMA: JsonObject = {
  type: 'object',
  properties: { order_number: text, room: text, city: text, tags: { type: 'array', items: text } },
};

/** Says that it is late from the look of this number on. */
const lateAt = (look: number) => {
  let looks = 0;
  return () => ++looks >= look;
};

describe('an extraction whose time is used up', () => {
  const whole = extract(textDocument(TEXT), SCHEMA);

  it('is whole where it is not', () => {
    expect(whole.value).to.deep.equal({
      order_number: 'A-4711',
      room: 'B12',
      city: 'Prague',
      tags: ['new', 'red'],
    });
    expect(whole.left).to.deep.equal([]);
  });

  for (const [look, left] of [
    [1, ['/order_number', '/room', '/city', '/tags']],
    [3, ['/city', '/tags']],
    [4, ['/tags']],
  ] as const)
    it(`says at look ${look} what it found until then, as the whole one has it, and what it did not look for`, () => {
      const cut = extract(textDocument(TEXT), SCHEMA, { isLate: lateAt(look) });
      expect(cut.left).to.deep.equal(left);
      const kept = Object.entries(whole.value).filter(([name]) => !left.some((path) => path === `/${name}`));
      expect(cut.value).to.deep.equal(Object.fromEntries(kept));
    });

  it('is answered by its process with a warning that names the paths', async () => {
    const bytes = Buffer.from(TEXT);
    const facts = {
      fileName: 'a.txt',
      effort: 'fast',
      pagesMax: 1,
      languages: ['eng'],
      deadlineMs: 60_000,
    } as const;
    const work = { schema: SCHEMA, settings: { citations: true } };
    const surroundings = { tell: () => undefined, open: openFile, isLate: lateAt(3) };
    const answer = await runJob({ kind: 'extract', file: { ...facts, bytes }, ...work }, surroundings);
    expect(answer).to.have.nested.property('extraction.value').that.has.keys('order_number', 'room');
    expect(answer).to.have.nested.property('extraction.warnings[0].code', 'deadline_reached');
    expect(answer)
      .to.have.nested.property('extraction.warnings[0].paths')
      .that.deep.equals(['/city', '/tags']);
  });

  it('tells a hundred paths, and counts the others', () => {
    const [warning] = leftWarnings(Array.from({ length: 120 }, (_, i) => `/a${i}`));
    expect(warning).to.have.property('paths').with.length(100);
    expect(warning?.message).to.include('/a4 …').and.to.include('20 more');
    expect(leftWarnings([])).to.deep.equal([]);
  });
});

describe('the clock of work', () => {
  const clock = (looks: readonly (readonly [wall: number, cpu: number])[]): number => {
    let at = 0;
    const worked = workClock({ wallMs: () => looks[at]?.[0] ?? 0, cpuMs: () => looks[at]?.[1] ?? 0 });
    let last = 0;
    for (at = 1; at < looks.length; at += 1) last = worked();
    return last;
  };

  it('counts what the process works, and never more than has passed', () => {
    expect(clock([[0, 0], [400, 390], [2_400, 700]])).to.equal(700); // prettier-ignore
    expect(clock([[0, 0], [400, 390], [1_000, 1_900]])).to.equal(1_000); // prettier-ignore
  });

  it('stands still while the process is stopped', () => {
    expect(clock([[0, 0], [400, 390], [90_400, 400], [90_500, 500]])).to.equal(500); // prettier-ignore
  });
});
