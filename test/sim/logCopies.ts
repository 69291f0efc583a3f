import { isDeepStrictEqual } from 'node:util';
import { type EventFeed, LogUnavailable } from '../../domain/ports/log.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { dumpReadModel } from '../../projections/engine/building.ts';
import type { ProjectedEvent, Sql } from '../../projections/engine/ports.ts';
import { ddlOf, type Projector } from '../../projections/engine/table.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { ownEventsIn } from '../../src/audit/chains.ts';
import type { Finding } from '../../src/audit/findings.ts';
import { runAudit } from '../../src/audit/runAudit.ts';
import { type CopiedLog as Copied, copyLog, OtherLog } from '../../src/backup/copyLog.ts';
import { LOG_DIGEST_START, logDigestAfter } from '../../domain/kernel/chain.ts';
import { isLeftOut } from '../../domain/kernel/json.ts';
import { emptySql } from '../support/emptySql.ts';
import type { Outside } from './actors.ts';
import { logOf, sharedStores, type Shared, type SimLog } from './ports.ts';
import { readModel } from './readModel.ts';
import type { Scheduler } from './scheduler.ts';
import type { CopiedLog } from './told.ts';
import type { Actor } from './worlds.ts';

/** An operator ends a copy that takes longer, and copies again. */
const PATIENCE_MS = 3 * 60_000;
/** Positions of the target are as far apart: they are not those of the source. */
const POSITIONS_APART = 3n;

/** So many events of the source come with one call: others are written between two of them. */
const PAGE = 20;

/** As a backup has it: nobody writes to it any more. */
const frozen = ({ events }: Shared): Shared => {
  const own = sharedStores();
  for (const event of events)
    own.append(event.stream, event.revision === 0n ? 'no_stream' : event.revision - 1n, [event]);
  return own;
};

/** A log that is read while it grows. A connection does not outlive its log. */
const inPages = (source: Shared, { call }: Pick<Scheduler, 'call'>): SimLog => {
  const log = logOf(source, call);
  const { epoch } = source;
  const subscribe: EventFeed['subscribe'] = async function* (options) {
    for (let from = 0; ; from += PAGE) {
      const page = await call({
        label: 'log.subscribe of a copy',
        effect: () => {
          if (source.epoch !== epoch) throw new LogUnavailable('the log was put back');
          return source.events.slice(from, from + PAGE);
        },
        failed: (reason) => {
          throw new LogUnavailable(reason);
        },
        never: ['slow', 'late'],
      });
      for (const event of page) if (!isLeftOut(event.stream, options)) yield { kind: 'event', event };
      if (page.length < PAGE) break;
    }
    yield { kind: 'caught_up' };
  };
  return { ...log, subscribe };
};

/** What is copied, and to where. */
interface Logs {
  readonly source: Shared;
  readonly target: Shared;
}

type Copying = Extract<Actor, { kind: 'copy' }>;

/** Each way in which an attempt ends; `over`: its process died, or was ended. */
type Attempt = Copied | 'refused' | 'failed' | 'over';

const attempt = (on: Outside, name: string, { source, target }: Logs): Promise<Attempt> =>
  new Promise((resolve) => {
    const { sched } = on;
    const owner = sched.newOwner(name);
    const copy = {
      source: inPages(source, sched),
      target: logOf(target, sched.call),
      clock: { now: () => sched.instantOf(owner), uuid: () => sched.uuid() },
      inFlight: 1,
      signal: new AbortController().signal,
    };
    sched.later(owner, 1, () => {
      copyLog(copy).then(resolve, (error: unknown) =>
        resolve(error instanceof OtherLog ? 'refused' : 'failed'),
      );
    });
    sched.later(undefined, PATIENCE_MS, () => {
      sched.kill(owner);
      resolve('over');
    });
  });

/** A copy that has its own last events goes on with no source that has grown since, nor with another log. */
const mayRefuse = ({ source, target }: Logs, epoch: number): boolean =>
  source.epoch !== epoch || target.events.some(({ type }) => OF_A_COPY.includes(type));

const OF_A_COPY = ['PositionsKept', 'LogCopied', 'LogSealed'];

/** Where events lay first: those of a copy, at the places that it was told of, and then at its own. */
const firstOf = (events: readonly RecordedEvent[], earlier?: CopiedLog): readonly bigint[] => [
  ...(earlier?.first ?? []),
  ...events.slice(earlier?.first.length ?? 0).map(({ position }) => position),
];

/** Copies, and again where something stopped it; undefined: it was not done in so many tries. */
const copied = async (
  on: Outside,
  { source, earlier }: { readonly source: Shared; readonly earlier?: CopiedLog },
  { at, tries, from }: Copying,
): Promise<CopiedLog | undefined> => {
  const { epoch } = source;
  let target = sharedStores(POSITIONS_APART);
  for (let nth = 0; nth < tries; nth += 1) {
    const { events } = source;
    const result = await attempt(on, `copier ${String(at)}.${on.sched.uuid()}`, { source, target });
    if (typeof result === 'object') {
      const own = events.slice(0, result.events);
      const copy = { source: own, target, result, first: firstOf(own, earlier) };
      on.told.copies.push(copy);
      return copy;
    }
    if (result === 'refused') {
      if (from === 'backup' || !mayRefuse({ source, target }, epoch))
        on.told.copies.push({ source: events, target, result: undefined, first: [] });
      target = sharedStores(POSITIONS_APART);
    }
    await on.sched.sleep(1_000);
  }
  return undefined;
};

/** An operator copies the log while work goes on; or a backup of it, and that copy to yet another place. */
export const copyTheLog = async (on: Outside, actor: Copying): Promise<void> => {
  if (actor.from === 'log') {
    await copied(on, { source: on.shared }, actor);
    return;
  }
  const earlier = await copied(on, { source: frozen(on.shared) }, actor);
  if (earlier !== undefined) await copied(on, { source: earlier.target, earlier }, actor);
};

const rowsOf = (events: readonly RecordedEvent[]): unknown => {
  const rows = readModel(() => events);
  rows.advance();
  return rows.rows();
};

/** Events of a copy where those of its source lie. */
export const placed = (events: readonly RecordedEvent[]): readonly RecordedEvent[] =>
  events.map((event, at) => ({ ...event, position: BigInt(at + 1) }));

const digestOf = (events: readonly RecordedEvent[], first: readonly bigint[]): string =>
  events.reduce(
    (digest, { metadata }, at) => logDigestAfter(digest, first[at] ?? 0n, metadata['hash'] as string),
    LOG_DIGEST_START,
  );

const isSame = (a: RecordedEvent, b: RecordedEvent | undefined): boolean =>
  isDeepStrictEqual({ ...a, position: 0n }, { ...b, position: 0n });

/**
 * Checks that say what has been open for too long. They go by the newest event, and those of a copy come minutes later
 * than the last one of its source, which may have been copied between a burn and its usage.
 */
const OPEN: ReadonlySet<string> = new Set(['work', 'hold', 'claim', 'operation', 'pipeline', 'batch']);

/** Tells what is wrong with a copy: what it lacks, what its audit says, and rows that are made of it. */
export const flawsOf = async ({
  source,
  target,
  result,
  first,
}: CopiedLog): Promise<readonly (readonly [rule: string, text: string])[]> => {
  if (result === undefined) return [['copy-refused', 'a copy of the log is refused, and may go on']];
  const { events } = target;
  const wrong = source.findIndex((event, at) => !isSame(event, events[at]));
  if (wrong >= 0)
    return [['copy-differs', `event ${String(wrong)} of a copy is ${events[wrong]?.type ?? 'not there'}`]];
  const after = events.slice(result.events).map(({ type }) => type);
  if (after.join() !== OF_A_COPY.join()) return [['copy-differs', `a copy ends with ${after.join(' ')}`]];
  if (digestOf(source, first) !== result.log_digest)
    return [['copy-digest', 'the digest of a copy is not over where its events lay first']];
  const feed = logOf(target, ({ effect }) => new Promise((done) => done(effect())));
  const { origins } = await ownEventsIn(feed);
  const { report } = await runAudit({ feed, dense: false, origins, keep: 5 });
  const told = report.findings
    .filter(({ check }) => !OPEN.has(check))
    .map(({ check, message }) => ['copy-audit', `[${check}] ${message}`] as const);
  const isAlike = isDeepStrictEqual(rowsOf(placed(events)), rowsOf(placed(source)));
  return isAlike ? told : [...told, ['copy-rows', 'a rebuild of a copy has other rows']];
};

/** What the audit finds in the log itself. */
export const findingsIn = async (log: Shared): Promise<readonly Finding[]> => {
  const feed = logOf(log, ({ effect }) => new Promise((done) => done(effect())));
  const { report } = await runAudit({ feed, dense: true, keep: 5 });
  return report.findings;
};

const FOLD = 'fold';

type Dumps = Awaited<ReturnType<typeof dumpReadModel>>;

export const shownBy = (dumps: Dumps): string =>
  dumps.map(({ rows, digest }) => `${String(rows)} ${digest}`).join();

/** What the views of a read model show that is made of these events at once. */
export const foldOf = async (
  sql: Sql,
  projector: Projector,
  log: readonly RecordedEvent[],
): Promise<string> => {
  const events = log
    .filter(({ type }) => (projector.eventTypes as readonly string[]).includes(type))
    .map((event): ProjectedEvent => ({ ...event, ...decodeAny(event) }));
  await sql.script(
    `drop schema if exists ${FOLD} cascade; create schema ${FOLD}; ${ddlOf(projector.tables, FOLD)}`,
  );
  await sql.transaction((tx) => projector.apply(tx, { schema: FOLD, events }));
  return shownBy(await dumpReadModel(sql, projector, FOLD));
};

/** The read models of which a rebuild of a copy, as far as its source went, has other rows than one of the source. */
export const differingIn = async ({ source, target }: CopiedLog): Promise<readonly string[]> => {
  const sql = await emptySql();
  try {
    const differing: string[] = [];
    for (const projector of READ_MODELS) {
      const rows = await foldOf(sql, projector, placed(source));
      if ((await foldOf(sql, projector, placed(target.events))) !== rows) differing.push(projector.name);
    }
    return differing;
  } finally {
    await sql.close();
  }
};
