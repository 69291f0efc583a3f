import type { AccountEventOf } from '../../domain/account/messages.ts';
import { operationIdOfDocument } from '../../domain/batch.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { ProjectedEvent, ProjectedEventOf } from '../../projections/engine/ports.ts';
import type { Finding as AuditFinding } from '../../src/audit/findings.ts';
import { PARTS, resultOf } from './process.ts';
import { started, type Accepted, type Batch, type Held, type Work } from './known.ts';
import type { Lists } from './lists.ts';
import { accountsWatch } from './accountsWatch.ts';
import { callsWatch } from './calls/callsWatch.ts';
import type { Standing } from './book.ts';
import { byType, tenantIn } from './readModel.ts';
import { reviewIdOf } from '../../domain/review.ts';
import { rangesWatch } from './long/rangesWatch.ts';
import { reviewWatch } from './reviewWatch.ts';
import { batchesWatch } from './batches/batchesWatch.ts';
import { EPOCH_MS } from './scheduler.ts';
import { daysWatch, messages } from './daysWatch.ts';
import { visitsWatch } from './visitsWatch.ts';
import type { Told, WatchDeps } from './told.ts';
import { actorOf, fullKeyOf, printOf, saidBySale, type Sent } from './actors.ts';
import { isRequest, skewOf, type Wanting } from './worlds.ts';

const HOUR = 3_600_000;
const BATCHES_MAX = 10;
const WEBHOOKS_MAX = 20;
/** Starts of one piece of work that count: a worker that shuts down gives its start back. */
const STARTS_MAX = 3;

const keyIn = ({ metadata }: Pick<RecordedEvent, 'metadata'>): string => {
  const id = metadata['correlation_id'];
  return typeof id === 'string' ? (id.split('#')[0] ?? '') : '';
};

interface Times {
  readonly lease_id: string;
  readonly started_at: string;
  readonly lease_until: string;
}
interface Progressed {
  readonly progressed_at: string;
  readonly lease_until: string;
  readonly gave_up: string | null;
}

/** Looks at each event as it is written, and at all that is left when all are well. */
export const watchOver = (deps: WatchDeps) => {
  const { world, sched, shared, raw, told } = deps;
  // What clocks differ by is taken off.
  const skewMs = 2 * skewOf(world);
  const resultKeptMs = 24 * HOUR - Math.max(10 * 60_000, skewMs);
  /** For as long a key names the same request. */
  const keyKeptMs = 24 * HOUR - Math.max(20 * 60_000, skewMs);
  let known = started();
  let accounts = accountsWatch(deps);
  const say = (id: string, text: string): void =>
    deps.find({ id, text, at: sched.nowMs(), step: sched.steps() });
  const toTell = (id: string, text: string): void => {
    known.toTell.add(text);
    say(id, text);
  };
  const add = (work: Pick<Work, 'id' | 'work_id' | 'hold_id'> & Partial<Work>): Work => {
    const made = {
      accepted: null,
      job: null,
      success: null,
      ended: null,
      leaseUntil: 0,
      leaseId: '',
      starts: 0,
      burns: 0,
      credits: 0,
      billed: undefined,
      billedAt: Infinity,
      ...work,
    };
    known.works.set(made.id, made);
    known.byWork.set(made.work_id, made);
    return made;
  };

  /** A key names the same for a day: what it was sent for is accepted once, however often it is sent. */
  const acceptedOnce = (kind: string, fingerprint: string, at: string): void => {
    // By the log's time: an append whose process stood still takes effect later than it says.
    const [request, now] = [`${kind} ${fingerprint}`, Date.parse(at)];
    const first = known.accepted.get(request);
    if (first === undefined) known.accepted.set(request, now);
    else if (now - first < keyKeptMs) say('accepted-twice', `the ${request} was accepted twice`);
  };

  const isUncovered = ({ hold_id }: Work): boolean => hold_id !== null && !known.holds.has(hold_id);

  const accepted = (data: Accepted): void => {
    const work = add({ id: data.operation_id, work_id: data.work_id, hold_id: data.hold_id, accepted: data });
    if (isUncovered(work)) toTell('accepted-unheld', `${work.id} was accepted without an open hold`);
    if (requesterOf(work) !== undefined && !known.batchOf.has(work.id))
      acceptedOnce('operation', `${data.tenant_id} ${data.fingerprint}`, data.accepted_at);
    const batch = known.batchOf.get(work.id);
    if (batch !== undefined && batch.ended !== null)
      toTell('accepted-after-end', `${work.id} was accepted after its batch had ended`);
  };

  const leased = (
    work: Work | undefined,
    times: { from: string; until: string; startsAnew: boolean },
  ): void => {
    if (work === undefined) return;
    const now = sched.nowMs();
    if (times.startsAnew && work.leaseUntil > now)
      say(
        'live-lease-taken',
        `${work.id} was taken over ${String(work.leaseUntil - now)} ms before its lease was over`,
      );
    work.leaseUntil = now + Date.parse(times.until) - Date.parse(times.from);
  };

  const ended = (id: string, how: NonNullable<Work['ended']>, code?: string): void => {
    const work = known.works.get(id);
    if (work === undefined) return;
    if (code === 'worker_lost' && work.leaseUntil > sched.nowMs())
      say('live-work-lost', `${id} was given up as lost while its lease was good`);
    work.ended = how;
  };

  /** What the caller of an operation would read now. */
  const read = async ({ accepted: data, success }: Work): Promise<string | undefined> => {
    const result = await resultOf(raw, { accepted: data, success });
    return result === undefined ? undefined : JSON.stringify(result);
  };

  const requesterOf = ({ accepted: data }: Work) => {
    const key = data?.correlation_id.split('#')[0];
    return world.actors.find(
      (actor): actor is Sent =>
        (actor.kind === 'later' || actor.kind === 'now') &&
        fullKeyOf(actor) === key &&
        printOf(actor) === data?.fingerprint,
    );
  };

  /** Each call that a result stands on is logged, and no call is logged twice, however many attempts it took. */
  const checkCalls = ({ work_id, billed }: Work): void => {
    if (told.restoredAt >= 0 || billed === undefined) return;
    const { calls = [] } = JSON.parse(billed) as { readonly calls?: readonly string[] };
    const logged = (shared.events as unknown as readonly ProjectedEvent[]).flatMap((event) =>
      event.type === 'LlmCostLogged' && event.data.job_id === work_id ? [event.data] : [],
    );
    const entries = new Set(logged.map(({ entry_id }) => entry_id));
    for (const call of calls)
      if (!entries.has(`${work_id}:${call}`)) say('call-log', `the call ${call} of ${work_id} is not logged`);
    if (new Set(logged.map(({ input_tokens }) => input_tokens)).size < logged.length)
      say('call-log', `a call of ${work_id} is logged twice`);
    if (calls.length > 0 && new Set(calls).size !== PARTS)
      say('call-log', `${work_id} stands on ${String(calls.length)} calls for ${String(PARTS)} parts`);
  };

  const checkDelivered = (work: Work, result: string): void => {
    const { tag, pages } = JSON.parse(result) as { readonly tag: string; readonly pages: number };
    if (work.accepted !== null && pages > work.accepted.pages)
      say(
        'wrong-file',
        `${work.id} was accepted with ${String(work.accepted.pages)} pages and done with ${String(pages)}`,
      );
    spread.delivered(work, result);
    batched.delivered(work, result);
    const actor = requesterOf(work);
    if (actor !== undefined && actor.file.tag !== tag)
      say('wrong-file', `${work.id} was asked for the file ${actor.file.tag} and done with the file ${tag}`);
  };

  const burnedOperation = (work: Work, at: string): void => {
    work.billedAt = Date.parse(at) - EPOCH_MS;
    void read(work).then((result) => {
      if (result === undefined && !isErased(work))
        say('billed-undeliverable', `${work.id} was billed when its result could not be had`);
      else if (result !== undefined) checkDelivered(work, result);
      work.billed = result;
    });
    // By the log's time: an append whose writer stood still takes effect later than it says.
    const left = Date.parse(at) - EPOCH_MS + resultKeptMs - sched.nowMs();
    if (left > 0) sched.later(undefined, left, () => void stillThere(work));
  };

  const isErased = ({ accepted }: Work): boolean => known.erased.has(accepted?.document_id ?? '');

  const stillThere = async (work: Work): Promise<void> => {
    const now = await read(work);
    if (work.billed !== undefined && now === undefined && !isErased(work))
      say('result-gone', `the result of ${work.id} was gone less than a day after it was billed`);
  };

  const compared = async (work: Work): Promise<void> => {
    if (work.billed === undefined) return;
    const now = await read(work);
    if (now !== undefined && now !== work.billed)
      say('result-replaced', `the result of ${work.id} was replaced after it was billed`);
  };

  const burned = (event: ProjectedEventOf<'CreditsBurned'>): void => {
    const { data } = event;
    known.holds.delete(data.hold_id ?? '');
    calls.burned(event, keyIn(event));
    const work = known.byWork.get(data.operation_id);
    if (work === undefined) return;
    work.burns += 1;
    work.credits += data.credits;
    if (work.burns > 1) say('billed-twice', `${work.id} was billed ${String(work.burns)} times`);
    if (work.ended !== 'succeeded') say('billed-unended', `${work.id} was billed and had not succeeded`);
    if (work.accepted !== null) burnedOperation(work, data.created_at);
  };

  /** The hold of a success that the event before gave back: at another price it is placed again at once. */
  let given: { readonly hold_id: string; readonly text: string } | undefined;
  const tellGiven = (next?: ProjectedEvent): void => {
    if (given !== undefined && !(next?.type === 'CreditsHeld' && next.data.hold_id === given.hold_id))
      toTell('released-under-success', given.text);
    given = undefined;
  };
  const released = ({ hold_id, reason }: AccountEventOf<'HoldReleased'>['data']): void => {
    const held = known.holds.get(hold_id);
    known.holds.delete(hold_id);
    const work = held && known.byWork.get(held.operation_id);
    if (work === undefined || work.burns > 0) return;
    if (work.ended === null)
      toTell('released-under-work', `the hold ${hold_id} of open ${work.id} was released (${reason})`);
    if (work.ended === 'succeeded')
      given = {
        hold_id,
        text: `the hold ${hold_id} of ${work.id} was released (${reason}) after it had succeeded`,
      };
  };

  /** A payment is booked once, and never after its caller was told no. A dispute that is won keeps its identity. */
  const booked = (event: ProjectedEventOf<'CreditsGranted' | 'CreditsRefunded' | 'RefundReversed'>): void => {
    const { provider_txn_id: txn } = event.data;
    if (event.type === 'RefundReversed' && event.data.dispute === true) return;
    const sale = event.type === 'CreditsGranted' ? saidBySale(actorOf(world, event)) : '';
    if (known.booked.has(txn)) say('booked-twice', `the payment ${txn} was booked twice`);
    known.booked.set(txn, sale ?? '');
    if (sale !== undefined && told.refused.some((actor) => saidBySale(actor) === sale))
      say('booked-after-no', `the payment ${txn} was booked after its caller was told no`);
  };

  const usage = (id: string, what: 'Requested' | 'Completed' | 'Failed'): void => {
    const before = known.usage.get(id) ?? [];
    if (what === 'Requested' && before.length > 0)
      say('usage-order', `${id} was requested after ${before.join(', ')}`);
    if (what !== 'Requested' && before.includes('Completed'))
      say('usage-order', `${id} ended again after it was completed`);
    known.usage.set(id, [...before, what]);
  };

  const count = (what: 'batches' | 'webhooks', open: number, max: number): void => {
    if (open > max) say('limit', `${String(open)} ${what} of ${String(max)}`);
  };

  const batchAccepted = (data: Batch['accepted']): void => {
    const batch: Batch = { accepted: data, ended: null };
    known.batches.set(data.batch_id, batch);
    // What a stack becomes is named by its split, which may be done days after it was asked for.
    const what = data.split === undefined ? data.fingerprint : `of ${data.split.operation_id}`;
    acceptedOnce('batch', `${data.tenant_id} ${what}`, data.accepted_at);
    data.document_ids.forEach((_, index) =>
      known.batchOf.set(operationIdOfDocument({ ...data, index }), batch),
    );
    // Asked for after the erasure: what it registers is new, whatever a batch from before would have registered.
    for (const id of data.document_ids) if (!known.registered.has(id)) known.toErase.delete(id);
    count('batches', [...known.batches.values()].filter((one) => one.ended === null).length, BATCHES_MAX);
  };

  const started_ = (id: string, { started_at: from, lease_until: until, lease_id }: Times): void => {
    const work = known.works.get(id);
    if (work !== undefined) {
      work.leaseId = lease_id;
      work.starts += 1;
      if (work.starts > STARTS_MAX)
        say('started-too-often', `${id} was started ${String(work.starts)} times`);
    }
    leased(work, { from, until, startsAnew: true });
  };
  const progressed = (id: string, { progressed_at: from, lease_until, gave_up }: Progressed): void => {
    const work = known.works.get(id);
    if (work !== undefined && gave_up === 'shutdown') work.starts -= 1;
    leased(work, { from, until: gave_up === null ? lease_until : from, startsAnew: false });
  };

  /** What is erased is not worked on, as far as read models that are not late can tell. */
  const erased = (id: string): void => {
    known.erased.add(id);
    const isLate = sched.taken.some(({ deviation }) => deviation.kind === 'stale');
    const open = [...known.works.values()].find((one) => one.accepted?.document_id === id);
    if (open !== undefined && open.ended === null && !isLate)
      say('erased-under-work', `${id} was erased, and ${open.id} works on it`);
  };

  const adjusted = ({ data, stream }: ProjectedEventOf<'CreditsTransferredOut' | 'CreditsAdjusted'>) =>
    void known.adjusted.add(`${tenantIn(stream)}:${data.idempotency_key ?? ''}`);

  const people = reviewWatch(deps, { say, isErased, known: () => known });
  const days = daysWatch(deps, { say, read, known: () => known });
  const visits = visitsWatch(deps, { say });
  const calls = callsWatch(deps, { say, known: () => known, keyKeptMs });
  const spread = rangesWatch(deps, {
    say,
    known: () => known,
    tagOf: (work) => {
      const actor = requesterOf(work);
      return actor?.file.tag;
    },
  });
  const batched = batchesWatch(deps, {
    say,
    isErased,
    known: () => known,
    fileOf: (work) => {
      const actor = requesterOf(work);
      return actor?.kind === 'later' ? actor.file : undefined;
    },
  });
  const handle = byType({
    PageRangesTaken: ({ data }) => spread.taken(data),
    CreditsHeld: ({ data }) => void known.holds.set(data.hold_id, data),
    HoldReleased: ({ data }) => released(data),
    CreditsBurned: (event) => burned(event),
    CreditsGranted: booked,
    CreditsRefunded: booked,
    RefundReversed: booked,
    DocumentRegistered: ({ data }) => void known.registered.add(data.document_id),
    DocumentErased: ({ data }) => erased(data.document_id),
    TenantErased: ({ data }) => {
      known.tenantErasedAt = data.erased_at;
      for (const { accepted: work } of known.works.values())
        if (work != null) known.toErase.add(work.document_id);
      for (const { accepted: batch } of known.batches.values())
        for (const id of batch.document_ids) known.toErase.add(id);
    },
    CreditsTransferredOut: adjusted,
    CreditsAdjusted: adjusted,
    OperationAccepted: ({ data }) => accepted(data),
    TrainingJobCreated: ({ data }) => {
      const work = add({ id: data.job_id, work_id: data.job_id, hold_id: data.hold_id, job: data });
      if (isUncovered(work)) toTell('accepted-unheld', `${work.id} was created without an open hold`);
      acceptedOnce('job', `${data.tenant_id} ${data.fingerprint}`, data.created_at);
    },
    OperationStarted: ({ data }) => started_(data.operation_id, data),
    TrainingJobStarted: ({ data }) => started_(data.job_id, data),
    OperationProgressed: ({ data }) => progressed(data.operation_id, data),
    TrainingJobProgressed: ({ data }) => progressed(data.job_id, data),
    OperationSucceeded: ({ data }) => {
      const work = known.works.get(data.operation_id);
      if (work !== undefined) work.success = data;
      if (work !== undefined && work.leaseId !== data.lease_id)
        say('ended-by-another', `${work.id} was ended by a worker that had lost it`);
      ended(data.operation_id, 'succeeded');
    },
    TrainingJobSucceeded: ({ data }) => {
      if (known.works.get(data.job_id)?.leaseId !== data.lease_id)
        say('ended-by-another', `${data.job_id} was ended by a worker that had lost it`);
      ended(data.job_id, 'succeeded');
    },
    OperationFailed: ({ data }) => {
      // What was never accepted goes after a day: a process that stood still for so long may accept it as it goes.
      // Whoever erases a document asks read models for work on it, and waits for them, but not for ever.
      const work = known.works.get(data.operation_id);
      const isGone = work !== undefined && isErased(work);
      if (data.code === 'document_not_found' && !isGone && sched.nowMs() < 23 * HOUR - skewMs)
        say('input-gone', `what ${data.operation_id} was to work on was gone before it was done`);
      ended(data.operation_id, 'failed', data.code);
    },
    TrainingJobFailed: ({ data }) => ended(data.job_id, 'failed', data.code),
    OperationCancelled: ({ data }) => {
      const work = known.works.get(data.operation_id);
      if (work !== undefined && requesterOf(work)?.kind === 'now' && known.tenantErasedAt === '')
        say('cancelled-by-nobody', `${work.id} is of a caller who asks for it again, and was cancelled`);
      ended(data.operation_id, 'cancelled');
    },
    TrainingJobCancelled: ({ data }) => ended(data.job_id, 'cancelled'),
    ExtractionRequested: ({ data }) => usage(data.extraction_id, 'Requested'),
    ExtractionCompleted: ({ data }) => usage(data.extraction_id, 'Completed'),
    ExtractionFailed: ({ data }) => usage(data.extraction_id, 'Failed'),
    BatchAccepted: ({ data }) => {
      batchAccepted(data);
      batched.accepted(data);
    },
    BatchEnded: ({ data }) => {
      const batch = known.batches.get(data.batch_id);
      if (batch !== undefined) batch.ended = data;
    },
    EvaluationScored: ({ data }) => {
      if (known.scored.has(data.batch_id)) say('scored-twice', `${data.run_id} was scored twice`);
      known.scored.add(data.batch_id);
    },
    SplitRequested: ({ data }) => usage(data.split_id, 'Requested'),
    SplitCompleted: ({ data }) => usage(data.split_id, 'Completed'),
    SplitFailed: ({ data }) => usage(data.split_id, 'Failed'),
    BatchCancelled: ({ data }) => void known.cancelled.add(data.batch_id),
    BudgetReached: ({ stream, data }) => void known.budgetResets.set(tenantIn(stream), data.resets_at),
    WebhookCreated: () => {
      known.webhooks += 1;
      count('webhooks', known.webhooks, WEBHOOKS_MAX);
    },
  });
  const see = (recorded: RecordedEvent): void => {
    const event = recorded as unknown as ProjectedEvent;
    tellGiven(event);
    accounts.see(recorded);
    handle(event);
    people.see(event);
    days.see(event);
    visits.see(event);
  };

  const leftWork = (work: Work): void => {
    if (work.ended === null) say('work-left', `${work.id} has not ended`);
    if (work.ended !== 'succeeded' || work.hold_id === null || work.burns > 0) return;
    if (known.holds.has(work.hold_id))
      toTell('starved', `${work.id} succeeded, its hold is open, and for hours nobody bills it`);
    else toTell('unbilled', `${work.id} succeeded and was never billed`);
  };

  const leftHold = ({ hold_id, operation_id }: Held): void => {
    const work = known.byWork.get(operation_id);
    if (work === undefined) say('hold-left', `the hold ${hold_id} is open and there is no work`);
    else if (work.ended !== null)
      say('hold-left', `the hold ${hold_id} is open and ${work.id} has ended (${work.ended})`);
  };

  const leftLists = ({ operations, jobs }: Lists): void => {
    for (const { id } of [...operations.unsettled('', 50), ...jobs.unsettled('', 50)])
      say('unsettled-for-ever', `${id} is asked for by the reaper again and again`);
  };

  const leftClaims = ({ accounts }: Lists): void => {
    for (const stream of accounts.openClaimsBefore('9999', 50))
      say('claim-left', `${stream} was claimed, and for hours neither booked nor released`);
    if (accounts.openTransfersBefore('9999', 1).length > 0)
      say('transfer-left', 'credits were sent, and did not arrive for hours');
  };

  const isKept = ({ actor, answer }: Told['answers'][number]): boolean => {
    if (actor.kind === 'sale') return known.booked.get(actor.key) === saidBySale(actor);
    if (actor.kind === 'money') return known.adjusted.has(fullKeyOf(actor));
    if (actor.kind === 'later') return known.works.get(answer.id)?.accepted?.fingerprint === printOf(actor);
    return actor.kind !== 'now' || (known.burnsOfCalls.get(fullKeyOf(actor))?.size ?? 0) > 0;
  };

  /** What a caller was told holds, unless an older copy of the log was put back since. */
  const promises = (): void => {
    for (const one of told.answers.filter(({ at }) => at > told.restoredAt)) {
      if (isKept(one) || !isRequest(one.actor)) continue;
      const how = one.answer.replayed === true ? 'acknowledged (replayed)' : 'acknowledged';
      say('ack-lost', `${one.actor.kind} ${one.actor.key} was ${how}, and the log does not have it`);
    }
  };

  /** Of a document that was erased nothing is left but its bill. */
  const nothingErased = async (): Promise<void> => {
    for await (const { key, modified_at } of raw.list('vault/'))
      if (modified_at < known.tenantErasedAt) say('erased-left', `${key} is of an erased tenant`);
    for (const id of known.toErase)
      if (known.registered.has(id) && !known.erased.has(id))
        say('erased-left', `${id} is of an erased tenant`);
    for (const work of known.works.values()) {
      if (!isErased(work)) continue;
      const reviewId = reviewIdOf(work.id);
      for (const folder of [`results/${work.work_id}/`, `operations/${work.id}/`, `reviews/${reviewId}/`])
        for await (const { key } of raw.list(folder)) say('erased-left', `${key} is of an erased document`);
    }
  };

  return {
    see,
    put: (key: string): void => {
      if (!key.startsWith('results/')) return;
      for (const work of known.works.values()) void compared(work);
    },
    reads: spread.reads,
    removed: (key: string): void => {
      visits.removed(key);
      calls.removed(key);
      batched.removed(key);
    },
    entered: visits.entered,
    bytesOf: visits.bytesOf,
    uploaders: visits.uploaders,
    /** A closed month has other figures than its closing states; a process knows wrongly what room a tenant has. */
    closing: (text: string): void => say('closed-month', text),
    room: (text: string): void => say('upload-room', text),
    logPutBack: (): void => {
      known = started();
      accounts = accountsWatch(deps);
      for (const event of shared.events) see(event);
    },
    /**
     * All are well, and a request that is sent again is answered by nobody, or with what passes. What the last attempt
     * of an operation failed with passes no more: that is its answer.
     */
    unanswered: (actor: Wanting, code: string): void => {
      const failedSo = ({ id, accepted }: Work): boolean =>
        accepted?.fingerprint === printOf(actor) &&
        shared.events.some(
          ({ type, data }) =>
            type === 'OperationFailed' && data['operation_id'] === id && data['code'] === code,
        );
      if (actor.kind === 'now' && [...known.works.values()].some(failedSo)) return;
      say('not-answered', `the ${actor.kind} ${actor.key} is sent again, and answered: ${code}`);
    },
    /** What a process says of an account when all are well. */
    standing: (where: string, tenant: string, is: Standing): void => accounts.standing(where, tenant, is),
    tenants: (): readonly string[] => accounts.tenants(),
    due: (tenant: string): Standing => accounts.due(tenant),
    burned: (): number => accounts.burned(),
    /** What is left when all have been well for hours. */
    look: async (lists: Lists): Promise<void> => {
      tellGiven();
      for (const work of known.works.values()) {
        leftWork(work);
        checkCalls(work);
      }
      for (const hold of known.holds.values()) leftHold(hold);
      leftLists(lists);
      leftClaims(lists);
      promises();
      calls.look();
      for (const actor of told.keptNo)
        say('failure-kept', `the ${actor.kind} failed, and its failure was kept for its repeat`);
      await accounts.look();
      messages(deps, lists, say);
      await people.look(lists);
      await batched.look();
      await nothingErased();
      await days.look(lists);
      await visits.look();
      for (const work of known.works.values()) await compared(work);
    },
    say,
    audited: (found: readonly AuditFinding[]): void => {
      for (const { check, message } of found) say('audit', `[${check}] ${message}`);
      if (found.length > 0) return;
      for (const text of known.toTell) say('audit-silent', `the audit is silent, and ${text}`);
    },
  };
};
