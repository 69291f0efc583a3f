import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import Database from 'libsql';
import { objectFileOf } from '../../adapters/local/objectFolder.ts';
import { canonicalJson, chainHash, eventIdOfHash, sha256 } from '../../domain/kernel/chain.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import type { ReadOptions } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { balancesAt } from '../../src/audit/accounts.ts';
import type { SqliteEventLog } from '../../adapters/sqlite/eventLog.ts';
import type { GivenSeal } from '../../src/audit/chains.ts';
import { runAuditSince } from '../../src/audit/runAudit.ts';
import { sealToBeginAt } from '../../src/audit/sinceSeal.ts';
import { everything } from '../../src/audit/streams.ts';
import { archivesIn } from '../../src/operator/archive.ts';
import { openCopiedLog } from '../../src/backup/backup.ts';
import { auditCopy } from '../../src/backup/restoreBackup.ts';
import { type TempFolder } from '../../engine/test/support/tempFolder.ts';
import { intruderIn } from '../audit/tampering.ts';
import {
  archiveIt,
  auditOf,
  type ClosedLog,
  closedLog,
  collected,
  copyOfLog,
  eventsOf,
  LOG,
  openArchived,
  refusal,
  textOf,
} from './archivedLog.ts';

const sql = (dataDir: string, ...lines: readonly string[]): void => {
  const db = new Database(join(dataDir, LOG));
  for (const line of lines) db.exec(line);
  db.close();
};

/** Which places each archived file has in a folder, and its manifest. */
const filesOf = async (dataDir: string) => {
  const log = openArchived(dataDir);
  const [archive] = await archivesIn(log);
  await log.close();
  const pathOf = (key: string): string => join(dataDir, 'objects', objectFileOf(key));
  const manifest = pathOf(archive!.manifest.key);
  const said = JSON.parse(readFileSync(manifest, 'utf8')) as {
    files: { key: string; sha256: string; first: number; last: number }[];
  };
  return { manifest, said, paths: said.files.map(({ key }) => pathOf(key)) };
};

type Files = Awaited<ReturnType<typeof filesOf>>;

const linesIn = (path: string): string[] => gunzipSync(readFileSync(path)).toString().split('\n');

const rewritten = (path: string, edit: (lines: string[]) => readonly string[]): void =>
  writeFileSync(path, gzipSync(edit(linesIn(path)).join('\n')));

/** A charge of one credit more, with the hash that belongs to it. */
const withOtherAmount = (lines: string[]): readonly string[] =>
  lines.map((line) => {
    const [position, stream = '', revision = '', , type = '', digest, data = '', said = ''] =
      line.split('\t');
    if (type !== 'CreditsBurned') return line;
    const burn = JSON.parse(data) as JsonObject;
    const { hash: _, ...metadata } = JSON.parse(said) as JsonObject;
    const changed = { ...burn, credits: Number(burn['credits']) + 1 };
    const hash = chainHash({ stream, revision: BigInt(revision), type, data: changed, metadata });
    const text = [canonicalJson(changed), canonicalJson({ ...metadata, hash })];
    return [position, stream, revision, eventIdOfHash(hash), type, digest, ...text].join('\t');
  });

/** Gives the manifest the digest of what lies at a place of it now. */
const manifestAsIs = ({ manifest, said, paths }: Files): void => {
  for (const [at, file] of said.files.entries()) file.sha256 = sha256(readFileSync(paths[at]!));
  writeFileSync(manifest, JSON.stringify(said));
};

/** Ten edits of an archive, and what names each. */
const EDITS: readonly (readonly [
  name: string,
  edit: (files: Files, dataDir: string) => void,
  message: RegExp,
])[] = [
  [
    'a byte',
    ({ paths }) => {
      const bytes = readFileSync(paths[1]!);
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(paths[1]!, bytes);
    },
    /its SHA-256 is not the one/,
  ],
  ['a file removed', ({ paths }) => rmSync(paths[1]!), /it is not in the store of objects/],
  [
    'two files that changed places',
    ({ paths }) => {
      const [a, b] = [readFileSync(paths[0]!), readFileSync(paths[1]!)];
      writeFileSync(paths[0]!, b);
      writeFileSync(paths[1]!, a);
    },
    /its SHA-256 is not the one/,
  ],
  [
    'an event removed',
    ({ paths }) => rewritten(paths[1]!, (lines) => lines.filter((_, at) => at !== 5)),
    /its SHA-256 is not the one/,
  ],
  [
    'two events that changed places',
    ({ paths }) => rewritten(paths[1]!, ([head, a, b, ...lines]) => [head!, b!, a!, ...lines]),
    /its SHA-256 is not the one/,
  ],
  [
    'an amount, with its hash made anew',
    ({ paths }) => rewritten(paths[1]!, withOtherAmount),
    /its SHA-256 is not the one/,
  ],
  [
    'a file cut short',
    ({ paths }) => writeFileSync(paths[1]!, readFileSync(paths[1]!).subarray(0, 400)),
    /its SHA-256 is not the one/,
  ],
  [
    'an amount, with its hash, and the manifest to fit',
    (files) => {
      rewritten(files.paths[1]!, withOtherAmount);
      manifestAsIs(files);
    },
    /manifest-.*it is not the one that the log names/,
  ],
  [
    'an older version of a file',
    ({ paths }) =>
      rewritten(paths[1]!, (lines) => [
        lines[0]!.replace(/"previous":"\w/, '"previous":"x'),
        ...lines.slice(1),
      ]),
    /its SHA-256 is not the one/,
  ],
  [
    'an event more',
    ({ paths }) => rewritten(paths[1]!, (lines) => [...lines.slice(0, -1), lines.at(-2)!, '']),
    /its SHA-256 is not the one/,
  ],
  [
    'the table of archived streams',
    (_, dataDir) => sql(dataDir, "delete from archived_streams where stream = 'account-acme'"),
    /archived_streams of the log does not say/,
  ],
  [
    'the table of archived files',
    (_, dataDir) => sql(dataDir, "update archived_files set sha256 = replace(sha256, 'a', 'b')"),
    /archived_files of the log names another/,
  ],
];

/** A data folder whose log is archived, for one test. */
const archivedCopy = async (closed: ClosedLog, until = closed.days[1]): Promise<TempFolder> => {
  const folder = copyOfLog(closed);
  await archiveIt(folder.path, { until, now: closed.now });
  return folder;
};

/** A seal of the log up to a position. */
const sealOfPart = async (log: SqliteEventLog, upTo: bigint): Promise<GivenSeal> => {
  for await (const { position, stored } of everything(log, undefined, upTo - 1n)) {
    const place = { position: String(position), events: Number(position) };
    const log_digest = stored?.log_digest ?? '';
    const made_at = '2026-02-01T00:00:00.000Z';
    return { seal: { seal_version: 2, made_at, ...place, log_digest, previous: null }, from: 'a file' };
  }
  throw new Error(`no event at ${String(upTo)}`);
};

describe('an archive of closed months', () => {
  let [closed, full]: [ClosedLog, TempFolder] = [undefined!, undefined!];
  let events: readonly RecordedEvent[];
  let end: bigint;

  before(async () => {
    closed = await closedLog();
    events = await eventsOf(closed.folder.path);
    end = events.at(-1)!.position;
    full = await archivedCopy(closed);
  });

  after(() => {
    full.remove();
    closed.folder.remove();
  });

  const sameAsBefore = async (dataDir: string): Promise<void> => {
    expect((await eventsOf(dataDir, end)).map(textOf)).to.deep.equal(events.map(textOf));
  };

  it('takes the events out of the log, keeps positions and gives the room back', async () => {
    const db = new Database(join(full.path, LOG));
    const [left] = db
      .prepare(`select count(*), min(position) from events where category not in ('$quire', '$seals')`)
      .raw()
      .all() as [number, number][];
    db.close();
    expect(left![0]).to.be.lessThan(events.length / 2);
    expect(left![1]).to.be.greaterThan(20);
    expect(statSync(join(full.path, LOG)).size).to.be.lessThan(statSync(join(closed.folder.path, LOG)).size);
    await sameAsBefore(full.path);
  });

  it('is read on through, whatever is asked for', async () => {
    const [hot, archived] = [openArchived(closed.folder.path), openArchived(full.path)];
    const streams = [...new Set(events.map(({ stream }) => stream))].filter((name) => !name.startsWith('$'));
    const both = async (read: (log: typeof hot) => AsyncIterable<RecordedEvent>): Promise<void> => {
      expect(await collected(read(archived))).to.deep.equal(await collected(read(hot)));
    };
    const reading = fc.record({
      stream: fc.constantFrom(...streams),
      direction: fc.constantFrom('forwards' as const, 'backwards' as const),
      from: fc.option(fc.bigInt(0n, 30n), { nil: undefined }),
      limit: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
    });
    try {
      await fc.assert(
        fc.asyncProperty(reading, ({ stream, direction, from, limit }) => {
          const options: ReadOptions = {
            direction,
            ...(from !== undefined && { from }),
            ...(limit && { limit }),
          };
          return both((log) => log.read(stream, options));
        }),
        { numRuns: 100 },
      );
      const place = fc.bigInt(0n, end);
      const categories = fc.option(fc.subarray(['account', 'payment', 'books', 'priceList']), {
        nil: undefined,
      });
      await fc.assert(
        fc.asyncProperty(place, categories, fc.boolean(), async (at, wanted, own) => {
          const seen = async (log: typeof hot): Promise<readonly string[]> => {
            const all: string[] = [];
            for await (const item of log.subscribe({
              after: at,
              own,
              ...(wanted && { categories: wanted }),
            })) {
              if (item.kind === 'caught_up') return all;
              if (item.kind === 'event' && item.event.position <= end) all.push(textOf(item.event));
            }
            return all;
          };
          expect(await seen(archived)).to.deep.equal(await seen(hot));
        }),
        { numRuns: 60 },
      );
      for (const at of [1n, 2n, end / 3n, end / 2n, end]) await both((log) => log.backwards({ before: at }));
    } finally {
      await hot.close();
      await archived.close();
    }
  });

  it('lets nobody write to an archived stream as if it were new', async () => {
    const folder = await archivedCopy(closed);
    const log = openArchived(folder.path, {});
    const ended = events.filter(({ stream }) => stream.startsWith('payment-')).at(0)!;
    const { id: _, type, data, metadata } = ended;
    const event = { id: '00000000-0000-4000-8000-00000000000a', type, data, metadata };
    const last = events.filter(({ stream }) => stream === ended.stream).at(-1)!.revision;
    try {
      const asNew = await log.append(ended.stream, 'no_stream', [event]);
      expect(asNew).to.deep.equal({ kind: 'conflict', actual: last });
      const next = await log.append(ended.stream, last, [event]);
      expect(next).to.include({ kind: 'appended', revision: last + 1n });
      const all = [];
      for await (const { revision } of log.read(ended.stream)) all.push(revision);
      expect(all).to.deep.equal([...Array(Number(last) + 2).keys()].map(BigInt));
    } finally {
      await log.close();
      folder.remove();
    }
  });

  it('is audited with the log, by one thread and by two, and as of a moment', async () => {
    for (const threads of [false, true]) {
      const { total, checks, findings } = await auditOf(full.path, threads);
      expect(findings).to.deep.equal([]);
      expect(total).to.equal(0);
      expect(checks.find(({ check }) => check === 'archive')?.checked).to.be.greaterThan(2);
    }
    const at = `${closed.days[0]}T23:59:59.999Z`;
    const [hot, archived] = [openArchived(closed.folder.path), openArchived(full.path)];
    expect(await balancesAt(archived, { at, tenant: undefined })).to.deep.equal(
      await balancesAt(hot, { at, tenant: undefined }),
    );
    await hot.close();
    await archived.close();
  });

  it('is audited from a seal on, with what was archived of streams that moved since', async () => {
    for (const dataDir of [closed.folder.path, full.path]) {
      const feed = openArchived(dataDir, { readOnly: true, stored: true });
      for (const part of [10, 4, 2]) {
        const given = await sealOfPart(feed, BigInt(events.length) / BigInt(part));
        const log = { seals: [given], kept: [], dense: true, origins: [] };
        const seal = sealToBeginAt(log, { end: await feed.end() });
        const { findings, since } = await runAuditSince({ feed, ...log, seal });
        expect(findings).to.deep.equal([]);
        expect(since?.earlier_events).to.be.greaterThan(0);
      }
      await feed.close();
    }
  });

  it('goes on after an earlier one, and a repeat finds nothing to do', async () => {
    const folder = await archivedCopy(closed, closed.days[0]);
    const again = { until: closed.days[1], now: closed.now };
    expect((await archiveIt(folder.path, again)).moved_out).to.be.greaterThan(0);
    const repeated = await archiveIt(folder.path, again);
    expect(repeated).to.deep.include({ archived: null, moved_out: 0, archive_bytes: 0 });
    await sameAsBefore(folder.path);
    expect((await auditOf(folder.path)).findings).to.deep.equal([]);
    folder.remove();
  });

  it('changes nothing in a dry run', async () => {
    const folder = copyOfLog(closed);
    const made = await archiveIt(folder.path, { until: closed.days[1], now: closed.now, dryRun: true });
    expect(made.archived).to.include({ until: closed.days[1], first: '1' });
    expect(await eventsOf(folder.path, 0n)).to.have.length(events.length - 1);
    folder.remove();
  });

  describe('loses nothing when it is cut short', () => {
    const steps: string[] = [];
    const wishOf = () => ({ until: closed.days[1], now: closed.now });

    it('at one of its steps: files, manifest, event, seal, and each file that leaves the log', async () => {
      const whole = copyOfLog(closed);
      await archiveIt(whole.path, { ...wishOf(), onStep: (step) => void steps.push(step.split(' ')[0]!) });
      whole.remove();
      expect(steps).to.deep.equal([
        'wrote',
        'wrote',
        'wrote',
        'wrote',
        'said',
        'sealed',
        'moved',
        'moved',
        'moved',
      ]);
    });

    for (let at = 0; at < 9; at += 1)
      it(`after step ${String(at + 1)}, and the next run finishes it`, async () => {
        const folder = copyOfLog(closed);
        let left = at;
        const onStep = (): void => {
          left -= 1;
          if (left < 0) throw new Error('killed');
        };
        expect(await refusal(archiveIt(folder.path, { ...wishOf(), onStep }))).to.equal('killed');
        await sameAsBefore(folder.path);
        await archiveIt(folder.path, wishOf());
        await sameAsBefore(folder.path);
        expect((await auditOf(folder.path)).findings).to.deep.equal([]);
        expect((await archiveIt(folder.path, wishOf())).moved_out).to.equal(0);
        folder.remove();
      });
  });

  it('removes nothing where the store did not keep what it was given', async () => {
    const folder = copyOfLog(closed);
    const forgetful = { get: () => Promise.resolve(undefined), put: () => Promise.resolve() };
    const wish = { until: closed.days[1], now: closed.now, objects: forgetful };
    expect(await refusal(archiveIt(folder.path, wish))).to.match(/what was read back is not the same/);
    const kept = new Map<string, Uint8Array>();
    const damaging = {
      get: (key: string) => Promise.resolve(kept.get(key)),
      put: (key: string, bytes: Uint8Array) => Promise.resolve(void kept.set(key, bytes)),
    };
    const onStep = (step: string): void => {
      if (step === 'sealed the log') for (const [key] of [...kept].slice(0, 1)) kept.delete(key);
    };
    const lost = archiveIt(folder.path, { ...wish, objects: damaging, onStep });
    expect(await refusal(lost)).to.match(/Its events stay in the log/);
    expect(await eventsOf(folder.path, end)).to.have.length(events.length);
    folder.remove();
  });

  describe('refuses', () => {
    const refused = async (
      until: string,
      edit: (dataDir: string) => void | Promise<void> = () => undefined,
    ) => {
      const folder = copyOfLog(closed);
      await edit(folder.path);
      const said = await refusal(archiveIt(folder.path, { until, now: closed.now }));
      folder.remove();
      return said;
    };

    it('a day that is not the last of a month', async () => {
      expect(await refused(`${closed.days[0].slice(0, 8)}02`)).to.match(/not the last day of a month/);
    });

    it('a month that is not closed', async () => {
      expect(await refused(closed.days[2])).to.match(/only months until .* are closed/);
    });

    it('a log without a seal after it', async () => {
      expect(
        await refused(closed.days[1], (dataDir) =>
          sql(dataDir, "delete from events where stream = '$seals'"),
        ),
      ).to.match(/the audit has|is sealed up to/);
    });

    it('a log that its audit finds something wrong with', async () => {
      expect(
        await refused(closed.days[1], (dataDir) =>
          sql(dataDir, "update events set id = 'x' where stream = 'account-acme' and revision = 3"),
        ),
      ).to.match(/the audit has \d+ findings/);
    });

    /** Puts an event of the golden examples in the place of a charge of the first month. */
    const replaced =
      (example: string) =>
      (dataDir: string): void => {
        const { type, data } = JSON.parse(
          readFileSync(new URL(`../../../test/golden/${example}.json`, import.meta.url), 'utf8'),
        ) as { type: string; data: object };
        if ('dispute' in data) Object.assign(data, { reason: null });
        const db = new Database(join(dataDir, LOG));
        db.prepare(
          `update events set type = ?, data = ? where position =
            (select min(position) from events where type = 'CreditsBurned')`,
        ).run(type, JSON.stringify(data));
        db.close();
      };

    for (const [what, example, message] of [
      ['a hold that is not over', 'CreditsHeld.v1', /not over: the hold hold_/],
      ['a dispute that is not over', 'CreditsRefunded.v1.dispute', /not over: the dispute of the refund/],
      ['text that an erasure could not reach', 'CreditsAdjusted.v1', /Run quire vault move first/],
    ] as const)
      it(what, async () => {
        expect(await refused(closed.days[1], replaced(example))).to.match(message);
      });

    it('a lock where the store has none', async () => {
      const folder = copyOfLog(closed);
      const wish = { until: closed.days[1], now: closed.now, retainDays: 10 };
      expect(await refusal(archiveIt(folder.path, wish))).to.match(/has no lock/);
      folder.remove();
    });
  });

  describe('is found out when somebody changes', () => {
    for (const [name, edit, message] of EDITS)
      it(name, async () => {
        const folder = await archivedCopy(closed);
        edit(await filesOf(folder.path), folder.path);
        const { findings } = await auditOf(folder.path);
        const said = findings.filter(({ check }) => check === 'archive').map((one) => one.message);
        expect(said.join('\n')).to.match(message);
        folder.remove();
      });

    it('an amount, its hash, the manifest, and the event that names it', async () => {
      const folder = await archivedCopy(closed);
      const files = await filesOf(folder.path);
      rewritten(files.paths[1]!, withOtherAmount);
      manifestAsIs(files);
      const digest = sha256(readFileSync(files.manifest));
      const db = new Database(join(folder.path, LOG));
      db.prepare(
        `update events set data = json_set(data, '$.manifest.sha256', ?) where type = 'LogArchived'`,
      ).run(digest);
      intruderIn(db).rechain('$quire');
      for (const { last, sha256: due } of files.said.files)
        db.prepare('update archived_files set sha256 = ? where last_position = ?').run(due, last);
      db.close();
      const { findings } = await auditOf(folder.path);
      expect(findings.map(({ check }) => check)).to.include('seal');
      folder.remove();
    });
  });

  it('is audited with the log that a backup has, and missed there', async () => {
    const folder = await archivedCopy(closed);
    const copy = { open: openCopiedLog, path: join(folder.path, LOG), signal: new AbortController().signal };
    const { QUIRE_BUNDLE, QUIRE_SHORT_LIVED, ...env } = process.env;
    const all = process.env;
    try {
      // What runs specs tells its processes by variables that are none of the service's.
      process.env = env;
      const whole = await auditCopy(copy);
      expect(whole.findings).to.deep.equal([]);
      expect(whole.log.facts.events).to.be.greaterThan(events.length);
      rmSync((await filesOf(folder.path)).paths[0]!);
      expect((await auditCopy(copy)).total).to.be.greaterThan(0);
    } finally {
      process.env = all;
      folder.remove();
    }
  });

  it('says which file is missing to whoever reads it', async () => {
    const folder = await archivedCopy(closed);
    const { paths, said } = await filesOf(folder.path);
    rmSync(paths[0]!);
    const key = said.files[0]!.key.split('/').at(-1)!;
    expect(await refusal(eventsOf(folder.path))).to.match(
      new RegExp(`${key} of the archive is not in the store`),
    );
    folder.remove();
  });
});
