import { expect } from 'chai';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { auditChains, type GivenSeal, sealOf, type StartChains } from '../../src/audit/chains.ts';
import type { AuditReport } from '../../src/audit/runAudit.ts';
import { chainsThread } from '../../src/operator/auditedLog.ts';
import { history } from './auditedHistory.ts';
import { EDITS } from './edits/edits.ts';
import { auditAfter, auditOf, nothing, tampered } from './tampering.ts';

/** Both halves read for themselves, as two threads do, and what goes between them is copied as it is there. */
const halves =
  (path: string): StartChains =>
  async (work) => {
    const feed = openSqliteEventLog({ path, readOnly: true, stored: true });
    const upTo = (await feed.end()) ?? 0n;
    const done = auditChains(structuredClone(work), feed, upTo).then((chains) => structuredClone(chains));
    return { upTo, done, stop: () => feed.close() };
  };

const inThread = (path: string): StartChains => {
  const feed = openSqliteEventLog({ path, readOnly: true });
  const start = chainsThread(feed, path, { eventsMin: 0n });
  return async (work) => {
    try {
      return await start(work);
    } finally {
      await feed.close();
    }
  };
};

describe('an audit by two threads', () => {
  let seals: readonly GivenSeal[] = [];

  before(async () => {
    await history();
    const { log } = await auditAfter(nothing);
    seals = [{ seal: sealOf(log, '2026-02-01T00:00:00.000Z'), from: 'a file' }];
  });

  const both = (
    path: string,
    startChains: StartChains,
  ): Promise<readonly [one: AuditReport, two: AuditReport]> => {
    const request = { seals, sealFlaws: ['a flaw'], notes: ['a note'] };
    return Promise.all([
      auditOf(path, request).then(({ report }) => report),
      auditOf(path, { ...request, startChains }).then(({ report }) => report),
    ]);
  };

  for (const { name, make } of EDITS)
    it(`finds what one thread finds: ${name}`, async () => {
      const [one, two] = await tampered(make, (path) => both(path, halves(path)));
      expect(two).to.deep.equal(one);
    });

  it('tells times that run backwards in the order of the log, whichever half found them', async () => {
    const [one, two] = await tampered(
      ({ all, run, rechain }) => {
        for (const { stream, position, metadata } of all("type in ('CreditsGranted', 'CreditsAdjusted')")) {
          const early = metadata.replace(/"recorded_at":"20\d\d/, '"recorded_at":"2019');
          run('update events set metadata = ? where position = ?', early, position);
          rechain(stream);
        }
      },
      (path) => both(path, halves(path)),
    );
    expect(one.findings.filter(({ check }) => check === 'time').length).to.be.greaterThan(3);
    expect(two).to.deep.equal(one);
  });

  it('is the same in a real thread', async () => {
    const edit = EDITS.find(({ foundBy }) => foundBy === 'audit');
    const [one, two] = await tampered(edit?.make ?? nothing, (path) => both(path, inThread(path)));
    expect(two).to.deep.equal(one);
    expect(two.total).to.be.greaterThan(1);
  });

  it('ends with the reason when the thread cannot read the log', async () => {
    const path = '/nowhere/events.db';
    const feed = { end: () => Promise.resolve(1n) };
    const failed = await tampered(nothing, (there) =>
      auditOf(there, { startChains: chainsThread(feed, path, { eventsMin: 0n }) }).catch(String),
    );
    expect(failed).to.contain('there is no event log at /nowhere');
  });

  it('leaves a short log to one thread', async () => {
    const feed = { end: () => Promise.resolve(100n) };
    const work = { dense: true, seals: [], sealFlaws: [], keep: 1 };
    expect(await chainsThread(feed, '/nowhere')(work)).to.equal(undefined);
  });
});
