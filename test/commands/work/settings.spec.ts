import { expect } from 'chai';
import fc from 'fast-check';
import type { ExtractionEngine, ExtractionSettings } from '@quire/engine/ports/extractionEngine';
import { extractDocument } from '../../../src/commands/extract.ts';
import { batchInputs, type OperationTask } from '../../../src/commands/operationInput.ts';
import { beginTask } from '../../../src/worker/operations.ts';
import { asked, delivery, EXTRACTED, type Delivery } from '../../support/delivery.ts';

const confidence = fc
  .double({ min: 0, max: 1, noNaN: true, noDefaultInfinity: true })
  .filter((one) => !Object.is(one, -0));

const settings: fc.Arbitrary<ExtractionSettings> = fc.record(
  {
    citations: fc.boolean(),
    min_confidence: confidence,
    models_for: fc.constantFrom('all', 'doubtful'),
    shown_pages: fc.constantFrom('relevant', 'all'),
    shown_text: fc.constantFrom('markdown', 'layout'),
    require_grounding: fc.boolean(),
  },
  { requiredKeys: ['citations'] },
);

describe('the settings of an extraction', () => {
  let bench: Delivery;
  beforeEach(async () => {
    bench = await delivery({ balance: 1_000_000 });
  });
  afterEach(() => bench.dispose());

  it('reach the engine alike, whether a request waits or is queued', async () => {
    await fc.assert(
      fc.asyncProperty(settings, async (wanted) => {
        const told: ExtractionSettings[] = [];
        const extract: ExtractionEngine['extract'] = (request) => {
          told.push(request.settings);
          return Promise.resolve(EXTRACTED);
        };
        const process = bench.process({ engine: { name: 'local', extract } });
        const request = { ...asked(1), settings: wanted };
        expect(await extractDocument(process)(request)).to.have.property('kind', 'delivered');

        const plans: OperationTask[] = [];
        await extractDocument(process)({
          ...request,
          handOver: (_, { task }) => {
            plans.push(task);
            return Promise.resolve({ kind: 'handed_over' });
          },
        });
        const [task] = plans;
        if (task === undefined) throw new Error('nothing was queued');
        const inputs = batchInputs({ objects: process.objects, secrets: undefined });
        const owner = { id: 'bat_1', tenant_id: request.tenant_id };
        const stored = await inputs.load(owner, await inputs.put(owner, { task, at: [] }, null));
        const begin = beginTask({
          extract: extractDocument(process),
          convert: () => Promise.reject(new Error('nothing is converted here')),
          sort: () => Promise.reject(new Error('nothing is sorted here')),
          artifacts: {
            find: () => Promise.resolve(undefined),
            isErased: () => Promise.resolve(false),
            load: () => Promise.reject(new Error('no artifact')),
          },
        });
        const { schema: _, ...work } = asked(1);
        await begin({ ...stored, file: work.file, source: null }, work);
        expect(told).to.deep.equal([wanted, wanted]);
      }),
      { numRuns: 50 },
    );
  });
});
