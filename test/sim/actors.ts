import { documentIdOfOperation } from '../../domain/operation.ts';
import type { Told } from './told.ts';
import type { Shared } from './ports.ts';
import type { Answer, SimProcess } from './process.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import type { Actor, World } from './worlds.ts';

/** A caller gives up waiting, ms. */
const PATIENCE_MS = 30_000;
/** By then no proxy keeps its connection open any more: a process that wakes up hears that it is gone. */
const HUNG_UP_MS = 3_600_000;

/** A process as it is now: its lives follow one another. */
export interface Running {
  readonly owner: Owner;
  readonly parts: SimProcess;
  readonly lives: number;
}

/** What actors see of a world. */
export interface Outside {
  readonly world: World;
  readonly sched: Scheduler;
  readonly shared: Shared;
  readonly told: Told;
  /** By the name of the process. */
  readonly running: ReadonlyMap<string, Running>;
}

/** An actor that sends requests. */
type Wanting = Exclude<Actor, { kind: 'restore' | 'review' }>;
type Reviewing = Extract<Actor, { kind: 'review' }>;

export const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

type Requests = SimProcess['requests'];

/** Sends a request to a process, and waits for its answer; undefined: none came. */
const send = (
  on: Outside,
  actor: Owner,
  {
    via,
    ask,
  }: { readonly via: number; readonly ask: (requests: Requests, signal: AbortSignal) => Promise<Answer> },
): Promise<Answer | undefined> =>
  new Promise((resolve) => {
    const { sched } = on;
    const names = on.world.processes.map(({ name }) => name);
    const running = on.running.get(names[via % names.length]!)!;
    const hear = (answer: Answer | undefined) => sched.later(actor, 1, () => resolve(answer));
    sched.later(actor, PATIENCE_MS, () => resolve(undefined));
    if (!running.owner.alive) return;
    const hangUp = new AbortController();
    sched.later(running.owner, HUNG_UP_MS, () => hangUp.abort());
    sched.later(running.owner, 1, () => {
      ask(running.parts.requests, hangUp.signal).then(hear, () => hear({ kind: 'problem', code: 'thrown' }));
    });
  });

/** Problems after which a caller sends the same again. */
const PASSING: ReadonlySet<string> = new Set([
  'busy',
  'thrown',
  'storage_error',
  'request_in_progress',
  'internal_error',
]);

/** Uploads the documents of a batch. */
const uploadsOf = (
  { shared }: Outside,
  { key, documents }: Extract<Actor, { kind: 'batch' }>,
): readonly string[] =>
  documents.flatMap((file, at) =>
    Array.from({ length: file.tag === 'one' ? Math.max(1, file.pages) : 1 }, (_, n) => {
      const id = `doc_${key}-${String(at)}-${String(n)}`;
      shared.files.set(`upload ${id}`, bytesOf({ ...file, pages: file.tag === 'one' ? 1 : file.pages }));
      return id;
    }),
  );

const requestOf = (on: Outside, actor: Wanting, attempt: number) => {
  const { key, print = 'same' } = actor;
  return (requests: Requests, signal: AbortSignal): Promise<Answer> => {
    const asked = { key, print: `${key} ${print}`, attempt, signal };
    switch (actor.kind) {
      case 'later':
      case 'now': {
        const path = `sent ${key} ${actor.file.tag}`;
        on.shared.files.set(path, bytesOf(actor.file));
        const how = { ownKey: actor.ownKey === true, reviewed: actor.reviewed === true };
        return requests[actor.kind]({ ...asked, path, ...how });
      }
      case 'money':
        return requests.adjust({ ...asked, credits: actor.credits });
      case 'sale':
        return requests.sale({ ...asked, credits: actor.credits });
      case 'batch': {
        const documents = uploadsOf(on, actor);
        return requests.batch({ ...asked, documents, measured: actor.measured === true });
      }
      case 'job':
        return requests.job({ ...asked, tier: actor.tier, ownKey: actor.ownKey ?? null });
      case 'webhook':
        return requests.webhook({ ...asked, url: actor.url });
      case 'retention':
        return requests.setRetention({ ...asked, tenant: actor.tenant, days: actor.days });
    }
  };
};

const changeOf = (actor: Actor, id: string): ((requests: Requests) => Promise<Answer>) | undefined => {
  switch (actor.kind) {
    case 'later':
      if (actor.erasesTenant === true) return (requests) => requests.eraseTenant();
      return actor.eraseAfterMs === undefined
        ? (requests) => requests.cancelOperation(id)
        : (requests) => requests.eraseDocument(documentIdOfOperation(id));
    case 'batch':
      if (actor.erasesTenant === true) return (requests) => requests.eraseTenant();
      return (requests) => requests.cancelBatch(id);
    case 'job':
      return (requests) => requests.cancelJob(id);
    case 'sale':
      return (requests) => requests.refund(id, actor.credits / 2);
    case 'webhook':
      return (requests) => requests.changeWebhook({ id, url: `${actor.url}/new` });
    default:
      return undefined;
  }
};

/** Sends until it is answered for good. */
const insist = async (on: Outside, owner: Owner, actor: Wanting): Promise<Answer | undefined> => {
  let answer: Answer | undefined;
  for (let attempt = 0; attempt < actor.tries; attempt += 1) {
    answer = await send(on, owner, { via: actor.via + attempt, ask: requestOf(on, actor, attempt) });
    if (answer?.kind === 'ok') on.told.answers.push({ actor, answer, at: on.sched.nowMs() });
    if (answer !== undefined && !(answer.kind === 'problem' && PASSING.has(answer.code))) {
      if (answer.kind === 'problem') on.told.refused.push(actor);
      return answer;
    }
    await on.sched.sleep(1_000);
  }
  return answer;
};

/** Sends once more, when all are well. Gives what is wrong with the answer; undefined: nothing. */
export const askAgain = async (on: Outside, owner: Owner, actor: Wanting): Promise<string | undefined> => {
  const { tries, via } = actor;
  const answer = await send(on, owner, { via: via + tries, ask: requestOf(on, actor, tries) });
  if (answer?.kind === 'ok') on.told.answers.push({ actor, answer, at: on.sched.nowMs() });
  if (answer === undefined) return 'nothing';
  return answer.kind === 'problem' && PASSING.has(answer.code) ? answer.code : undefined;
};

const changesAfterMs = (actor: Wanting): number | undefined => {
  if (actor.kind === 'webhook') return actor.changeAfterMs;
  return actor.kind === 'sale' ? actor.refundAfterMs : (actor.eraseAfterMs ?? actor.cancelAfterMs);
};

/** Changes what was accepted, a while later. */
const change = async (
  on: Outside,
  owner: Owner,
  { actor, id }: { readonly actor: Wanting; readonly id: string },
) => {
  const waitMs = changesAfterMs(actor);
  const ask = changeOf(actor, id);
  if (waitMs === undefined || ask === undefined) return;
  await on.sched.sleep(waitMs);
  for (let attempt = 0; attempt < actor.tries; attempt += 1) {
    const done = await send(on, owner, { via: actor.via + attempt, ask });
    if (done?.kind === 'ok') return;
    await on.sched.sleep(1_000);
  }
};

/** Problems that are none of another try. */
const LASTING: ReadonlySet<string> = new Set(['review_decided', 'review_expired']);

/** Asks until it is done, or cannot be done any more; undefined: it is not done. */
const persist = async (
  on: Outside,
  owner: Owner,
  { actor, ask }: { readonly actor: Reviewing; readonly ask: (requests: Requests) => Promise<Answer> },
): Promise<Extract<Answer, { kind: 'ok' }> | undefined> => {
  for (let attempt = 0; attempt < actor.tries; attempt += 1) {
    const answer = await send(on, owner, { via: actor.via + attempt, ask });
    if (answer?.kind === 'ok') return answer;
    if (answer !== undefined && LASTING.has(answer.code)) return undefined;
    await on.sched.sleep(20_000);
  }
  return undefined;
};

/** Looks at a document, says what it says, and doubts it a while later. */
export const lookAt = async (on: Outside, owner: Owner, actor: Reviewing): Promise<void> => {
  const { key, by, leases, leaves = false, rejects = false, reopenAfterMs } = actor;
  const found = on.told.answers.find((one) => one.actor.kind === 'later' && one.actor.key === key);
  if (found === undefined) return;
  const asked = { operation_id: found.answer.id, by };
  if (leases) {
    const leased = await persist(on, owner, { actor, ask: (requests) => requests.leaseReview(asked) });
    if (leased === undefined) return;
    await on.sched.sleep(5_000);
    if (leaves) {
      await persist(on, owner, { actor, ask: (requests) => requests.releaseReview(asked) });
      return;
    }
  }
  if (rejects) {
    await persist(on, owner, { actor, ask: (requests) => requests.rejectReview(asked) });
    return;
  }
  const says = `what ${by} says`;
  const decided = await persist(on, owner, {
    actor,
    ask: (requests) => requests.decideReview({ ...asked, says }),
  });
  if (decided === undefined) return;
  on.told.decided.push({
    review_id: decided.id,
    generation: Number(decided.body),
    says,
    at: on.sched.nowMs(),
  });
  if (reopenAfterMs === undefined) return;
  await on.sched.sleep(reopenAfterMs);
  await persist(on, owner, { actor, ask: (requests) => requests.reopenReview(asked) });
};

/** Does what an actor wants, from its first request to its last. */
export const act = async (on: Outside, owner: Owner, actor: Wanting): Promise<void> => {
  const answer = await insist(on, owner, actor);
  if (answer?.kind === 'ok') await change(on, owner, { actor, id: answer.id });
  if (actor.kind !== 'money' || actor.resendAt === undefined) return;
  await on.sched.sleep(actor.resendAt - on.sched.nowMs());
  await insist(on, owner, actor);
};
