import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject } from '../../kernel/json.ts';
import { askedSchema, engineAlone, joinedReadings, planOf } from '../../models/byModel/doubtful.ts';
import type { Extraction } from '../../ports/extractionEngine.ts';
import { answers, status } from '../support/scriptedProvider/steps.ts';
import { openDocumentWorkers } from '../../isolation/documentWorkers.ts';
import { ProcessNotStarted } from '../../ports/documentParser.ts';
import { documentWork, sentText } from './documentWork.ts';

type Leaf = readonly [path: string, confidence: number];

const reading = (value: JsonObject, ...leaves: readonly Leaf[]): Extraction => ({
  mimeType: 'text/plain',
  value,
  validationErrors: [],
  pages: [],
  warnings: [],
  citations: leaves.map(([path, confidence]) => ({ path, confidence, text: 't', page: 1, bbox: null })),
});

const asked = (schema: JsonObject, engine: Extraction): JsonObject | undefined => {
  const plan = planOf(schema, engine);
  return plan === 'sure' ? undefined : askedSchema(schema, plan);
};

const TEXT = { type: 'string' };
const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
});
/** What is asked of an object has no other members. */
const closed = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  ...object(properties, required),
  additionalProperties: false,
});

describe('what a model is asked for where only doubtful fields are', () => {
  it('is what the engine left out, and what it is not sure of', () => {
    const schema = object({ a: TEXT, b: TEXT, c: TEXT }, ['a', 'b']);
    const engine = reading({ a: 'A', b: 'B' }, ['/a', 0.9], ['/b', 0.89]);
    expect(asked(schema, engine)).to.deep.equal(closed({ b: TEXT, c: TEXT }, ['b']));
  });

  it('is nothing where all is read surely', () => {
    const engine = reading({ a: 'A', of: { b: 'B' } }, ['/a', 0.95], ['/of/b', 0.91]);
    expect(asked(object({ a: TEXT, of: object({ b: TEXT }) }), engine)).to.equal(undefined);
    expect(engineAlone(engine).readBy).to.deep.equal({ engine: ['/a', '/of'], model: [], both: [] });
  });

  it('is asked member by member in an object, and as a whole where members hang together', () => {
    const engine = reading({ of: { b: 'B', c: 'C' } }, ['/of/b', 0.95], ['/of/c', 0.5]);
    const plain = object({ of: object({ b: TEXT, c: TEXT }) });
    expect(asked(plain, engine)).to.deep.equal(closed({ of: closed({ c: TEXT }) }));
    const together = object({ of: { ...object({ b: TEXT, c: TEXT }), minProperties: 2 } });
    expect(asked(together, engine)).to.deep.equal(together);
    expect(asked({ ...plain, anyOf: [{}] }, engine)).to.deep.equal({ ...plain, anyOf: [{}] });
  });

  it('is a list where it is empty, or a row lacks what the schema names', () => {
    const rows = object({ rows: { type: 'array', items: object({ b: TEXT, c: TEXT }) } });
    const whole = [
      ['/rows/0/b', 0.95],
      ['/rows/0/c', 0.95],
    ] as const;
    expect(asked(rows, reading({ rows: [{ b: 'B', c: 'C' }] }, ...whole))).to.equal(undefined);
    expect(asked(rows, reading({ rows: [{ b: 'B' }] }, ...whole))).to.deep.equal(rows);
    expect(asked(rows, reading({ rows: [] }))).to.deep.equal(rows);
  });

  it('is what does not fit the schema, whatever the engine thinks of it', () => {
    const engine = {
      ...reading({ a: 'A' }, ['/a', 0.99]),
      validationErrors: [{ path: '/a', keyword: 'pattern', message: 'm', params: {}, actual: 'A' }],
    };
    expect(asked(object({ a: TEXT }), engine)).to.deep.equal(object({ a: TEXT }));
  });

  it('names with slashes, tildes and of prototypes are names like others', () => {
    const names = fc.constantFrom('a/b', '~', '__proto__', 'constructor', 'toString', '~1', '');
    const sureness = fc.constantFrom(0.5, 0.95);
    const run = fc.property(fc.dictionary(names, sureness, { noNullPrototype: true }), (of) => {
      const all = Object.entries(of);
      const pointer = (name: string) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const value = Object.fromEntries(all.map(([name]) => [name, name]));
      const schema = object(Object.fromEntries(all.map(([name]) => [name, TEXT])));
      const engine = reading(value, ...all.map(([name, sure]): Leaf => [pointer(name), sure]));
      const plan = planOf(schema, engine);
      const doubted = all.filter(([, sure]) => sure < 0.9).map(([name]) => name);
      const left = plan === 'sure' ? {} : askedSchema(schema, plan)['properties'];
      expect(Object.keys(left as JsonObject)).to.have.members(doubted);
      const model = reading(Object.fromEntries(doubted.map((name) => [name, name])));
      const joined = joinedReadings(plan, { engine, model });
      expect(Object.entries(joined.value)).to.have.deep.members(Object.entries(value));
      expect(joined.readBy?.both).to.have.members(doubted.map(pointer));
    });
    fc.assert(run, { numRuns: 200 });
  });
});

describe('readings of the engine and of a model', () => {
  const schema = object({ a: TEXT, b: TEXT, c: TEXT });
  const engine = reading({ a: 'A', b: 'B', c: 'C' }, ['/a', 0.95], ['/b', 0.8], ['/c', 0.6]);
  const plan = planOf(schema, engine);

  it('that agree are surer than either; where they differ, the warning has both values', () => {
    const model = reading({ b: 'B', c: 'D' }, ['/b', 0.9], ['/c', 0.7]);
    const { value, citations, warnings, readBy } = joinedReadings(plan, { engine, model });
    expect(value).to.deep.equal({ a: 'A', b: 'B', c: 'D' });
    const sureness = Object.fromEntries(citations.map(({ path, confidence }) => [path, confidence]));
    expect(sureness['/a']).to.equal(0.95);
    expect(sureness['/b']).to.be.closeTo(0.98, 1e-9);
    expect(sureness['/c']).to.equal(0.7);
    expect(readBy).to.deep.equal({ engine: ['/a'], model: ['/c'], both: ['/b'] });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.deep.include({ code: 'readings_differ', path: '/c', value: 'C', confidence: 0.6 });
    expect(warnings[0]?.message).to.contain('"D"').and.to.contain('"C"');
  });

  it('have one citation a path, of the value that is there: what a model was not asked for is not looked at', () => {
    const wide = planOf({ ...schema, additionalProperties: TEXT }, engine);
    const error = { path: '/a', keyword: 'pattern', message: 'm', params: {}, actual: 'EVIL' };
    const warning = { code: 'low_confidence', message: 'm', path: '/a', value: 'EVIL' } as const;
    const told = {
      ...reading({ a: 'EVIL', b: 'B', c: 'D' }, ['/a', 0.99], ['/b', 0.9], ['/c', 0.7]),
      validationErrors: [error],
      warnings: [warning],
    };
    for (const one of [plan, wide]) {
      const joined = joinedReadings(one, { engine, model: told });
      expect(joined.value).to.deep.equal({ a: 'A', b: 'B', c: 'D' });
      expect(joined.citations.map(({ path }) => path)).to.deep.equal(['/a', '/b', '/c']);
      expect(joined.citations[0]?.confidence).to.equal(0.95);
      expect(joined.validationErrors).to.deep.equal([]);
      expect(joined.warnings.map(({ code }) => code)).to.deep.equal(['readings_differ']);
    }
  });

  it('of which the model leaves one out: it is left out, and the warning has it', () => {
    const { value, warnings, readBy } = joinedReadings(plan, { engine, model: reading({ b: 'B', c: null }) });
    expect(value).to.deep.equal({ a: 'A', b: 'B', c: null });
    expect(warnings.map(({ message }) => message)).to.deep.equal([
      'The model reads nothing, which is the answer; the embedded engine reads "C".',
    ]);
    expect(readBy?.model).to.deep.equal([]);
  });
});

describe('work on documents with models for what is doubtful', () => {
  const { provider, work, calls, access, fileOf, onCall, workBy } = documentWork();
  const SCHEMA = object({ invoice_number: TEXT, remark_of_the_clerk: TEXT }, ['invoice_number']);
  const TEXT_OF = 'INVOICE\n\nInvoice number: INV-4711\n\nInvoice date: 2026-03-04\n';

  const extract = async (schema: JsonObject, more: object = {}) => {
    const request = { ...(await fileOf('a.txt', TEXT_OF)), effort: 'standard' as const };
    const settings = { citations: true, models_for: 'doubtful' as const, ...more };
    return work.extract({ ...request, schema, settings }, { llm: access('sk-doubt'), ocr: null, onCall });
  };
  const extracted = async (...asked: Parameters<typeof extract>) => {
    const result = await extract(...asked);
    if (result.kind !== 'ok') throw new Error(JSON.stringify(result));
    return result.extraction;
  };

  it('a machine without a process for it says nothing of the schema', async () => {
    const none = openDocumentWorkers({ processes: 1, entry: 'missing.js' });
    try {
      const request = { ...(await fileOf('a.txt', TEXT_OF)), effort: 'standard', schema: SCHEMA } as const;
      const settings = { citations: true, models_for: 'all' } as const;
      const models = { llm: access('sk-none'), ocr: null, onCall };
      const failed = await workBy(none)
        .extract({ ...request, settings }, models)
        .catch((error: unknown) => error);
      expect(failed).to.be.instanceOf(ProcessNotStarted);
    } finally {
      await none.close();
    }
  });

  it('no call is made, and none is logged, where the engine read all of it', async () => {
    provider.script('sk-doubt', status(500));
    const { value, readBy, citations } = await extracted(object({ invoice_number: TEXT }));
    expect(value).to.deep.equal({ invoice_number: 'INV-4711' });
    expect(citations[0]?.confidence).to.be.at.least(0.9);
    expect(readBy).to.deep.equal({ engine: ['/invoice_number'], model: [], both: [] });
    expect([provider.requests, calls]).to.deep.equal([[], []]);
  });

  for (const effort of ['fast', 'standard', 'robust'] as const)
    it(`${effort}: a model is asked for the rest alone, and not told what was read`, async () => {
      provider.script('sk-doubt', answers({ remark_of_the_clerk: 'none' }));
      const { value, readBy } = await extracted(SCHEMA, { effort });
      expect(value).to.deep.equal({ invoice_number: 'INV-4711', remark_of_the_clerk: 'none' });
      expect(readBy).to.deep.equal({
        engine: ['/invoice_number'],
        model: ['/remark_of_the_clerk'],
        both: [],
      });
      const [sent] = provider.requests;
      expect(JSON.stringify(sent?.body))
        .to.contain('remark_of_the_clerk')
        .and.not.to.contain('"invoice_number"');
      expect(sentText(sent!)).not.to.contain('reads by rules');
      expect(calls.map(({ step }) => step)).to.deep.equal(['extraction']);
    });

  it('a model that is told by the document to say more changes nothing that was not asked', async () => {
    const told = { invoice_number: 'EVIL-999', admin: true, remark_of_the_clerk: 'none' };
    provider.script('sk-doubt', answers(told));
    const { value, citations, warnings } = await extracted(SCHEMA);
    expect(value).to.deep.equal({ invoice_number: 'INV-4711', remark_of_the_clerk: 'none' });
    const paths = citations.map(({ path }) => path);
    expect(paths).to.deep.equal([...new Set(paths)]);
    expect(citations.find(({ path }) => path === '/invoice_number')?.text).to.contain('INV-4711');
    expect(JSON.stringify([citations, warnings]))
      .not.to.contain('EVIL')
      .and.not.to.contain('admin');
    expect(calls.map(({ step }) => step)).to.deep.equal(['extraction']);
  });

  it('each call is logged, that of a repair and that of a failure too', async () => {
    provider.script('sk-doubt', answers('no object'), answers({ remark_of_the_clerk: 'none' }));
    await extracted(SCHEMA);
    expect(calls.map(({ step }) => step)).to.deep.equal(['extraction', 'repair']);
    calls.length = 0;
    provider.script('sk-doubt', status(401));
    expect(await extract(SCHEMA)).to.have.property('kind', 'model_failed');
    expect(calls).to.have.length(1);
  });

  it('what a model gets wrong is told as ever, and citations are left out where none are wanted', async () => {
    provider.script('sk-doubt', answers({ remark_of_the_clerk: 7 }));
    const { validationErrors, citations } = await extracted(SCHEMA, { citations: false });
    expect(validationErrors.map(({ path }) => path)).to.deep.equal(['/remark_of_the_clerk']);
    expect(citations).to.deep.equal([]);
  });
});
