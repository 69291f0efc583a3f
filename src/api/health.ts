import type { LogWatch } from '../../projections/engine/divergence.ts';
import type { ProjectionRunner } from '../../projections/engine/runner.ts';
import { healthReport, type HealthPart } from './service.ts';
import type { HealthReport, ReadyReport, ServiceStateBody } from './schemas/serviceSchemas.ts';
import type { Replicas } from '../../domain/ports/services.ts';
import { openWorkByStatus } from '../../projections/operations.ts';
import { DROPPED_READ_MODELS, READ_MODELS } from '../../projections/readModels.ts';
import type { HeavySlots } from '../commands/slots.ts';
import type { Config } from '../config.ts';
import { projectionsStatus } from '../operator/log.ts';
import type { BucketsInUse } from '../server/limits.ts';
import type { Parts } from '../parts/parts.ts';
import type { Clock, EventFeed } from '../../domain/ports/log.ts';
import { type ModelLag, standingStill } from '../../projections/engine/lag.ts';
import type { ProjectorStatus } from '../../projections/engine/subscribe.ts';

interface Reads {
  readonly runner: ProjectionRunner;
  readonly lags: () => Promise<readonly ModelLag[] | undefined>;
  readonly watch: Pick<LogWatch, 'diverged' | 'logId'>;
}

/**
 * How far the read models are, which of them have stopped and why, which stand still although nothing failed, and
 * whether a newer release has them.
 */
const projectionFacts = async ({
  runner,
  watch,
  lags: askLags,
}: Reads): Promise<Readonly<Record<string, unknown>>> => {
  const statuses = await runner.status();
  const diverged = watch.diverged();
  const stopped = statuses
    .filter(({ state }) => state === 'stopped')
    .map(({ name, position, reason }) => ({ name, position: position?.toString() ?? null, reason }));
  const late = await askLags();
  if (late === undefined) throw new Error('how late the read models are is not known now');
  const still = standingStill(late);
  const parked = late.reduce((sum, one) => sum + one.parked.length, 0);
  const lags = statuses.flatMap(({ lag_events }) => (lag_events === undefined ? [] : [lag_events]));
  return {
    ...(stopped.length + still.length + parked > 0 && { status: 'degraded' }),
    ...(diverged !== undefined && { status: 'degraded' }),
    lag_events: lags.length === 0 ? null : Math.max(...lags),
    lag_seconds: Math.max(0, ...late.map(({ lag_seconds }) => lag_seconds)),
    still,
    paused: late.filter(({ is_paused }) => is_paused).map(({ name }) => name),
    // How many alone: this page is public.
    parked_tenants: parked,
    stopped,
    aside: runner.aside(),
    diverged: diverged?.reason ?? null,
  };
};

const kindOf = (name: string): string => name.split(' ', 1)[0] ?? name;

/** What `/health` asks of each part. */
export const healthOf = (parts: Parts, reads: Reads, version: string): (() => Promise<HealthReport>) => {
  const { names } = parts;
  const asked: readonly HealthPart[] = [
    {
      name: 'event_log',
      facts: async () => ({
        kind: kindOf(names.event_log),
        log_id: reads.watch.logId(),
        position: ((await parts.log.head()) ?? 0n).toString(),
        // It can be read and not written, as on a full disk.
        ...(!parts.isLogWritable() && { status: 'degraded' }),
      }),
    },
    {
      name: 'read_models',
      facts: async () => {
        await parts.sql.query('select 1 as one');
        return { kind: kindOf(names.read_models) };
      },
    },
    {
      name: 'objects',
      facts: async () => {
        await parts.objects.check();
        return { kind: kindOf(names.objects) };
      },
    },
    { name: 'limits', facts: () => Promise.resolve({ kind: kindOf(names.limits) }) },
    { name: 'projections', facts: () => projectionFacts(reads) },
  ];
  return healthReport({ version, upMs: () => process.uptime() * 1000, parts: asked });
};

interface ReadinessDeps {
  readonly health: () => Promise<HealthReport>;
  readonly feed: Pick<EventFeed, 'head'>;
  readonly runner: Pick<ProjectionRunner, 'status' | 'waitFor'>;
  readonly watch?: Pick<LogWatch, 'diverged'>;
  /** Whether this process has the role `projector`. */
  readonly mayProject: boolean;
  /** Tables of read models that are missing, or were created again and have no row yet. */
  readonly missing: () => Promise<readonly string[]>;
}

/** Whether a load balancer should send requests here. */
export interface Readiness {
  /** From now on this process is not ready. */
  readonly drain: () => void;
  readonly isDraining: () => boolean;
  /** Read models are filled from the start of the log: not ready until they have reached its end of now. */
  readonly begunAnew: () => void;
  readonly report: () => Promise<ReadyReport>;
}

/** How long a probe waits for read models that are nearly there, ms. */
const CATCH_UP_MS = 500;

/** Parts without which hardly a request can be answered. */
const NEEDED = ['event_log', 'read_models'];

/**
 * A read model that stopped waits for a person, and one whose next version is built serves the rows of
 * the last: neither keeps a process from being ready.
 */
const isBehind = ({ state, position }: ProjectorStatus, head: bigint): boolean =>
  state !== 'stopped' && state !== 'building' && (position === null || position < head);

/**
 * Ready: not shutting down, the parts that are needed answer, and, in a process with the role
 * `projector`, the read models have once reached what the log held when it was first asked. A process
 * without that role reads what others project, as late as they are: all replicas are, and one that
 * starts has nothing to wait for.
 */
export const readiness = (deps: ReadinessDeps): Readiness => {
  const { health, feed, runner, watch, mayProject, missing } = deps;
  let draining = false;
  let caughtUp = !mayProject;
  let startHead: bigint | null | undefined;

  const hasCaughtUp = async (): Promise<boolean> => {
    if (caughtUp) return true;
    startHead ??= (await feed.head()) ?? null;
    const head = startHead;
    // Asked for, so that a projector that rests goes on.
    if (head !== null) await runner.waitFor(head, { timeoutMs: CATCH_UP_MS });
    caughtUp = head === null || (await runner.status()).every((status) => !isBehind(status, head));
    return caughtUp;
  };

  const begunAnew = (): void => {
    caughtUp = false;
    startHead = undefined;
  };

  const report = async (): Promise<ReadyReport> => {
    if (draining) return { status: 'not_ready', waiting_for: ['shutdown'] };
    const { parts } = await health();
    const away = NEEDED.filter((name) => parts[name]?.['status'] === 'down');
    if (away.length > 0) return { status: 'not_ready', waiting_for: away };
    if (watch?.diverged() !== undefined)
      return { status: 'not_ready', waiting_for: ['diverged_read_models'] };
    const tables = await missing();
    if (tables.length > 0) {
      begunAnew();
      return { status: 'not_ready', waiting_for: tables.map((table) => `read_models.${table}`) };
    }
    const isThere = await hasCaughtUp().catch(() => false);
    return isThere
      ? { status: 'ready', waiting_for: [] }
      : { status: 'not_ready', waiting_for: ['projections'] };
  };
  return {
    drain: () => {
      draining = true;
    },
    isDraining: () => draining,
    begunAnew,
    report,
  };
};

/** Parts of the process whose state is shown. */
interface StateDeps {
  readonly config: Pick<Config, 'roles' | 'maxUploadBytes'>;
  readonly parts: Pick<Parts, 'sql' | 'log'>;
  readonly health: () => Promise<HealthReport>;
  readonly readiness: Pick<Readiness, 'isDraining'>;
  readonly logWatch: Pick<LogWatch, 'logId'>;
  readonly replicas: Pick<Replicas, 'alive'>;
  readonly slots: HeavySlots;
  readonly bucketsInUse: Pick<BucketsInUse, 'list'>;
  readonly clock: Clock;
}

/** The state of this process and its parts, asked again each time. */
export const serviceStateOf = (from: StateDeps): (() => Promise<ServiceStateBody>) => {
  const { sql, log } = from.parts;
  const { roles, maxUploadBytes } = from.config;
  const known = { projectors: READ_MODELS, dropped: DROPPED_READ_MODELS };
  return async () => {
    const slots = from.slots;
    const { isDraining } = from.readiness;
    const [{ status, version, uptime_seconds, parts }, models, end, work, replicas] = await Promise.all([
      from.health(),
      projectionsStatus({ sql, feed: log, nowMs: () => Date.parse(from.clock.now()) }, known),
      log.end(),
      openWorkByStatus(sql)(from.clock.now()),
      from.replicas.alive(),
    ]);
    return {
      status,
      version,
      uptime_seconds,
      parts,
      roles: [...roles],
      draining: isDraining(),
      log: { log_id: from.logWatch.logId(), end_position: end?.toString() ?? null },
      read_models: models.map(({ next, parked, ...model }) => ({
        ...model,
        parked: [...parked],
        next: next === null ? null : { ...next },
      })),
      slots: { in_use: slots.inUse(), max: slots.max, tenants: [...slots.holders()] },
      rate_limits: [...from.bucketsInUse.list()],
      work: [...work],
      replicas: replicas.map(({ roles: theirs, ...replica }) => ({ ...replica, roles: [...theirs] })),
      max_upload_bytes: maxUploadBytes,
    };
  };
};
