import { sha256 } from '../../domain/kernel/chain.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { WebhookAnswer } from '../../domain/ports/services.ts';
import { logOf, objectsOf, replaysOf, secrets, sharedStores, snapshotsOf, type Shared } from './ports.ts';
import { LONG_PAGES } from './long/readRanges.ts';
import { simProcess, type FileFacts, type Loop, type SimProcess } from './process.ts';
import { ROOM } from './uploads.ts';
import { act, askAgain, isSentBefore, lookAt, send, standingOf, type Running } from './actors.ts';
import { listsOf, type Lists } from './lists.ts';
import type { Standing } from './book.ts';
import { baseOf, changedClosings, operatorOn } from './market.ts';
import { readModel, registryRow } from './readModel.ts';
import type { ProjectedEvent } from '../../projections/engine/ports.ts';
import { findingsIn, flawsOf } from './logCopies.ts';
import { limiterOf } from './limits.ts';
import { scheduler, type Owner, type Plan, type Taken } from './scheduler.ts';
import { watchOver } from './invariants.ts';
import type { CopiedLog, Told } from './told.ts';
import { actOnSent, isVisitor, visit } from './visits.ts';
import {
  endOf,
  isRequest,
  KEEPS,
  marketOf,
  type Actor,
  type Finding,
  type ProcessSpec,
  type World,
} from './worlds.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const RESTART_MS = 2_000;
/**
 * The longest pause of a loop that finds nothing to do: short for a while after the last event, since time alone makes
 * leases and holds run out then; longer while processes stand still, and when all have been well for hours.
 */
const IDLE_MS = { lately: 30_000, active: HOUR, healed: 12 * HOUR };
const LATELY_MS = 25 * 60_000;
/** Nobody waits longer for those that stand still, ms. */
const ACTIVE_MS_MAX = 80 * HOUR;

const FORMER_MS = HOUR;
/** In what an earlier release has left, all files have this one. */
const FORMER_DIGEST = 'a'.repeat(64);

/** What came of a run. */
export interface Outcome {
  readonly findings: readonly Finding[];
  readonly taken: readonly Taken[];
  readonly steps: number;
  /** Virtual ms. */
  readonly endedAt: number;
  readonly events: readonly RecordedEvent[];
  /** Credits that all tenants paid for work. */
  readonly burned: number;
  /** What the read models have to say of each account in the end. */
  readonly standings: ReadonlyMap<string, Standing>;
  readonly copies: readonly CopiedLog[];
  /** What processes told of their failures. */
  readonly errors: readonly string[];
}

/** What an earlier release has left: its log, and what lies in the object store. */
export interface Former {
  readonly events: readonly RecordedEvent[];
  readonly objects: readonly { readonly key: string; readonly bytes: Uint8Array; readonly at: number }[];
}

export interface RunOptions {
  /** Where it begins, with all processes, an hour after the last event; nobody asks for anything more. */
  readonly former?: Former;
  readonly world: World;
  readonly plan: Plan;
  readonly seed: string | number;
  /** Ends the run at the first finding that is wanted. */
  readonly isWanted?: (finding: Finding) => boolean;
  /** Leaves out what costs most, once nothing else can be found: the audit of the finished log. */
  readonly audits?: boolean;
}

/** One world while it runs. */
const stage = (
  base: readonly RecordedEvent[],
  { world, plan, seed, former, isWanted = () => true }: RunOptions,
) => {
  let isHealing = false;
  const whenIll: Plan = {
    deviation: (place) => (isHealing ? undefined : plan.deviation(place)),
    latencyMs: (place) => plan.latencyMs(place),
  };
  const sched = scheduler(whenIll, seed);
  const shared = sharedStores();
  const rows = readModel(() => shared.events);
  const errors: string[] = [];
  const findings: Finding[] = [];
  const told: Told = {
    answers: [],
    refused: [],
    keptNo: [],
    restoredAt: -1,
    delivered: [],
    decided: [],
    uploads: new Map(),
    revoked: [],
    rushed: [],
    limitsAway: false,
    removed: [],
    configKeys: new Map(),
    copies: [],
  };
  const raw = objectsOf(shared, {
    call: ({ effect }) => new Promise((done) => done(effect())),
    nowMs: sched.nowMs,
  });
  const watch = watchOver({
    world,
    sched,
    shared,
    raw,
    told,
    isFormer: former !== undefined,
    find: (finding) => {
      if (!findings.some(({ id, text }) => id === finding.id && text === finding.text))
        findings.push(finding);
    },
  });
  const isOver = () => findings.some(isWanted);
  return {
    world,
    base,
    sched,
    shared,
    rows,
    errors,
    findings,
    told,
    watch,
    isOver,
    raw,
    isFormer: former !== undefined,
    stalledUntil: 0,
    idleMs: IDLE_MS.active,
    lastEventAt: 0,
    running: new Map<string, Running>(),
    /** Ends a sleep of a loop before its time. */
    sleeping: new Set<() => void>(),
    copies: new Map<number, ReturnType<Shared['copy']>>(),
    locks: new Map<string, Owner>(),
    heal: () => (isHealing = true),
  };
};
type Stage = ReturnType<typeof stage>;

/** How the read models are asked: they are behind by a moment, or for as long as they stand still. */
const readModels =
  (on: Stage) =>
  <T>(question: string, answer: () => T): Promise<T> =>
    on.sched.call({
      label: `lists ${question}`,
      effect: () => {
        if (on.sched.nowMs() >= on.stalledUntil) on.rows.advance();
        return answer();
      },
      failed: (reason) => {
        throw new Error(`the read models: ${reason}`);
      },
      never: ['late', 'slow'],
      stale: (ms) => {
        on.rows.advance();
        on.stalledUntil = on.sched.nowMs() + ms;
      },
    });

const asker = (on: Stage) => {
  const ask = readModels(on);
  return {
    ask: <T>(question: string, answer: (lists: Lists) => T): Promise<T> =>
      ask(question, () => answer(listsOf(on.rows.rows()))),
    askLog: <T>(question: string, answer: (events: readonly ProjectedEvent[]) => T): Promise<T> =>
      ask(question, () =>
        answer(on.shared.events.slice(0, on.rows.applied()) as unknown as readonly ProjectedEvent[]),
      ),
  };
};

const idsOf = (on: Stage, owner: Owner) => ({
  now: () => on.sched.instantOf(owner),
  newId: (prefix: string) => `${prefix}_${on.sched.uuid().replaceAll('-', '').slice(0, 26).toUpperCase()}`,
  uuid: () => on.sched.uuid(),
  monotonicMs: () => on.sched.nowMs(),
});

const fileAt = (on: Stage, path: string): FileFacts => {
  const bytes = on.shared.files.get(path);
  return bytes === undefined
    ? { pages: 1, tag: path }
    : (JSON.parse(new TextDecoder().decode(bytes)) as FileFacts);
};

/** Whether the read models have all up to a position. */
const caughtUp = (on: Stage, position: bigint): Promise<boolean> =>
  on.sched.call({
    label: 'lists caught up',
    effect: () => {
      if (on.sched.nowMs() >= on.stalledUntil) on.rows.advance();
      return (on.shared.events[on.rows.applied() - 1]?.position ?? 0n) >= position;
    },
    failed: () => false,
    never: ['late', 'slow'],
    stale: (ms) => {
      on.rows.advance();
      on.stalledUntil = on.sched.nowMs() + ms;
    },
  });

const envOf = (on: Stage, owner: Owner, spec: ProcessSpec): Parameters<typeof simProcess>[0] => {
  const { sched, shared } = on;
  const clock = idsOf(on, owner);
  const log = logOf(shared, sched.call);
  return {
    name: owner.name,
    clock,
    secrets,
    places: spec.places,
    page: on.world.page ?? 50,
    keeps: on.world.keeps ?? KEEPS,
    log,
    objects: objectsOf(shared, sched),
    snapshots: spec.release === undefined ? undefined : snapshotsOf(shared, sched, spec.release),
    replays: replaysOf(shared, sched, {
      nowMs: () => sched.wallOf(owner),
      owner: clock.uuid,
      seen: log.seen,
    }),
    ...asker(on),
    limiter: limiterOf(shared.limits, sched, () => (on.told.limitsAway = true)),
    entered: (keyId, askedAt) => on.watch.entered(keyId, askedAt),
    reads: (file, pages) => on.watch.reads(file, pages),
    registryRow: () =>
      sched.call({
        label: 'registry',
        effect: () => registryRow(on.shared.events[on.rows.applied() - 1]),
        failed: () => {
          throw new Error('away');
        },
      }),
    caughtUp: (position) => caughtUp(on, position),
    lock: (name) =>
      sched.call({
        label: `lock ${name}`,
        effect: () => {
          const holder = on.locks.get(name);
          if (holder?.alive === true && holder !== owner) return undefined;
          on.locks.set(name, owner);
          return { lost: new Promise<void>(() => undefined), release: () => Promise.resolve() } as never;
        },
        failed: () => undefined,
      }),
    fileAt: (path) => fileAt(on, path),
    digestOf: (file) => (on.isFormer ? FORMER_DIGEST : sha256(JSON.stringify(file))),
    keepFile: (bytes) => {
      const path = `brought ${clock.uuid()}`;
      shared.files.set(path, bytes);
      return path;
    },
    die: () => {
      sched.kill(owner);
      return new Promise<never>(() => undefined);
    },
    work: (what) =>
      sched.call({
        label: `work ${what}`,
        effect: () => undefined,
        failed: () => {
          throw new Error('the work broke');
        },
        never: ['late', 'lost'],
      }),
    transport: ({ url, headers }) =>
      sched.call<WebhookAnswer>({
        label: `post ${url}`,
        effect: () => {
          on.told.delivered.push({ url, id: headers['webhook-id'] ?? '', at: sched.nowMs() });
          return { error: null, response_status: 200, retryAfterMs: 0 };
        },
        failed: () => ({ error: 'timeout', response_status: null, retryAfterMs: 0 }),
      }),
    onError: (error) => void on.errors.push(`${owner.name} at ${String(sched.nowMs())} ms: ${String(error)}`),
  };
};

/** Runs a loop of a process: seldom while nothing is written, and soon after something is. */
const loop = (on: Stage, owner: Owner, { everyMs, overlaps, run }: Loop): void => {
  const { sched, shared } = on;
  let pauseMs = everyMs;
  let unended = 0;
  const sleep = () => {
    const until = sched.nowMs() + pauseMs;
    const cancel = sched.later(owner, pauseMs, () => {
      on.sleeping.delete(wake);
      round();
    });
    const wake = () => {
      if (!owner.alive) on.sleeping.delete(wake);
      if (until - sched.nowMs() <= everyMs) return;
      cancel();
      on.sleeping.delete(wake);
      pauseMs = everyMs;
      sleep();
    };
    if (pauseMs > everyMs) on.sleeping.add(wake);
  };
  const round = () => {
    const before = shared.events.length;
    const rest = () => {
      const isLately = sched.nowMs() - on.lastEventAt < LATELY_MS;
      const most = Math.max(everyMs, isLately ? IDLE_MS.lately : on.idleMs);
      pauseMs = shared.events.length === before ? Math.min(2 * pauseMs, most) : everyMs;
      sleep();
    };
    if (unended > 2) {
      rest();
      return;
    }
    unended += 1;
    const ended = run()
      .catch((error: unknown) => on.errors.push(`${owner.name}: ${String(error)}`))
      .then(() => (unended -= 1));
    if (overlaps) sched.later(owner, everyMs / 2, rest);
    else void ended.then(rest);
  };
  sched.later(owner, 1, round);
};

/** Loops for which a world never has anything to do are left out. */
const rolesIn = ({ actors }: World): readonly (keyof SimProcess['loops'])[] => {
  const kinds = new Set(actors.map(({ kind }) => kind));
  const own = { batch: 'batches', job: 'jobs', webhook: 'webhooks', restore: 'watch' } as const;
  const some = Object.entries(own).flatMap(([kind, role]) =>
    kinds.has(kind as keyof typeof own) ? [role] : [],
  );
  const isStack = actors.some((actor) => 'file' in actor && actor.file.parts !== undefined);
  const isLong = actors.some((actor) => 'file' in actor && actor.file.pages > LONG_PAGES);
  return [
    'operations',
    'sweepers',
    ...(isLong ? (['ranges'] as const) : []),
    ...new Set([...some, ...(isStack ? (['batches'] as const) : [])]),
  ];
};

const start = (on: Stage, spec: ProcessSpec, lives: number): void => {
  const owner = on.sched.newOwner(lives === 1 ? spec.name : `${spec.name}.${String(lives)}`, spec);
  const parts = simProcess(envOf(on, owner, spec));
  on.running.set(spec.name, { owner, parts, lives });
  for (const role of rolesIn(on.world)) for (const one of parts.loops[role]) loop(on, owner, one);
};

/** Puts a copy back, as an operator does; the read models are made anew from the log that is there. */
const restore = (on: Stage, { what, at }: Extract<Actor, { kind: 'restore' }>): void => {
  const copy = on.copies.get(at);
  if (copy === undefined) return;
  on.told.restoredAt = on.sched.nowMs();
  if (what.includes('log')) {
    on.shared.cutLog(copy.events);
    on.rows.forget();
    on.watch.logPutBack();
  }
  if (what.includes('objects')) on.shared.objects = new Map(copy.objects);
  if (what.includes('replays')) on.shared.replays = new Map(copy.replays);
};

const fill = ({ shared, base }: Stage, { events, objects }: Former = { events: base, objects: [] }): void => {
  for (const event of events)
    shared.append(event.stream, event.revision === 0n ? 'no_stream' : event.revision - 1n, [event]);
  for (const { key, bytes, at } of objects) shared.objects.set(key, { bytes, at });
};

/** Of the world, and its clock is right. */
const operatorIn = ({ sched, shared }: Stage) => {
  const store = logOf(shared, ({ effect }) => new Promise((done) => done(effect())));
  return operatorOn(store, { now: () => sched.instantOf(undefined), uuid: () => sched.uuid() });
};

const begin = (on: Stage, former?: Former): void => {
  const { sched, world, shared } = on;
  fill(on, former);
  shared.onEvent = (event) => {
    on.watch.see(event);
    on.lastEventAt = sched.nowMs();
    for (const wake of [...on.sleeping]) wake();
  };
  shared.onPut = (key) => on.watch.put(key);
  shared.onRemove = (key) => on.watch.removed(key);
  for (const event of shared.events) on.watch.see(event);
  sched.hook({
    afterStep: () => undefined,
    onChange: (change) =>
      operatorIn(on)
        .change(change)
        .catch((error: unknown) => void on.errors.push(String(error))),
    onKilled: (owner) => {
      for (const spec of world.processes) {
        const running = on.running.get(spec.name);
        if (running?.owner === owner)
          sched.later(undefined, RESTART_MS, () => start(on, spec, running.lives + 1));
      }
    },
  });
  // Inside of the simulation: what a process is made of asks for chance and time already.
  const startMs = former === undefined ? 0 : FORMER_MS;
  sched.later(undefined, startMs, () => world.processes.forEach((spec) => start(on, spec, 1)));
  if (former !== undefined) return;
  world.actors.forEach((actor, at) => {
    const owner = sched.newOwner(`actor ${String(at)}`);
    if (actor.kind === 'review') {
      sched.later(owner, actor.at + 1, () => void lookAt(on, owner, actor));
      return;
    }
    if (actor.kind === 'evict') {
      const lost = actor.limits === true ? shared.limits : shared.replays;
      sched.later(undefined, actor.at + 1, () => lost.clear());
      return;
    }
    if (actor.kind === 'restart') {
      sched.later(undefined, actor.at, () =>
        [...on.running.values()].forEach(({ owner: one }) => sched.kill(one)),
      );
      return;
    }
    if (isVisitor(actor)) {
      sched.later(owner, actor.at + 1, () => void visit(on, owner, actor));
      return;
    }
    if (actor.kind !== 'restore') {
      sched.later(
        owner,
        actor.at + 1,
        () => void (isSentBefore(actor) ? actOnSent : act)(on, owner, actor as never),
      );
      return;
    }
    sched.later(undefined, Math.max(1, actor.at - actor.backMs), () =>
      on.copies.set(actor.at, shared.copy()),
    );
    sched.later(undefined, actor.at, () => restore(on, actor));
  });
};

/** Until all actors are done and nobody stands still any more. */
const untilQuiet = async (on: Stage): Promise<void> => {
  const { sched, world, isOver } = on;
  await sched.run(Math.max(...world.actors.map(endOf), 0) + 6 * 60_000, isOver);
  for (;;) {
    const standing = [...on.running.values()].map(({ owner }) => owner.pausedUntil);
    const until = Math.min(Math.max(...standing), ACTIVE_MS_MAX);
    if (until <= sched.nowMs() || isOver()) return;
    await sched.run(until + 2 * 60_000, isOver);
  }
};

/** Whoever sends a request again when all are well is answered, one after the other. */
const askedAgain = async (on: Stage): Promise<void> => {
  const { sched, world, watch } = on;
  for (const actor of world.actors) {
    if (!isRequest(actor) || ('file' in actor && actor.file.ends === 'deadly')) continue;
    const owner = sched.newOwner(`again ${actor.key}`);
    sched.later(owner, 1, () => {
      void askAgain(on, owner, actor).then((code) => {
        if (code !== undefined) watch.unanswered(actor, code);
      });
    });
    await sched.run(sched.nowMs() + MINUTE, on.isOver);
  }
};

/** What each process says of each account. */
const standing = async (on: Stage): Promise<void> => {
  const { sched, world, watch } = on;
  for (const [via, { name }] of world.processes.entries())
    for (const tenant of watch.tenants()) {
      const owner = sched.newOwner(`asks ${name} of ${tenant}`);
      sched.later(owner, 1, () => {
        void standingOf(on, owner, { via, tenant }).then((is) => {
          if (is !== undefined) watch.standing(`as ${name} says`, tenant, is);
        });
      });
    }
  await sched.run(sched.nowMs() + MINUTE, on.isOver);
};

/** Each process takes what a tenant has room for, and no byte more. */
const roomLeft = async (on: Stage): Promise<void> => {
  const { sched, world, watch } = on;
  for (const [via, { name }] of world.processes.entries())
    for (const tenant of watch.uploaders()) {
      const left = ROOM.tenant - watch.bytesOf(tenant);
      for (const bytes of [left, left + 1]) {
        const owner = sched.newOwner(`asks ${name} for ${String(bytes)} of ${tenant}`);
        sched.later(owner, 1, () => {
          void send(on, owner, { via, ask: (requests) => requests.hasRoom(tenant, bytes) }).then((answer) => {
            if (answer !== undefined && (answer.kind === 'ok') !== bytes <= left)
              watch.room(
                `${name} has ${JSON.stringify(answer)} for ${String(bytes)} of ${String(left)} bytes`,
              );
          });
        });
      }
    }
  if (watch.uploaders().length > 0) await sched.run(sched.nowMs() + MINUTE, on.isOver);
};

/** Audits the copies of the log, and the log itself. */
const auditAll = async (on: Stage, { audits = true }: Pick<RunOptions, 'audits'>): Promise<void> => {
  for (const one of on.told.copies)
    if (!on.isOver()) for (const [rule, text] of await flawsOf(one)) on.watch.say(rule, text);
  if (on.isOver() || !audits) return;
  for (const text of changedClosings(on.shared.events)) on.watch.closing(text);
  on.watch.audited(await findingsIn(on.shared));
};

/** Runs a world from its start until hours after all have become well, and tells what was wrong. */
export const runWorld = async (options: RunOptions): Promise<Outcome> => {
  const on = stage(await baseOf(marketOf(options.world)), options);
  const { sched, world, isOver, watch } = on;
  begin(on, options.former);
  await untilQuiet(on);
  on.heal();
  on.stalledUntil = 0;
  // Who stands still now is heard of again before anybody asks what is left.
  await sched.run(Math.max(...[...on.running.values()].map(({ owner }) => owner.pausedUntil)), isOver);
  for (const healMs of [4 * HOUR, world.healMs ?? 60 * HOUR]) {
    if (isOver()) break;
    await sched.run(sched.nowMs() + healMs, isOver);
    on.rows.advance();
    await watch.look(listsOf(on.rows.rows()));
    if (options.former === undefined && on.idleMs !== IDLE_MS.healed) await askedAgain(on);
    if (options.former === undefined) await standing(on);
    if (on.idleMs === IDLE_MS.healed) await roomLeft(on);
    on.idleMs = IDLE_MS.healed;
  }
  await auditAll(on, options);
  const { findings, errors, shared } = on;
  return {
    findings,
    errors,
    taken: sched.taken,
    steps: sched.steps(),
    endedAt: sched.nowMs(),
    burned: watch.burned(),
    standings: new Map(watch.tenants().map((tenant) => [tenant, watch.due(tenant)])),
    events: shared.events,
    copies: on.told.copies,
  };
};
