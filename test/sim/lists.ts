import { runIdOfBatch } from '../../domain/evaluation.ts';
import { NO_END } from '../../domain/account/messages.ts';
import type { abandonedWorkBefore } from '../../projections/usageEvents.ts';
import type { DeliveryRow } from '../../projections/webhookRows.ts';
import type { prunableDeliveries } from '../../projections/webhooks.ts';
import {
  DONE,
  type BatchRow,
  type DocumentHeld,
  type DocumentRow,
  type HoldRow,
  type Rows,
  type WorkRow,
} from './readModel.ts';

const by =
  <T>(...keys: readonly ((row: T) => string | bigint | number)[]) =>
  (a: T, b: T): number => {
    for (const key of keys) {
      const [x, y] = [key(a), key(b)];
      if (x !== y) return x < y ? -1 : 1;
    }
    return 0;
  };

/** The first of each tenant, then the second of each. */
const inTurns = <T extends { readonly tenant_id: string }>(sorted: readonly T[]): readonly T[] => {
  const turns = new Map<string, number>();
  const numbered = sorted.map((row, at) => {
    const turn = (turns.get(row.tenant_id) ?? 0) + 1;
    turns.set(row.tenant_id, turn);
    return { row, turn, at };
  });
  return numbered
    .sort(
      by(
        ({ turn }) => turn,
        ({ at }) => at,
      ),
    )
    .map(({ row }) => row);
};

const NO_OPERATIONS = { count: 0, bytes: 0 };

/** What a list says of work. */
const nameOf = ({ id, tenant_id }: WorkRow) => ({ id, tenant_id });

const unfinished = (rows: ReadonlyMap<string, WorkRow>): WorkRow[] =>
  [...rows.values()].filter(({ finished_at }) => finished_at === null);

/** The questions of a queue worker, answered as `projections/queue.ts` does by SQL. */
const queueLists = (
  rows: ReadonlyMap<string, WorkRow>,
  {
    holds,
    isHold,
    keyOf,
    owes = () => false,
  }: {
    readonly holds: ReadonlyMap<string, HoldRow>;
    readonly isHold: (hold: HoldRow) => boolean;
    readonly keyOf: (workId: string) => string;
    /** That something else than its money is to come of it. */
    readonly owes?: (row: WorkRow) => boolean;
  },
) => ({
  waiting: (now: string, limit: number) =>
    inTurns(
      unfinished(rows)
        .filter(({ ready_at, status }) => status === 'queued' && ready_at <= now)
        .sort(
          by(
            ({ ready_at }) => ready_at,
            ({ position }) => position,
          ),
        ),
    )
      .slice(0, limit)
      .map(nameOf),
  expired: (now: string, limit: number) =>
    unfinished(rows)
      .filter(({ expires_at }) => expires_at <= now)
      .sort(
        by(
          ({ expires_at }) => expires_at,
          ({ id }) => id,
        ),
      )
      .slice(0, limit)
      .map(nameOf),
  running: (limit: number) =>
    unfinished(rows)
      .filter(({ status }) => status === 'running')
      .sort(
        by(
          ({ ready_at }) => ready_at,
          ({ id }) => id,
        ),
      )
      .slice(0, limit)
      .map((row) => ({ ...nameOf(row), mark: `${String(row.attempt)}|${row.ready_at}` })),
  unsettled: (after: string, limit: number) => {
    const held = new Set([...holds.values()].map(({ operation_id }) => operation_id));
    return [...rows.values()]
      .filter(
        (row) =>
          row.finished_at !== null &&
          (held.has(row.work_id) ||
            owes(row) ||
            (DONE.has(row.status) && row.hold_id !== null && row.credits_charged === null)),
      )
      .filter(({ id }) => id > after)
      .sort(by(({ id }) => id))
      .slice(0, limit)
      .map((row) => ({ ...nameOf(row), rank: row.id }));
  },
  orphans: (before: string, limit: number) => {
    const known = new Set([...rows.values()].map(({ work_id }) => work_id));
    const ids = [...holds.values()]
      .filter((hold) => isHold(hold) && hold.created_at < before && !known.has(hold.operation_id))
      .map(({ operation_id, tenant_id }) => ({ id: keyOf(operation_id), tenant_id }));
    return [...new Map(ids.map((one) => [one.id, one])).values()].sort(by(({ id }) => id)).slice(0, limit);
  },
});

const statusIn = (rows: Rows, batch: BatchRow, document: DocumentRow): string => {
  const operation = rows.operations.get(document.operation_id);
  if (operation === undefined) {
    if (document.problem_code !== null) return document.problem_code === 'cancelled' ? 'cancelled' : 'failed';
    return document.begun_at === null && batch.cancelled_at !== null ? 'cancelled' : 'queued';
  }
  const isUnpaid = operation.hold_id !== null && operation.credits_charged === null;
  return DONE.has(operation.status) && isUnpaid ? 'running' : operation.status;
};

const openIn = (rows: Rows, { documents }: BatchRow): number =>
  documents.filter((document) => {
    const operation = rows.operations.get(document.operation_id);
    if (document.begun_at === null) return false;
    return operation === undefined ? document.problem_code === null : operation.finished_at === null;
  }).length;

const openBatches = (rows: Rows): BatchRow[] =>
  [...rows.batches.values()]
    .filter(({ finished_at }) => finished_at === null)
    .sort(by(({ position }) => position));

const STATUSES = ['queued', 'running', 'succeeded', 'partial', 'failed', 'cancelled'] as const;

const batchLists = (rows: Rows) => ({
  toBegin: (openMax: number, limit: number, except: readonly string[]) =>
    inTurns(
      openBatches(rows).filter(
        (one) =>
          one.cancelled_at === null && one.begun < one.documents.length && !except.includes(one.batch_id),
      ),
    )
      .map(({ batch_id, tenant_id, ...batch }) => ({
        batch_id,
        tenant_id,
        open: openIn(rows, { batch_id, tenant_id, ...batch }),
      }))
      .filter(({ open }) => open < openMax)
      .slice(0, limit),
  left: (before: string, limit: number, except: readonly string[]) =>
    openBatches(rows)
      .flatMap(({ batch_id, tenant_id, cancelled_at, documents }) =>
        documents.map((one) => ({ ...one, batch_id, tenant_id, cancelled_at })),
      )
      .filter(({ batch_id, index, cancelled_at, begun_at, problem_code, operation_id }) => {
        if (begun_at === null || problem_code !== null || rows.operations.has(operation_id)) return false;
        if (cancelled_at !== null) return true;
        return (
          begun_at < before && ![batch_id, `${batch_id}/${String(index)}`].some((one) => except.includes(one))
        );
      })
      .sort(
        by(
          ({ begun_at }) => begun_at ?? '',
          ({ batch_id }) => batch_id,
          ({ index }) => index,
        ),
      )
      .map(({ batch_id, tenant_id, cancelled_at, index }) => ({ batch_id, tenant_id, cancelled_at, index }))
      .slice(0, limit),
  toCancel: (limit: number) =>
    openBatches(rows)
      .filter(({ cancelled_at }) => cancelled_at !== null)
      .flatMap(({ documents, tenant_id }) =>
        documents.flatMap(({ operation_id }) => {
          const one = rows.operations.get(operation_id);
          return one?.status === 'queued' && one.attempt === 0
            ? [{ operation_id, tenant_id, position: one.position }]
            : [];
        }),
      )
      .sort(by(({ position }) => position))
      .map(({ operation_id, tenant_id }) => ({ operation_id, tenant_id }))
      .slice(0, limit),
  toEnd: (limit: number) =>
    openBatches(rows)
      .filter((batch) => batch.cancelled_at !== null || batch.begun === batch.documents.length)
      .filter((batch) =>
        batch.documents.every((one) => !['queued', 'running'].includes(statusIn(rows, batch, one))),
      )
      .map(({ batch_id, tenant_id }) => ({ batch_id, tenant_id }))
      .slice(0, limit),
  progress: (batchId: string) => {
    const batch = rows.batches.get(batchId);
    if (batch === undefined) return undefined;
    const counts = Object.fromEntries(STATUSES.map((status) => [status, 0])) as Record<
      (typeof STATUSES)[number],
      number
    >;
    let [pages, credits_charged] = [0, 0];
    for (const document of batch.documents) {
      const status = statusIn(rows, batch, document) as (typeof STATUSES)[number];
      const operation = rows.operations.get(document.operation_id);
      counts[status] += 1;
      if (DONE.has(status)) pages += operation?.pages ?? 0;
      credits_charged += operation?.credits_charged ?? 0;
    }
    return { counts, pages, credits_charged };
  },
  toScore: (limit: number, except: readonly string[]) => {
    const waiting = [...rows.batches.values()]
      .filter(({ measured, scored }) => measured && !scored)
      .filter(({ finished_at, cancelled_at }) => finished_at !== null && cancelled_at === null)
      .sort(by(({ position }) => position))
      .map(({ batch_id, tenant_id }) => ({ run_id: runIdOfBatch(batch_id), batch_id, tenant_id }))
      .filter(({ run_id }) => !except.includes(run_id));
    return inTurns(waiting).slice(0, limit);
  },
  openOfTenant: (tenant: string) =>
    openBatches(rows).flatMap(({ tenant_id, batch_id }) => (tenant_id === tenant ? [batch_id] : [])),
});

const webhookLists = (rows: Rows) => {
  const isWaiting = (one: DeliveryRow, now: string) => !one.delivered && one.retry_until > now;
  const isDue = (one: DeliveryRow, now: string) => isWaiting(one, now) && one.next_attempt_at <= now;
  const all = () => [...rows.deliveries.values()];
  const isEarlier = (a: DeliveryRow, b: DeliveryRow) =>
    a.position < b.position || (a.position === b.position && a.turn < b.turn);
  return {
    webhooks: (now: string, busy: readonly string[]) =>
      [...rows.webhooks.values()]
        .filter(
          ({ enabled, removed_at, webhook_id }) =>
            enabled && removed_at === null && !busy.includes(webhook_id),
        )
        .filter(({ webhook_id }) => all().some((one) => one.webhook_id === webhook_id && isDue(one, now)))
        .map(({ webhook_id, tenant_id }) => ({ webhook_id, tenant_id })),
    due: (webhookId: string, now: string, limit: number) => {
      const own = all().filter(({ webhook_id }) => webhook_id === webhookId);
      const isBehind = (one: DeliveryRow) =>
        own.some((b) => b.subject === one.subject && isWaiting(b, now) && isEarlier(b, one));
      return own
        .filter((one) => isDue(one, now) && !isBehind(one))
        .sort(
          by(
            ({ next_attempt_at }) => next_attempt_at,
            ({ position }) => position,
            ({ turn }) => turn,
          ),
        )
        .slice(0, limit)
        .map(({ delivery_id, webhook_id, tenant_id, body }) => ({
          delivery_id,
          webhook_id,
          tenant_id,
          body,
        }));
    },
    deliveries: all,
    prunable: (
      { before, now, tenant_id }: Parameters<ReturnType<typeof prunableDeliveries>>[0],
      { piece, pieces }: { readonly piece: number; readonly pieces: number },
    ) => {
      const created = all()
        .filter((one) => tenant_id === null || one.tenant_id === tenant_id)
        .filter((one) => one.created_at < before && !isWaiting(one, now))
        .map(({ created_at }) => created_at)
        .sort()
        .slice(0, piece * pieces);
      return Array.from({ length: Math.ceil(created.length / piece) }, (_, at) => {
        const own = created.slice(at * piece, (at + 1) * piece);
        return { last_at: own.at(-1) ?? '', deliveries: own.length };
      });
    },
    failingSince: (webhookId: string) => {
      const row = rows.webhooks.get(webhookId);
      return row && { failing_since: row.failing_since };
    },
    removed: (ids: readonly string[]) =>
      ids.filter((id) => (rows.webhooks.get(id)?.removed_at ?? null) !== null),
    idsOf: (tenant: string) =>
      [...rows.webhooks.values()].flatMap(({ tenant_id, removed_at, webhook_id }) =>
        tenant_id === tenant && removed_at === null ? [webhook_id] : [],
      ),
  };
};

type ListAbandoned = ReturnType<typeof abandonedWorkBefore>;
type AbandonedBefore = Parameters<ListAbandoned>[0];
type Abandoned = Awaited<ReturnType<ListAbandoned>>[number];

const isQueued = (rows: Rows, workId: string): boolean =>
  rows.jobs.has(workId) || [...rows.operations.values()].some(({ work_id }) => work_id === workId);

const accountLists = (rows: Rows) => ({
  abandonedBefore: ({ held: heldBefore, unheld }: AbandonedBefore, limit: number) => {
    const held = new Set([...rows.holds.values()].map(({ operation_id }) => operation_id));
    return [...rows.running.values()]
      .filter(({ id, hold_id, requested_at }) => {
        const isOpen = held.has(id) || rows.unrecorded.has(id) || isQueued(rows, id);
        return requested_at < (hold_id === null ? unheld : heldBefore) && !isOpen;
      })
      .sort(
        by(
          ({ requested_at }) => requested_at,
          ({ id }) => id,
        ),
      )
      .map(({ id: operation_id, operation, tenant_id, pages, hold_id }): Abandoned => ({
        operation_id,
        operation,
        tenant_id,
        pages,
        hold_id,
      }))
      .slice(0, limit);
  },
  expiredHolds: (now: string, limit: number) =>
    [...rows.holds.values()]
      .filter(({ expires_at, operation_id }) => expires_at <= now && !isQueued(rows, operation_id))
      .sort(
        by(
          ({ expires_at }) => expires_at,
          ({ hold_id }) => hold_id,
        ),
      )
      .map(({ tenant_id, hold_id }) => ({ tenant_id, hold_id }))
      .slice(0, limit),
  openTransfersBefore: (before: string, limit: number) =>
    [...rows.transfers.values()]
      .filter(({ created_at }) => created_at < before)
      .sort(
        by(
          ({ created_at }) => created_at,
          ({ transfer_id }) => transfer_id,
        ),
      )
      .slice(0, limit),
  openClaimsBefore: (before: string, limit: number) =>
    [...rows.claims]
      .filter(([, claimed_at]) => claimed_at < before)
      .sort(
        by(
          ([, claimed_at]) => claimed_at,
          ([stream]) => stream,
        ),
      )
      .map(([stream]) => stream)
      .slice(0, limit),
  unrecordedBefore: (before: string, limit: number) =>
    [...rows.unrecorded.values()]
      .filter(({ burned_at }) => burned_at < before)
      .sort(
        by(
          ({ burned_at }) => burned_at,
          ({ operation_id }) => operation_id,
        ),
      )
      .slice(0, limit),
  openOperationsOf: (tenant: string, ids: readonly string[]) => {
    const known = ids.filter((id) => rows.operations.get(id)?.tenant_id === tenant);
    return {
      ...unfinished(rows.operations)
        .filter(({ tenant_id }) => tenant_id === tenant)
        .reduce(
          (sum, { file_bytes }) => ({ count: sum.count + 1, bytes: sum.bytes + file_bytes }),
          NO_OPERATIONS,
        ),
      known: known.length === 0 ? null : known.join(' '),
    };
  },
});

/** Documents of what was under way by then. */
const documentsNamed = (rows: Rows, isHeld: (row: DocumentHeld) => boolean): ReadonlySet<string> => {
  const batched = [...rows.batches.values()].filter(isHeld).flatMap(({ documents }) => documents);
  const operations = [...rows.operations.values()].filter(isHeld);
  return new Set([...operations, ...batched].map(({ document_id }) => document_id));
};

const byId = by(({ id }: { readonly id: string }) => id);

const documentLists = (rows: Rows) => ({
  anyErased: () => rows.erased.size > 0,
  erasedAmong: (names: readonly string[]) =>
    new Set(names.filter((name) => rows.erased.has(name) || rows.erased.has(rows.begun.get(name) ?? ''))),
  /** Of all kinds that somebody takes away here. */
  heldBy: ({ position, tenant_id }: { readonly position: bigint; readonly tenant_id: string }) => {
    const isHeld = (row: DocumentHeld): boolean => row.position <= position && row.tenant_id === tenant_id;
    const named = documentsNamed(rows, isHeld);
    const documents = [...rows.documents].filter(
      ([id, row]) =>
        row.tenant_id === tenant_id && !rows.erased.has(id) && (row.position <= position || named.has(id)),
    );
    const idsIn = (kind: string, ids: readonly string[]) => ids.map((id) => ({ kind, id })).sort(byId);
    const batches = openBatches(rows).filter(isHeld);
    const operations = unfinished(rows.operations).filter(isHeld);
    return [
      ...idsIn(
        'batch',
        batches.map(({ batch_id }) => batch_id),
      ),
      ...idsIn(
        'operation',
        operations.map(({ id }) => id),
      ),
      ...idsIn(
        'document',
        documents.map(([id]) => id),
      ),
    ];
  },
  awaitedOf: (ids: readonly string[]) => {
    const awaited = openBatches(rows).flatMap(({ documents }) =>
      documents.map(({ document_id }) => document_id),
    );
    return new Set(ids.filter((id) => awaited.includes(id)));
  },
  workOn: (documentId: string) => {
    const operations = [...rows.operations.values()];
    const begun = [...rows.begun].filter(([, of]) => of === documentId);
    const waiting = operations.filter(({ document_id, finished_at, work_id }) => {
      const isBegun = rows.begun.get(work_id) === documentId;
      return document_id === documentId && finished_at === null && !isBegun;
    });
    return [
      ...begun.map(([work_id]) => {
        const operation = operations.find((one) => one.work_id === work_id);
        const isOpen = operation !== undefined && operation.finished_at === null;
        const operation_id: string | null = operation?.id ?? null;
        return { work_id, operation_id, is_open: isOpen || rows.running.has(work_id) };
      }),
      ...waiting.map(({ work_id, id }) => ({ work_id, operation_id: id as string | null, is_open: true })),
    ];
  },
});

/** All questions, of rows as they are. */
export const listsOf = (rows: Rows) => ({
  operations: {
    ...queueLists(rows.operations, {
      holds: rows.holds,
      isHold: ({ operation, expires_at, hold_id }) =>
        operation !== 'training' && (expires_at === NO_END || hold_id.startsWith('hold_op_')),
      keyOf: (workId) => `op_${workId.slice(4)}`,
      owes: ({ id, document_id }) => {
        const batch = rows.parts.get(id);
        return batch !== undefined && !rows.batches.has(batch) && !rows.erased.has(document_id);
      },
    }),
    longRunning: (pagesMax: number, limit: number) =>
      unfinished(rows.operations)
        .filter(({ status, pages }) => status === 'running' && pages > pagesMax)
        .sort(by(({ position }) => position))
        .slice(0, limit)
        .map(nameOf),
  },
  jobs: queueLists(rows.jobs, {
    holds: rows.holds,
    isHold: ({ operation }) => operation === 'training',
    keyOf: (workId) => workId,
  }),
  batches: batchLists(rows),
  webhooks: webhookLists(rows),
  accounts: accountLists(rows),
  documents: documentLists(rows),
});

export type Lists = ReturnType<typeof listsOf>;
