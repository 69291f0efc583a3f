import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import Database from 'libsql';
import { openSqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import { canonicalJson } from '../../domain/kernel/chain.ts';
import type { Json } from '../../domain/kernel/json.ts';
import { type GivenSeal, sealOf } from '../../src/audit/chains.ts';
import { type AuditReport, reportText, runAuditSince } from '../../src/audit/runAudit.ts';
import { NoSuchSeal, sealToBeginAt } from '../../src/audit/sinceSeal.ts';
import { systemClock } from '../../adapters/local/local.ts';
import type { EventFeed, EventStore } from '../../domain/ports/log.ts';
import { sealLog } from '../../src/commands/sealing.ts';
import { findSeals } from '../../src/operator/auditedLog.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import { openEventStoreDb } from '../../adapters/eventstoredb/eventStoreDb.ts';
import { openLockedObjects } from '../../src/parts/parts.ts';
import { tempFolder } from '../../engine/test/support/tempFolder.ts';
import { startEsdbDouble } from '../support/esdbDouble/esdbDouble.ts';
import { adjustment } from '../support/money/accountCommands.ts';
import { history } from './auditedHistory.ts';
import { EDITS } from './edits/edits.ts';
import { auditAfter, nothing, tampered } from './tampering.ts';

interface Row {
  readonly position: number;
  readonly stream: string;
  readonly metadata: string;
  readonly log_digest: string;
}

type Rows = ReadonlyMap<number, Row>;

const rowsIn = (path: string): Rows => {
  const db = new Database(path);
  const rows = db.prepare('select * from events order by position').all() as Row[];
  db.close();
  return new Map(rows.map((row) => [row.position, row]));
};

/** What of a row is more than the notation of its metadata. */
const contentOf = (row: Row | undefined): string =>
  row === undefined
    ? ''
    : JSON.stringify({ ...row, metadata: canonicalJson(JSON.parse(row.metadata) as Json) });

const MADE_AT = '2026-02-01T00:00:00.000Z';

/** A seal of the log as it was up to a position. */
const sealAt = (rows: Rows, position: number, made_at = MADE_AT): GivenSeal => {
  const log_digest = rows.get(position)?.log_digest ?? '';
  const place = { position: String(position), events: position };
  return { seal: { seal_version: 2, made_at, ...place, log_digest, previous: null }, from: 'a file' };
};

interface Begin {
  readonly until?: string;
  /** Further seals. */
  readonly seals?: readonly GivenSeal[];
}

const auditFrom = async (
  path: string,
  given: GivenSeal,
  { until, seals = [] }: Begin = {},
): Promise<AuditReport> => {
  const feed = openSqliteEventLog({ path, readOnly: true, stored: true });
  try {
    const log = { seals: [given, ...seals], kept: [], dense: true, origins: [] };
    const seal = sealToBeginAt(log, { until, end: await feed.end() });
    return await runAuditSince({ feed, ...log, seal });
  } finally {
    await feed.close();
  }
};

const checksOf = ({ findings }: AuditReport): readonly string[] => [
  ...new Set(findings.map(({ check }) => check)),
];

describe('an audit that begins at a seal', () => {
  let rows: Rows = new Map();
  const end = () => rows.size;

  before(async () => {
    await history();
    rows = await tampered(nothing, (path) => Promise.resolve(rowsIn(path)));
  });

  it('finds nothing where nothing is wrong, wherever the log was sealed', async () => {
    await tampered(nothing, (path) =>
      fc.assert(
        fc.asyncProperty(fc.integer({ min: 1, max: end() }), async (position) => {
          const { findings, facts, since } = await auditFrom(path, sealAt(rows, position));
          expect(findings).to.deep.equal([]);
          expect(facts).to.include({ events: end(), position: String(end()) });
          expect(since).to.include({ position: String(position), events: end() - position });
        }),
        { numRuns: 25, seed: 20261201 },
      ),
    );
  });

  it('says in one sentence what it looked at and what it trusts', async () => {
    const report = await tampered(nothing, (path) => auditFrom(path, sealAt(rows, end() - 20)));
    expect(reportText(report))
      .to.contain(`audited: the 20 events since the seal of ${MADE_AT} (position ${String(end() - 20)})`)
      .and.to.contain('the seal and the full audit made before it are trusted')
      .and.to.contain('Nothing is wrong.');
    const whole = await tampered(nothing, (path) => auditFrom(path, sealAt(rows, end())));
    expect(whole.since).to.include({ events: 0 });
    expect(whole.unsealed).to.equal(null);
  });

  /** The first position that an edit changed, and the last of the stream that it was in. */
  const edited = (now: Rows): readonly [first: number, last: number] => {
    const isEdited = (position: number) => contentOf(rows.get(position)) !== contentOf(now.get(position));
    const positions = [...new Set([...rows.keys(), ...now.keys()])].sort((a, b) => a - b);
    const first = positions.find(isEdited) ?? end() + 1;
    const { stream } = rows.get(first) ?? {};
    return [first, [...rows.values()].findLast((row) => row.stream === stream)?.position ?? 0];
  };

  for (const { name, foundBy, make } of EDITS.filter(({ foundBy }) => foundBy !== 'neither'))
    it(`finds what lies after the seal, and before it in streams that moved since: ${name}`, async () => {
      await tampered(make, async (path) => {
        const now = rowsIn(path);
        const [first, last] = edited(now);
        const checksFrom = async (position: number) =>
          checksOf(await auditFrom(path, sealAt(rows, position)));
        const after = await checksFrom(first - 1);
        expect(after.length > 0, after.join()).to.equal(foundBy === 'audit');
        if (last > first && now.size >= last)
          expect(await checksFrom(last - 1), 'it moved since').not.to.be.empty;
      });
    });

  const sameLength = EDITS.filter(({ foundBy }) => foundBy === 'seal' || foundBy === 'audit');
  for (const { name, make } of sameLength)
    it(`finds by the digest what was written anew before the seal, and nothing else there: ${name}`, async () => {
      await tampered(make, async (path) => {
        const now = rowsIn(path);
        if (now.size < end()) return;
        const { findings } = await auditFrom(path, sealAt(rows, end()));
        const isRedigested = now.get(end())?.log_digest !== rows.get(end())?.log_digest;
        expect(findings.some(({ check }) => check === 'seal')).to.equal(isRedigested);
      });
    });

  it('compares the last event of every stream with a seal that names them', async () => {
    const { log } = await auditAfter(nothing);
    const heads = { seal: sealOf(log, MADE_AT), from: 'a file' };
    const edit = EDITS.find(({ name }) => name === 'the outcome of an extraction');
    await tampered(edit?.make ?? nothing, async (path) => {
      const { findings } = await auditFrom(path, heads);
      expect(findings.map(({ stream }) => stream)).to.include(rows.get(199)?.stream);
    });
    const found = await tampered(nothing, (path) => auditFrom(path, heads));
    expect(found.findings).to.deep.equal([]);
  });

  it('begins at the last seal, or at the last one made until a time, and compares later ones', async () => {
    const [early, late] = [10, 40].map((position, at) =>
      sealAt(rows, position, `2026-0${String(at + 1)}-01T00:00:00.000Z`),
    );
    if (early === undefined || late === undefined) throw new Error('no seals');
    const begun = (until?: string, seals = [late]) =>
      tampered(nothing, (path) => auditFrom(path, early, { seals, ...(until !== undefined && { until }) }));
    expect((await begun()).since).to.include({ position: '40' });
    const first = await begun('2026-01-31T23:59:59.999Z');
    expect(first.since).to.include({ position: '10' });
    expect(first.findings).to.deep.equal([]);
    const other = {
      ...late,
      seal: { ...sealAt(rows, 41).seal, position: '40', events: 40 } as GivenSeal['seal'],
    };
    expect(
      checksOf(
        await begun('2026-01-31T23:59:59.999Z', [
          { ...other, seal: { ...other.seal, made_at: '2026-03-01T00:00:00.000Z' } },
        ]),
      ),
    ).to.deep.equal(['seal']);
  });

  it('finds that a seal is of another log', async () => {
    const other = {
      ...sealAt(rows, end() - 5),
      seal: { ...sealAt(rows, 7).seal, position: String(end() - 5), events: end() - 5 },
    };
    const report = await tampered(nothing, (path) => auditFrom(path, other as GivenSeal));
    expect(report.findings.map(({ check, message }) => `${check}: ${message}`).join()).to.contain(
      'seal: Up to position',
    );
  });

  it('says what to do where there is no seal, none until then, or the log ends before it', () => {
    const log = { kept: [], dense: true, origins: [] };
    const refused = (seals: readonly GivenSeal[], until?: string, at = 100n) => {
      try {
        return sealToBeginAt({ ...log, seals }, { until, end: at }).position;
      } catch (error) {
        if (error instanceof NoSuchSeal) return error.message;
        throw error;
      }
    };
    expect(refused([])).to.contain('Run quire seal');
    expect(refused([sealAt(rows, 7)], '2026-01-01T00:00:00.000Z')).to.contain(`the first is of ${MADE_AT}`);
    expect(refused([sealAt(rows, 7)], undefined, 6n)).to.contain('The log ends before position 7');
    expect(refused([sealAt(rows, 7), sealAt(rows, 9)], undefined, 8n)).to.equal('7');
  });

  /** Moves credits of two tenants, and seals the log after each pair. */
  const movedAndSealed = async (log: EventStore & EventFeed, keys: readonly string[]): Promise<void> => {
    const writer = accountWriter({ store: log });
    const deps = { log, locked: await openLockedObjects({ s3: undefined }), clock: systemClock() };
    for (const key of keys) {
      for (const tenant of ['acme', 'other']) await writer.execute(adjustment(tenant, 100, key));
      await sealLog(deps, { retainDays: null, signal: new AbortController().signal });
    }
    await writer.close();
  };

  const embedded = () => {
    const folder = tempFolder();
    const log = openSqliteEventLog({ path: join(folder.path, 'events.db') });
    const close = async () => {
      await log.close();
      folder.remove();
    };
    return Promise.resolve({ log, close });
  };
  const onServer = async () => {
    const double = await startEsdbDouble();
    const log = openEventStoreDb({ connectionString: double.connectionString });
    const close = async () => {
      await log.close();
      await double.close();
    };
    return { log, close };
  };

  for (const [name, open, dense] of [
    ['the embedded log', embedded, true],
    ['EventStoreDB', onServer, false],
  ] as const)
    it(`begins at each seal of ${name}, beside its writer and other audits`, async () => {
      const { log, close } = await open();
      try {
        await movedAndSealed(log, ['1', '2', '3']);
        const { seals, origins } = await findSeals({ s3: undefined }, log, MADE_AT);
        const end = await log.end();
        const audited = (given: GivenSeal) => {
          const seal = sealToBeginAt({ seals: [given], kept: [given], dense, origins }, { end });
          return runAuditSince({ feed: log, dense, origins, seals, seal });
        };
        const [reports] = await Promise.all([
          Promise.all(seals.map(audited)),
          movedAndSealed(log, ['4', '5']),
        ]);
        expect(reports).to.have.length(3);
        for (const { findings } of reports) expect(findings).to.deep.equal([]);
        const [first] = reports;
        expect(first?.since?.events).to.be.greaterThan(6);
        expect(first?.since?.earlier_events, 'accounts are read from their first event').to.be.greaterThan(3);
      } finally {
        await close();
      }
    });
});
