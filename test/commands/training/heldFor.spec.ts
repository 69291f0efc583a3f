import { expect } from 'chai';
import { openedLog } from '../../../src/commands/sealing.ts';
import { referenceData } from '../../../src/commands/reference.ts';
import type { EventFeed, EventStore } from '../../../domain/ports/log.ts';
import { runAudit } from '../../../src/audit/runAudit.ts';
import { START } from '../../support/delivery.ts';
import { jobAsked, pipelineBench, PRICE } from '../../support/pipelineBench.ts';

/** As many more examples as the set got since. */
const GROWN = 200;
const GROWN_PRICE = PRICE + (GROWN - 2) * 20;

describe('the hold of a training job', () => {
  type Bench = Awaited<ReturnType<typeof pipelineBench>>;
  let bench: Bench;
  beforeEach(async () => {
    bench = await pipelineBench();
    await openedLog(bench.store, START);
    await referenceData({ store: bench.store }).ensureDefaults(START);
  });
  afterEach(() => bench.dispose());

  const grown = jobAsked('k', {
    examples: {
      examples: Array.from({ length: GROWN }, (_, n) => ({
        document_id: `doc_${String(n)}`,
        expected: { total: n },
      })),
    },
  });
  const findings = async (): Promise<string[]> => {
    const { report } = await runAudit({
      feed: bench.store as EventStore & EventFeed,
      dense: false,
      keep: 20,
    });
    return report.findings.map(({ check, message }) => `[${check}] ${message}`);
  };

  /** Each write of a request: its hold, its input and its acceptance. */
  for (const at of [2, 3])
    it(`is for the examples that it was created with, where the request before died at its write ${at}`, async () => {
      const dying = bench.process({ at, committed: false });
      void dying.create(jobAsked('k')).catch(() => undefined);
      await dying.happened;
      const second = bench.process();
      expect(await second.create(grown)).to.include({ kind: 'created', credits_held: GROWN_PRICE });
      expect(await bench.account()).to.include({ held: GROWN_PRICE });
      await second.worker.drain();
      expect((await bench.burns()).map(({ credits }) => credits)).to.deep.equal([GROWN_PRICE]);
      expect(await bench.account()).to.include({ held: 0 });
      expect(await findings()).to.deep.equal([]);
    });

  it('is one, where two requests on other examples of one set run at once: the job has that of its own', async () => {
    const [one, two] = await Promise.all([
      bench.process().create(jobAsked('k')),
      bench.process().create(grown),
    ]);
    const held = [one, two].flatMap((answer) => (answer.kind === 'created' ? [answer.credits_held] : []));
    expect(new Set(held)).to.have.length(1);
    const worker = bench.process().worker;
    await worker.drain();
    expect((await bench.burns()).map(({ credits }) => credits)).to.deep.equal([held[0]]);
    expect(await bench.account()).to.include({ held: 0 });
    expect(await findings()).to.deep.equal([]);
  });

  it('is the same for the same request again', async () => {
    const dying = bench.process({ at: 2, committed: false });
    void dying.create(jobAsked('k')).catch(() => undefined);
    await dying.happened;
    await bench.process().create(jobAsked('k'));
    expect(await bench.account()).to.include({ held: PRICE });
    expect(await findings()).to.deep.equal([]);
  });
});
