import { expect } from 'chai';
import { openDocumentWorkers, type DocumentWorkers } from '../../isolation/documentWorkers.ts';
import type { PackedDocument } from '../../document/document.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { GroundedValue, PageReading } from '../../ports/documentTools.ts';
import { documentFrom, INVOICE, LIMITS, read } from './modelReadings.ts';

describe('the tools of model work', () => {
  let workers: DocumentWorkers;
  before(() => {
    workers = openDocumentWorkers({ processes: 1 });
  });
  after(() => workers.close());

  const documentOf = (...pages: readonly PageReading[]): Promise<PackedDocument> =>
    documentFrom(workers.tools, pages);

  describe('scoring', () => {
    const rows = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ a: at % 7, b: `row ${String(at)}` }));

    it('compares what a model wrote with what was expected', async () => {
      const expected = { number: 'Q-1', rows: rows(2) };
      const result = await workers.tools.score(
        { expected, answer: JSON.stringify({ number: 'Q-2', rows: rows(2).reverse() }) },
        LIMITS,
      );
      expect(result).to.have.nested.property('scored.counts').that.deep.equals({ tp: 4, fp: 1, fn: 1 });
    });

    it('ends at its deadline, however many rows there are to pair', async () => {
      const answer = JSON.stringify({ rows: rows(20_000) });
      const began = process.cpuUsage();
      const limits = { deadlineMs: 20, share: 't' };
      const result = await workers.tools.score({ expected: { rows: rows(20_000) }, answer }, limits);
      expect(result.kind).to.be.oneOf(['timed_out', 'unreadable']);
      expect(process.cpuUsage(began).user / 1000).to.be.below(2_000);
    });
  });

  describe('grounding', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        number: { type: 'string' },
        total: { type: 'number' },
        invented: { type: 'string' },
        absent: { type: 'string' },
        maybe: { type: ['string', 'null'] },
        paid: { type: 'boolean' },
        party: { type: 'object', properties: { name: { type: 'string' } } },
      },
    };
    const settings = { citations: true };
    const ground = async (value: JsonObject): Promise<GroundedValue> => {
      const result = await workers.tools.ground(
        { document: await documentOf(read(1, INVOICE)), schema, settings, answer: JSON.stringify(value) },
        LIMITS,
      );
      if (result.kind !== 'ok') throw new Error(result.kind);
      return result;
    };

    it('drops nulls, takes invalid values out, cites what stands there and names what does not', async () => {
      const result = await ground({
        number: 'LF-7',
        total: 1234.5,
        invented: 'Nowhere to be seen',
        absent: null,
        maybe: null,
        paid: true,
        party: { name: null },
      });
      expect(result.value).to.deep.equal({
        number: 'LF-7',
        total: 1234.5,
        invented: 'Nowhere to be seen',
        maybe: null,
        paid: true,
      });
      expect(result.validationErrors).to.deep.equal([]);
      expect(
        result.citations.map(({ path, text, page, grounding }) => [path, text, page, grounding]),
      ).to.deep.equal([
        ['/number', 'LF-7', 1, 'exact'],
        ['/total', '1.234,50 EUR', 1, 'normalised'],
        ['/invented', '', null, 'none'],
        ['/paid', '', null, 'derived'],
      ]);
    });

    it('shows what does not fit as an error', async () => {
      const { value, validationErrors } = await ground({ total: 'twelve' });
      expect(value).to.deep.equal({ maybe: null });
      expect(validationErrors.map(({ path, keyword }) => [path, keyword])).to.deep.equal([
        ['/total', 'type'],
      ]);
    });

    it('refuses an answer that is nested without end', async () => {
      const deep = `{"deep":${'['.repeat(5_000)}"x"${']'.repeat(5_000)}}`;
      const document = await documentOf(read(1, INVOICE));
      const result = await workers.tools.ground({ document, schema, settings, answer: deep }, LIMITS);
      expect(result.kind).to.equal('no_object');
    });
  });
});
