import { decodeAny, isKnownType } from '../../../domain/catalogue.ts';
import { type FeedItem, type FeedOptions, type KnownLog, LogUnavailable } from '../../../domain/ports/log.ts';
import type { RecordedEvent } from '../../../domain/kernel/recorded.ts';
import { divergenceOf } from '../../../projections/engine/divergence.ts';
import { dumpReadModel } from '../../../projections/engine/building.ts';
import type { ProjectedEvent, Sql, SqlTx } from '../../../projections/engine/ports.ts';
import { askRetry, parkedTenants } from '../../../projections/engine/parking.ts';
import { refoldTenant } from '../../../projections/engine/refold.ts';
import { RebuildBusy, rebuildThroughOutages } from '../../../projections/engine/rebuild.ts';
import { fillPart, type FillPart, type PartOfRebuild } from '../../../projections/engine/spreading.ts';
import { type Generation, generations, hasRegistry } from '../../../projections/engine/registry.ts';
import { projectionRunner, type ProjectionRunner } from '../../../projections/engine/runner.ts';
import type { Projector } from '../../../projections/engine/table.ts';
import { inThreads } from '../../../src/operator/rebuildInThreads.ts';
import { ALL_TENANTS, readYourWrites } from '../../../src/queries/queries.ts';
import { appliedWatch } from './appliedWatch.ts';
import { chance } from '../chance.ts';
import { timersOf } from '../clocks.ts';
import { foldOf, shownBy } from '../logCopies.ts';
import { partThreads } from './partThreads.ts';
import { logOf, type Shared, sharedStores } from '../ports.ts';
import {
  poisonIn,
  projectingPlan,
  projectingWorld,
  TRAFFIC_MS,
  type ProjectingWorld,
} from './projectingWorlds.ts';
import { tenantIn } from '../readModel.ts';
import { runWorld } from '../run.ts';
import { scheduler, type Owner, type Plan, type Taken } from '../scheduler.ts';
import { databaseFor } from '../sqlDouble.ts';
import { randomWorld, type Finding } from '../worlds.ts';
import { emptySql } from '../../support/emptySql.ts';
import { seededPlan } from '../explore.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const RESTART_MS = 2 * SECOND;
/** The process of the next release. */
const NEXT = 'r';
/** An operator whose rebuild failed tries it again. */
const RETRY_MS = 30 * SECOND;
/** Sooner where it was refused because another one runs. */
const BUSY_MS = 3 * SECOND;
/** When all are well, read models have to be up with the log within this time. */
const HEAL_MS = 20 * MINUTE;

/** A tenth as often as in production, so that a run has no more steps than it needs. */
const TUNING = {
  retryMs: 500,
  retryMaxMs: 10_000,
  lockMs: 5_000,
  lookMs: 10_000,
  watchdogMs: 20_000,
  compareMs: 30_000,
  frozenMs: 90_000,
  pauseMaxMs: 1_000,
};

export interface ProjectingOutcome {
  readonly findings: readonly Finding[];
  readonly steps: number;
  /** Virtual ms. */
  readonly endedAt: number;
  readonly taken: readonly Taken[];
  /** What the runners told, by kind. */
  readonly notices: ReadonlyMap<string, number>;
}

interface ProjectingOptions {
  /** Written event by event while the processes run. */
  readonly log: readonly RecordedEvent[];
  readonly world: ProjectingWorld;
  readonly plan: Plan;
  readonly seed: number;
  /** An empty database. */
  readonly sql: Sql;
}

const generationsIn = async (sql: Sql, name?: string): Promise<readonly Generation[]> =>
  (await hasRegistry(sql)) ? generations(sql, name) : [];

/** The log as it is, outside of all calls. */
const plainLog = (shared: Shared): KnownLog =>
  logOf(shared, ({ effect }) => new Promise((done) => done(effect())));

const stage = ({ log, world, plan, seed, sql: raw }: ProjectingOptions) => {
  let isHealing = false;
  const whenIll: Plan = {
    deviation: (place) => (isHealing ? undefined : plan.deviation(place)),
    latencyMs: plan.latencyMs,
  };
  const sched = scheduler(whenIll, seed);
  const poison = world.poison === undefined ? undefined : poisonIn(log, world);
  const isPoison = ({ name }: Projector, { id }: ProjectedEvent): boolean =>
    id === poison && name === world.poison?.name && sched.nowMs() < world.poison.repairedAt;
  const shared = sharedStores();
  const findings: Finding[] = [];
  const say = (id: string, text: string): void =>
    void findings.push({ id, text, at: sched.nowMs(), step: sched.steps() });
  const applied = appliedWatch({
    world,
    log: shared,
    say,
    isOfThisLog: async (one) => (await divergenceOf(plainLog(shared), [one])) === undefined,
  });
  /** Rebuilds that stand still until a share is moved. */
  const stalled = new Set<() => void>();
  const committed = async (tx: SqlTx): Promise<void> => {
    const serving = (await generationsIn(raw)).filter(({ serves }) => serves);
    await applied.committed(tx, serving);
    if (!applied.isOfShare(tx)) return;
    for (const wake of stalled) wake();
    stalled.clear();
  };
  return {
    world,
    isPoison,
    raw,
    sched,
    shared,
    findings,
    applied,
    say,
    database: databaseFor(raw, sched, committed),
    threads: partThreads(sched),
    stalled,
    /** Rebuilds by hand that are not over, and the process that does each. */
    rebuilding: new Map<number, Owner>(),
    listeners: new Set<() => void>(),
    /** How whoever died begins again. */
    again: new Map<Owner, () => void>(),
    notices: new Map<string, number>(),
    /** How far readers have seen each read model of the log that is there. */
    told: new Map<string, bigint>(),
    running: new Map<
      string,
      { readonly owner: Owner; readonly runner: ProjectionRunner; readonly sql: Sql }
    >(),
    heal: () => (isHealing = true),
    isHealing: () => isHealing,
  };
};
type Stage = ReturnType<typeof stage>;

const isOver = ({ signal }: FeedOptions): boolean => signal?.aborted === true;
const NOTHING: readonly FeedItem[] = [];

/** A connection is of the log that is there when its first call has reached it, and does not outlive it. */
const connectionTo = (shared: Shared) => {
  let epoch: number | undefined;
  return (): void => {
    epoch ??= shared.epoch;
    if (shared.epoch !== epoch) throw new LogUnavailable('the log was put back');
  };
};

/** The log, whose subscription goes on when it has caught up, until it is cut or falls silent. */
const liveLog = (on: Stage, owner: Owner): KnownLog => {
  const { sched, shared, listeners } = on;
  const log = logOf(shared, sched.call);
  const news = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve) => {
      const go = () => {
        listeners.delete(go);
        signal?.removeEventListener('abort', go);
        sched.later(owner, 1, resolve);
      };
      listeners.add(go);
      signal?.addEventListener('abort', go, { once: true });
      if (signal?.aborted === true) go();
    });
  const more = async (requireSame: () => void, isSilent: () => void): Promise<void> => {
    await sched.call({
      label: 'feed',
      effect: () => undefined,
      failed: (reason) => {
        throw new LogUnavailable(reason);
      },
      never: ['late', 'lost'],
      stale: isSilent,
    });
    requireSame();
  };
  const endsAt = (): bigint => shared.events.at(-1)?.position ?? 0n;
  const subscribe: KnownLog['subscribe'] = async function* (options): AsyncGenerator<FeedItem> {
    const requireSame = connectionTo(shared);
    let [after, isSilent, isLive] = [options.after ?? 0n, false, false];
    while (!isOver(options)) {
      for await (const item of isSilent ? NOTHING : log.subscribe({ ...options, after })) {
        requireSame();
        if (item.kind === 'event') after = item.event.position;
        // It says once that it has caught up.
        if (item.kind !== 'caught_up' || !isLive) yield item;
      }
      isLive = true;
      if (isSilent || endsAt() <= after) await news(options.signal);
      await more(requireSame, () => (isSilent = true));
    }
  };
  return { ...log, subscribe };
};

const partsOf = (on: Stage, owner: Owner, projectors: readonly Projector[]) => ({
  sql: on.database.sqlOf(owner),
  feed: liveLog(on, owner),
  decode: decodeAny,
  isKnownType,
  timers: timersOf(on.sched),
  projectors,
});

const start = (
  on: Stage,
  name: string,
  { projectors, lives }: { projectors: readonly Projector[]; lives: number },
) => {
  const { sched, notices } = on;
  const owner = sched.newOwner(`${name}.${String(lives)}`);
  const parts = partsOf(on, owner, projectors);
  const runner = projectionRunner({
    ...parts,
    tuning: TUNING,
    diverged: 'rebuild',
    notify: (notice) => {
      notices.set(notice.kind, (notices.get(notice.kind) ?? 0) + 1);
      if (notice.kind === 'stopped') on.say('stopped', `${notice.name}: ${notice.reason}`);
    },
  });
  on.running.set(name, { owner, runner, sql: parts.sql });
  sched.later(owner, 1, () => runner.start());
  return { owner, again: () => start(on, name, { projectors, lives: lives + 1 }) };
};

/** A read model as a reader finds it: with all up to a position, and nothing that was there is gone. */
const readOne = (
  on: Stage,
  { name, schema, position }: Generation,
  { upTo, before }: { readonly upTo: bigint; readonly before: bigint },
): void => {
  const projector = on.world.projectors.find((one) => one.name === name);
  if (projector === undefined) return;
  const at = position ?? 0n;
  if (at < before) on.say('went-back', `${name}: ${String(at)} after ${String(before)}`);
  if (at > (on.told.get(name) ?? 0n)) on.told.set(name, at);
  if (name === on.world.poison?.name) return;
  const has = new Set(on.applied.appliedIn(schema).map(({ id }) => id));
  const missing = on.applied.wantedOf(projector, upTo).find(({ id }) => !has.has(id));
  if (missing !== undefined) on.say('unread-write', `${name} lacks ${missing.type} at ${String(upTo)}`);
};

/** Reads what was just written, as routes do: whoever is told that it is there finds it in every read model. */
const readAfterWrite = async (
  on: Stage,
  { runner, sql }: { runner: ProjectionRunner; sql: Sql },
): Promise<void> => {
  const { epoch, events } = on.shared;
  const upTo = events.at(-1)?.position ?? 0n;
  /** Of readers before. */
  const told = new Map(on.told);
  const waiting = readYourWrites(runner);
  waiting.note(ALL_TENANTS, upTo);
  if ((await waiting.settle(ALL_TENANTS)) !== undefined) return;
  const serving = (await generationsIn(sql)).filter(({ serves }) => serves);
  // Of another log nothing is answered at all.
  if (on.shared.epoch !== epoch || (await divergenceOf(plainLog(on.shared), serving)) !== undefined) return;
  for (const one of serving) readOne(on, one, { upTo, before: told.get(one.name) ?? 0n });
};

/** How long a rebuild stands still if no other one moves a share. */
const STALL_MS = MINUTE;

/** A rebuild that follows one that stands still has events of its own to apply. */
const FOLLOWS_MS = 10 * SECOND;

/** The sessions of a rebuild end, and the next one begins. */
const raced = (on: Stage, nth: number, owner: Owner): void => {
  const inMs = on.world.rebuilds[nth]?.race === 'joining' ? FOLLOWS_MS : 1;
  on.database.cut(owner);
  if (on.world.rebuilds[nth + 1]?.at === undefined && !on.rebuilding.has(nth + 1))
    on.sched.later(undefined, inMs, () => rebuild(on, nth + 1));
};

/** Stands still between the last part and the join. */
const stalling = (on: Stage, { nth, owner }: Rebuilding, fill: FillPart): FillPart => {
  let running = 0;
  return async (part, watched) => {
    running += 1;
    try {
      await fill(part, watched);
    } finally {
      running -= 1;
      if (running === 0) {
        raced(on, nth, owner);
        await new Promise<void>((wake) => {
          on.stalled.add(() => void on.sched.later(owner, 1, wake));
          on.sched.later(owner, STALL_MS, wake);
        });
      }
    }
  };
};

interface Rebuilding {
  readonly nth: number;
  readonly owner: Owner;
  readonly isNext: boolean;
}

/** What does a rebuild: one thread, or several that do parts of it. */
const rebuildParts = (on: Stage, rebuilding: Rebuilding) => {
  const { owner, nth, isNext } = rebuilding;
  const { race } = on.world.rebuilds[nth]!;
  const fillAs = (part: PartOfRebuild) => (thread: Owner) =>
    fillPart(partsOf(on, thread, projectorsOf(on, isNext, part)));
  const fill = inThreads((part) => on.threads.begin(owner, part, fillAs(part)));
  return {
    ...partsOf(on, owner, projectorsOf(on, isNext)),
    fillPart: race === 'joining' && !on.isHealing() ? stalling(on, rebuilding, fill) : fill,
  };
};

/** An operator rebuilds, and again when that was interrupted, with the release that is the newest by then. */
const rebuild = (on: Stage, nth: number, lives = 1): void => {
  const { sched, world, notices } = on;
  const { shares: counts, names, fresh, batchMax, race } = world.rebuilds[nth]!;
  const owner = sched.newOwner(`rebuild ${String(nth)}.${String(lives)}`);
  on.rebuilding.set(nth, owner);
  if (race === 'filling' && lives === 1) on.stalled.add(() => raced(on, nth, owner));
  const retry = () => rebuild(on, nth, lives + 1);
  on.again.set(owner, retry);
  const isNext = world.next !== undefined && world.next.at < sched.nowMs();
  const shares = counts[(lives - 1) % counts.length]!;
  const tell = (kind: string): void => void notices.set(kind, (notices.get(kind) ?? 0) + 1);
  const work = async (): Promise<void> => {
    const rebuilt = await rebuildThroughOutages(rebuildParts(on, { nth, owner, isNext }), {
      names,
      fresh,
      ...(batchMax !== undefined && { batchMax }),
      shares,
      onOutage: ({ name }) => tell(`rebuild: ${name}`),
    });
    for (const { name, differences, resumedFrom } of rebuilt) {
      // Rows of a tenant that was parked lack what it did since.
      const isParked = name === world.poison?.name;
      if (differences.length > 0 && !isParked)
        on.say('rebuild-differs', `${name}: ${differences[0]?.table ?? ''}`);
      if (resumedFrom !== null && shares > 1) tell('shares continued');
    }
    on.rebuilding.delete(nth);
    tell('rebuilt by hand');
  };
  const failed = (error: unknown): void => {
    tell(`rebuild failed: ${error instanceof Error ? error.name : ''}`);
    const isBusy = error instanceof RebuildBusy && shares > 1;
    sched.later(undefined, isBusy ? BUSY_MS : RETRY_MS, retry);
  };
  sched.later(owner, 1, () => void work().catch(failed));
};

/** The projectors of a release, for all tenants or for a part of a rebuild. */
const projectorsOf = (on: Stage, isNext: boolean, part?: PartOfRebuild): readonly Projector[] =>
  on.world.projectors
    .map((one) =>
      isNext && on.world.next?.names.includes(one.name) ? { ...one, version: one.version + 1 } : one,
    )
    .map((one) => {
      const isShared = part?.spread.some(({ name }) => name === one.name) === true;
      const lane = (isShared ? part.share?.at : undefined) ?? 'all';
      return on.applied.watched(one, lane, (event) => on.isPoison(one, event));
    });

/** An operator has the rows of one tenant made anew, and again when that was interrupted. */
const rebuildTenant = (on: Stage, nth: number, lives = 1): void => {
  const { sched, world, notices } = on;
  const owner = sched.newOwner(`tenant ${String(nth)}.${String(lives)}`);
  const retry = () => rebuildTenant(on, nth, lives + 1);
  on.again.set(owner, retry);
  const accounts = [...on.shared.streams.keys()].filter((stream) => stream.startsWith('account-'));
  const stream = accounts[world.tenantRebuilds[nth]!.nth % Math.max(1, accounts.length)];
  const isNext = world.next !== undefined && world.next.at < sched.nowMs();
  const work = async (tenant: string): Promise<void> => {
    await refoldTenant(partsOf(on, owner, projectorsOf(on, isNext)), { tenant });
    notices.set('tenant rebuilt', (notices.get('tenant rebuilt') ?? 0) + 1);
  };
  if (stream === undefined) return;
  const begin = () => work(tenantIn(stream)).catch(() => void sched.later(undefined, RETRY_MS, retry));
  sched.later(owner, 1, () => void begin());
};

/** Once it is repaired, an operator has parked tenants tried again until none is parked. */
const retryWhenRepaired = async (on: Stage): Promise<void> => {
  const { poison } = on.world;
  if (poison === undefined || on.sched.nowMs() < poison.repairedAt) return;
  await askRetry(on.raw, { name: poison.name });
};

/** Writes the log while the processes run, some events at a time. */
const write = (on: Stage, log: readonly RecordedEvent[], seed: number): void => {
  const { sched, shared, listeners } = on;
  const together = 1 + (chance(seed, 'together') % 8);
  for (const [at, event] of log.entries())
    sched.later(undefined, 1 + (Math.floor(at / together) * together * TRAFFIC_MS) / log.length, () => {
      const past = shared.streams.get(event.stream)?.length ?? 0;
      shared.append(event.stream, past === 0 ? 'no_stream' : BigInt(past - 1), [event]);
      for (const one of [...listeners]) one();
    });
};

const begin = (on: Stage, { log, seed }: ProjectingOptions): void => {
  const { sched, shared, world, database, running, listeners, again } = on;
  const begun = (name: string, isNext: boolean) => {
    const live = (one: ReturnType<typeof start>): void => void again.set(one.owner, () => live(one.again()));
    live(start(on, name, { projectors: projectorsOf(on, isNext), lives: 1 }));
  };
  sched.hook({
    afterStep: () => undefined,
    onChange: () => Promise.resolve(),
    onKilled: (owner) => {
      for (const one of [owner, ...on.threads.died(owner)]) database.died(one);
      const next = again.get(owner);
      if (next !== undefined) sched.later(undefined, RESTART_MS, next);
    },
  });
  write(on, log, seed);
  sched.later(undefined, 1, () => {
    begun('p', false);
    begun('q', false);
  });
  if (world.next !== undefined) sched.later(undefined, world.next.at + 1, () => begun(NEXT, true));
  const named = (at: number) => [...running.values()][at % running.size];
  for (const { at, process } of world.readers)
    sched.later(undefined, at + 1, () => {
      const one = named(process);
      if (one !== undefined)
        sched.later(one.owner, 0, () => void readAfterWrite(on, one).catch(() => undefined));
    });
  for (const { at, process } of world.cuts)
    sched.later(undefined, at + 1, () => {
      const one = named(process);
      if (one !== undefined) database.cut(one.owner);
    });
  for (const { at } of world.rebuildCuts)
    sched.later(undefined, at + 1, () => {
      for (const owner of on.rebuilding.values()) database.cut(owner);
    });
  for (const [nth, { at }] of world.rebuilds.entries())
    if (at !== undefined) sched.later(undefined, at + 1, () => rebuild(on, nth));
  for (const [nth, { at }] of world.tenantRebuilds.entries())
    sched.later(undefined, at + 1, () => rebuildTenant(on, nth));
  if (world.restore === undefined) return;
  const { at, backMs } = world.restore;
  let kept = 0;
  sched.later(undefined, Math.max(1, at - backMs), () => (kept = shared.events.length));
  sched.later(undefined, at + 2, () => {
    shared.cutLog(kept);
    on.told.clear();
    for (const one of [...listeners]) one();
  });
};

const versionOf = ({ world: { next } }: Stage, { name, version }: Projector): number =>
  next?.names.includes(name) === true ? version + 1 : version;

/** Why a read model is not done yet; undefined: it is. */
const lagOf = async (on: Stage, projector: Projector): Promise<string | undefined> => {
  const all = await generationsIn(on.raw, projector.name);
  const serving = all.find(({ serves }) => serves);
  if (serving === undefined) return 'nothing serves it';
  const { position, state, version } = serving;
  const head = on.shared.events.at(-1)?.position ?? null;
  if (position !== head) return `it is at ${String(position)} of ${String(head)}`;
  if (state !== 'live' || version !== versionOf(on, projector))
    return `version ${String(version)} is ${state}`;
  // Of a rebuild that was interrupted half of it stays: the next one goes on from there.
  if ((await parkedTenants(on.raw)).length > 0) return 'a tenant is parked';
  const other = all.find((one) => !one.serves && one.state !== 'rebuilding');
  if (other !== undefined) return `generation ${String(other.generation)} is ${other.state}`;
  return on.applied.isComplete(projector, serving)
    ? undefined
    : 'it was not given all events, once, in order';
};

/** What the views show, against a fold of the log that is there. */
const differsFromFold = async ({ raw, shared }: Stage, projector: Projector): Promise<boolean> =>
  shownBy(await dumpReadModel(raw, projector)) !== (await foldOf(raw, projector, shared.events));

/** Tables that nothing reads any more. Of what was interrupted, half stays: the next one goes on from there. */
const tablesLeft = async ({ raw }: Stage): Promise<readonly string[]> => {
  const unfinished = await raw.query(`select schema_name from projections.registry where state <> 'retired'`);
  const kept = unfinished.map(({ schema_name }) => schema_name);
  const there = await raw.query(`select nspname as name from pg_namespace where nspname like 'rm\\_%'`);
  return there.map(({ name }) => String(name)).filter((name) => !kept.includes(name));
};

/**
 * Shares of rebuilds that are over, and generations that nobody fills any more. A process that repairs read models of
 * a log that was put back may have died amid it: half of that stays for the next rebuild.
 */
const rebuildsLeft = async ({ raw, world }: Stage): Promise<readonly string[]> => {
  const shares = await raw.query('select name, generation, share from projections.shares');
  const begun = (await generationsIn(raw)).filter(({ serves, state }) => !serves && state === 'rebuilding');
  return [
    ...shares.map(
      ({ name, generation, share }) => `share ${[name, generation, share].map(String).join(' ')}`,
    ),
    ...(world.restore === undefined ? begun : []).map(({ schema }) => schema),
  ];
};

const look = async (on: Stage): Promise<void> => {
  for (const projector of on.world.projectors) {
    const lag = await lagOf(on, projector);
    if (lag !== undefined) on.say('behind', `${projector.name}: ${lag}`);
    else if (await differsFromFold(on, projector))
      on.say('other-rows', `${projector.name} is not as the log folds`);
  }
  const projecting = [...on.running].filter(([, { runner }]) => runner.isProjecting()).map(([name]) => name);
  if (projecting.length > 1) on.say('many-project', projecting.join(' '));
  if (on.world.next !== undefined && projecting.some((name) => name !== NEXT))
    on.say('older-projects', projecting.join(' '));
  const left = await tablesLeft(on);
  if (left.length > 0) on.say('tables-left', left.join(' '));
  if (on.rebuilding.size > 0)
    on.say('rebuild-left', [...on.rebuilding.values()].map(({ name }) => name).join());
  for (const one of await rebuildsLeft(on)) on.say('shares-left', one);
};

/** Asked between two transactions, of which the one database has one at a time. */
const isDone = async (on: Stage): Promise<boolean> => {
  if (!on.database.isIdle() || on.rebuilding.size > 0) return false;
  await retryWhenRepaired(on);
  for (const projector of on.world.projectors) if ((await lagOf(on, projector)) !== undefined) return false;
  // They are dropped after the rows are in place, by transactions of their own.
  return (await tablesLeft(on)).length === 0;
};

/** Processes of one release or two keep read models up with a log that is written, until all are well. */
const runProjecting = async (options: ProjectingOptions): Promise<ProjectingOutcome> => {
  const on = stage(options);
  const { sched, findings, notices } = on;
  begin(on, options);
  await sched.run(TRAFFIC_MS + MINUTE);
  on.heal();
  await sched.run(Math.max(...[...on.running.values()].map(({ owner }) => owner.pausedUntil)));
  for (const until = sched.nowMs() + HEAL_MS; sched.nowMs() < until && !(await isDone(on));)
    await sched.run(sched.nowMs() + 20 * SECOND);
  // What a swap has retired is dropped by whoever looks next.
  await sched.run(sched.nowMs() + MINUTE);
  await on.database.close();
  await look(on);
  return { findings, steps: sched.steps(), endedAt: sched.nowMs(), taken: sched.taken, notices };
};

/** The log of a random world, written while its seed's processes keep read models up with it. */
export const projectingSeed = async (seed: number): Promise<ProjectingOutcome> => {
  const world = { ...randomWorld(seed), healMs: 60 * MINUTE };
  const asked = { isWanted: () => false, audits: false };
  const { events: log } = await runWorld({ world, plan: seededPlan(seed), seed, ...asked });
  const sql = await emptySql();
  try {
    return await runProjecting({
      log,
      world: projectingWorld(seed),
      plan: projectingPlan(seed),
      seed,
      sql,
    });
  } finally {
    await sql.close();
  }
};
