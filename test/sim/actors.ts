import type { DisputeStatus } from '../../domain/account/messages.ts';
import { operationIdOfDocument } from '../../domain/batch.ts';
import { documentIdOfOperation } from '../../domain/operation.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { Order, Standing } from './book.ts';
import { tagsWith } from './env.ts';
import type { Told } from './told.ts';
import type { Shared } from './ports.ts';
import { TENANT, type Answer, type SimProcess } from './process.ts';
import { EPOCH_MS, type Owner, type Scheduler } from './scheduler.ts';
import { billedOf, partsIn } from './batches/sortStack.ts';
import { isRequest, type Actor, type Wanting, type World } from './worlds.ts';

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

type Reviewing = Extract<Actor, { kind: 'review' }>;
export type Sent = Extract<Wanting, { kind: 'later' | 'now' }>;

export const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

type Requests = SimProcess['requests'];

/** Sends a request to a process, and waits for its answer; undefined: none came. */
export const send = (
  on: Outside,
  actor: Owner,
  {
    via,
    ask,
    leavesAfterMs,
  }: {
    readonly via: number;
    readonly ask: (requests: Requests, signal: AbortSignal) => Promise<Answer>;
    /** Its caller hangs up by then; left out: a proxy keeps the connection for as long as proxies do. */
    readonly leavesAfterMs?: number | undefined;
  },
): Promise<Answer | undefined> =>
  new Promise((resolve) => {
    const { sched } = on;
    const names = on.world.processes.map(({ name }) => name);
    const running = on.running.get(names[via % names.length]!)!;
    const hear = (answer: Answer | undefined) => sched.later(actor, 1, () => resolve(answer));
    sched.later(actor, leavesAfterMs ?? PATIENCE_MS, () => resolve(undefined));
    if (!running.owner.alive) return;
    const hangUp = new AbortController();
    sched.later(running.owner, leavesAfterMs ?? HUNG_UP_MS, () => hangUp.abort());
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
  'not_ready',
]);

/** Uploads the documents of a batch. */
const uploadsOf = (
  { shared }: Outside,
  { tenant = '', key, documents }: Extract<Actor, { kind: 'batch' }>,
): readonly string[] =>
  documents.flatMap((file, at) =>
    Array.from({ length: file.tag === 'one' ? Math.max(1, file.pages) : 1 }, (_, n) => {
      const id = `doc_${tenant}${key}-${String(at)}-${String(n)}`;
      shared.files.set(`upload ${id}`, bytesOf({ ...file, pages: file.tag === 'one' ? 1 : file.pages }));
      return id;
    }),
  );

/** Whose key it is: another tenant may have the same. */
export const fullKeyOf = ({ tenant = TENANT, key }: Pick<Wanting, 'tenant' | 'key'>): string =>
  `${tenant}:${key}`;

/** What tells one request from another under its key. */
export const printOf = ({ key, print = 'same' }: Pick<Wanting, 'key' | 'print'>): string => `${key} ${print}`;

/** By whose request an event was written; undefined: by nobody's, or not known. */
export const actorOf = (
  { actors }: Pick<World, 'actors'>,
  { metadata }: Pick<RecordedEvent, 'metadata'>,
): Wanting | undefined => {
  const id = metadata['correlation_id'];
  const [, , at = ''] = typeof id === 'string' ? id.split('#') : [];
  const actor = at === '' ? undefined : actors[Number(at)];
  return actor !== undefined && isRequest(actor) ? actor : undefined;
};

/** Names the actor and its try, as `actorOf` reads it. */
const correlationOf = ({ world }: Outside, actor: Wanting, attempt: string): string =>
  `${fullKeyOf(actor)}#${attempt}#${String(world.actors.indexOf(actor))}`;

const isKeyless = (actor: Wanting): boolean => 'keyless' in actor;

const howOf = ({ told }: Outside, actor: Extract<Wanting, { kind: 'later' | 'now' }>) => {
  const { ownKey = false, reviewed = false, doubtful = false, mode = 'standard', apiKey } = actor;
  const document = told.uploads.get(actor)?.document_id;
  const isStack = actor.file.parts !== undefined;
  return { ownKey, reviewed, doubtful, mode, apiKey, document, isStack, keyless: isKeyless(actor) };
};

const measuredOf = (actor: Extract<Wanting, { kind: 'batch' }>) => {
  const { measured = false, waits = false, mode = 'standard' } = actor;
  return { measured, waits, mode };
};

const learningOf = ({ told }: Outside, actor: Extract<Wanting, { kind: 'job' }>) => {
  const { tier, ownKey = null, learnsFrom, tenant } = actor;
  const documents = learnsFrom?.flatMap((key) =>
    [...told.uploads].flatMap(([one, { document_id }]) =>
      one.kind === 'later' && one.key === key && one.tenant === tenant ? [document_id] : [],
    ),
  );
  return { tier, ownKey, documents };
};

/** A job can be asked for once the files that it learns from have names. */
const canAsk = (on: Outside, actor: Wanting): boolean =>
  actor.kind !== 'job' || learningOf(on, actor).documents?.length === actor.learnsFrom?.length;

const requestOf = (on: Outside, actor: Wanting, attempt: number) => {
  const { key, tenant = TENANT } = actor;
  const correlation = correlationOf(on, actor, String(attempt));
  return (requests: Requests, signal: AbortSignal): Promise<Answer> => {
    const asked = { tenant, correlation, key, print: printOf(actor), signal };
    switch (actor.kind) {
      case 'later':
      case 'now': {
        const path = `sent ${key} ${actor.file.tag}`;
        on.shared.files.set(path, bytesOf(actor.file));
        return requests[actor.kind]({ ...asked, path, ...howOf(on, actor) });
      }
      case 'money':
        return actor.sendsTo === undefined
          ? requests.adjust({ ...asked, credits: actor.credits })
          : requests.transfer({ ...asked, credits: actor.credits, to: actor.sendsTo });
      case 'sale':
        return requests.sale({ ...asked, credits: actor.credits, gross: actor.gross, bonus: actor.bonus });
      case 'batch': {
        const documents = uploadsOf(on, actor);
        return requests.batch({ ...asked, documents, ...measuredOf(actor) });
      }
      case 'job':
        return requests.job({ ...asked, ...learningOf(on, actor) });
      case 'webhook':
        return requests.webhook({ ...asked, url: actor.url });
      case 'retention':
        return requests.setRetention({ ...asked, whose: actor.whose, days: actor.days });
    }
  };
};

const changeOfBatch = (
  { tenant = TENANT, erasesTenant, cancelsOne }: Extract<Wanting, { kind: 'batch' }>,
  batch_id: string,
): ((requests: Requests) => Promise<Answer>) => {
  if (erasesTenant === true) return (requests) => requests.eraseTenant(tenant);
  if (cancelsOne !== true) return (requests) => requests.cancelBatch(tenant, batch_id);
  const first = operationIdOfDocument({ batch_id, tenant_id: tenant, index: 0 });
  return (requests) => requests.cancelOperation(tenant, first);
};

const documentOf = ({ told }: Outside, actor: Wanting, operationId: string): string =>
  told.uploads.get(actor)?.document_id ?? documentIdOfOperation(operationId);

/** Tells of the dispute of a sale, and of its fee when it is over. */
const disputeOf =
  (
    on: Outside,
    actor: Extract<Wanting, { kind: 'sale' }>,
    { key, status }: { readonly key: string; readonly status: DisputeStatus },
  ) =>
  (requests: Requests): Promise<Answer> =>
    requests.dispute({ key, status, correlation: correlationOf(on, actor, `dp ${status}`) });

const changeOf = (
  on: Outside,
  actor: Wanting,
  id: string,
): ((requests: Requests) => Promise<Answer>) | undefined => {
  const { tenant = TENANT } = actor;
  switch (actor.kind) {
    case 'later':
      if (actor.erasesTenant === true) return (requests) => requests.eraseTenant(tenant);
      return actor.eraseAfterMs === undefined
        ? (requests) => requests.cancelOperation(tenant, id)
        : (requests) => requests.eraseDocument(tenant, documentOf(on, actor, id));
    case 'batch':
      return changeOfBatch(actor, id);
    case 'job':
      return (requests) => requests.cancelJob(tenant, id);
    case 'sale':
      if (actor.disputeEnds !== undefined) return disputeOf(on, actor, { key: id, status: 'opened' });
      return (requests) =>
        requests.refund(tenant, {
          key: id,
          credits: Math.floor(actor.credits / 2),
          correlation: correlationOf(on, actor, 're'),
        });
    case 'webhook':
      return (requests) => requests.changeWebhook(tenant, { id, url: `${actor.url}/new` });
    default:
      return undefined;
  }
};

const hear = ({ told, sched }: Outside, actor: Wanting, answer: Answer | undefined): void => {
  if (answer?.kind === 'ok') told.answers.push({ actor, answer, at: sched.nowMs() });
  if (answer?.kind === 'problem' && answer.replayed === true) told.keptNo.push(actor);
};

/** Sends until it is answered for good. */
export const insist = async (on: Outside, owner: Owner, actor: Wanting): Promise<Answer | undefined> => {
  let answer: Answer | undefined;
  for (let attempt = 0; attempt < (isKeyless(actor) ? 1 : actor.tries); attempt += 1) {
    // Whoever left asks again in earnest.
    const leavesAfterMs = 'leavesAfterMs' in actor && attempt === 0 ? actor.leavesAfterMs : undefined;
    const ask = requestOf(on, actor, attempt);
    answer = await send(on, owner, { via: actor.via + attempt, ask, leavesAfterMs });
    hear(on, actor, answer);
    if (answer !== undefined && !(answer.kind === 'problem' && PASSING.has(answer.code))) {
      if (answer.kind === 'problem') on.told.refused.push(actor);
      return answer;
    }
    await on.sched.sleep(1_000);
  }
  return answer;
};

export const isSentBefore = (actor: Wanting): actor is Sent =>
  actor.kind === 'later' && actor.uploaded !== undefined;

/** Sends once more, when all are well. Gives what is wrong with the answer; undefined: nothing. */
export const askAgain = async (on: Outside, owner: Owner, actor: Wanting): Promise<string | undefined> => {
  if ((isSentBefore(actor) && !on.told.uploads.has(actor)) || !canAsk(on, actor)) return undefined;
  // Without a key that is another request.
  if (isKeyless(actor)) return undefined;
  const { tries, via } = actor;
  const answer = await send(on, owner, { via: via + tries, ask: requestOf(on, actor, tries) });
  hear(on, actor, answer);
  if (answer === undefined) return 'nothing';
  return answer.kind === 'problem' && PASSING.has(answer.code) ? answer.code : undefined;
};

/** What a process says of an account; undefined: it does not answer. */
export const standingOf = async (
  on: Outside,
  owner: Owner,
  { via, tenant }: { readonly via: number; readonly tenant: string },
): Promise<Standing | undefined> => {
  const answer = await send(on, owner, { via, ask: (requests) => requests.standing(tenant) });
  return answer?.kind === 'ok' ? (answer.body as Standing) : undefined;
};

/** Of so many examples is each job that is asked for here. */
const EXAMPLES = 2;

const documentOrder = (actor: Extract<Wanting, { kind: 'later' | 'now' | 'batch' }>): Order => {
  const { mode = 'standard', doubtful = false } = actor;
  const named = {
    kind: 'document',
    mode,
    tags: tagsWith(printOf(actor)),
    keyless: isKeyless(actor),
  } as const;
  if (actor.kind !== 'batch' && actor.file.parts !== undefined)
    return { ...named, ownKey: false, files: billedOf(actor.file) };
  if (actor.kind !== 'batch')
    // Who asks a model for what is doubtful alone has the rest from the service.
    return { ...named, ownKey: actor.ownKey === true && !doubtful, files: [actor.file] };
  const files = actor.documents.map((one) => (one.tag === 'one' ? { ...one, pages: 1 } : one));
  return { ...named, ownKey: false, waits: actor.waits === true, files };
};

/** What a sale says. */
export const saidBySale = (actor: Actor | undefined): string | undefined =>
  actor?.kind === 'sale'
    ? `${fullKeyOf(actor)} ${actor.gross === undefined ? `${String(actor.credits)} credits` : String(actor.gross)}`
    : undefined;

const moneyOrder = ({ credits, sendsTo: to }: Extract<Wanting, { kind: 'money' }>): Order =>
  to === undefined ? { kind: 'adjustment', credits } : { kind: 'transfer', credits, to };

/** What is owed for what an actor wants; undefined: nothing. */
export const orderOf = (actor: Wanting): Order | undefined => {
  switch (actor.kind) {
    case 'later':
    case 'now':
    case 'batch':
      return documentOrder(actor);
    case 'job':
      return {
        kind: 'job',
        tier: actor.tier,
        ownKey: actor.ownKey !== undefined,
        examples: EXAMPLES,
        tags: tagsWith(printOf(actor)),
      };
    case 'sale':
      return {
        kind: 'sale',
        credits: actor.credits,
        gross: actor.gross,
        bonus: actor.bonus ?? 0,
        askedAt: EPOCH_MS + actor.at,
      };
    case 'money':
      return moneyOrder(actor);
    case 'webhook':
    case 'retention':
      return undefined;
  }
};

const changesAfterMs = (actor: Wanting): number | undefined => {
  if (actor.kind === 'webhook') return actor.changeAfterMs;
  return actor.kind === 'sale' ? actor.refundAfterMs : (actor.eraseAfterMs ?? actor.cancelAfterMs);
};

/** Changes what was accepted, a while later. */
export const change = async (
  on: Outside,
  owner: Owner,
  { actor, id }: { readonly actor: Wanting; readonly id: string },
) => {
  const waitMs = changesAfterMs(actor);
  const ask = changeOf(on, actor, id);
  if (waitMs === undefined || ask === undefined) return;
  await on.sched.sleep(waitMs);
  for (let attempt = 0; attempt < actor.tries; attempt += 1) {
    const done = await send(on, owner, { via: actor.via + attempt, ask });
    if (done?.kind === 'ok') {
      if (actor.kind === 'sale') await undo(on, owner, { actor, key: id, refund_id: done.id });
      return;
    }
    await on.sched.sleep(1_000);
  }
};

/** Undoes the refund of a sale, a while later: it failed. A dispute ends. */
const undo = async (
  on: Outside,
  owner: Owner,
  of: {
    readonly actor: Extract<Wanting, { kind: 'sale' }>;
    readonly key: string;
    readonly refund_id: string;
  },
): Promise<void> => {
  const { actor, key, refund_id } = of;
  if (actor.reverseAfterMs === undefined) return;
  await on.sched.sleep(actor.reverseAfterMs);
  const correlation = correlationOf(on, actor, 'un');
  const reversed = (requests: Requests) =>
    requests.reverse(actor.tenant ?? TENANT, { key, refund_id, correlation });
  const { disputeEnds: status } = actor;
  const ask = status === undefined ? reversed : disputeOf(on, actor, { key, status });
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

/** What somebody looks at, with the documents of a stack as they see them; undefined: it was not accepted. */
const seenBy = ({ told }: Outside, { key, tenant, joins }: Reviewing) => {
  const found = told.answers.find(
    ({ actor }) => actor.kind === 'later' && actor.key === key && actor.tenant === tenant,
  );
  if (found?.actor.kind !== 'later') return undefined;
  const { file } = found.actor;
  const parts =
    file.parts && partsIn(file, joins).map(({ pages, ...part }) => ({ ...part, pages: [...pages] }));
  return { operation_id: found.answer.id, parts };
};

/** Looks at a document, says what it says, and doubts it a while later. */
export const lookAt = async (on: Outside, owner: Owner, actor: Reviewing): Promise<void> => {
  const { by, leases, leaves = false, rejects = false, reopenAfterMs } = actor;
  const seen = seenBy(on, actor);
  if (seen === undefined) return;
  const { operation_id, parts } = seen;
  const asked = { operation_id, by };
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
    ask: (requests) => requests.decideReview({ ...asked, says, parts }),
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
  if (!canAsk(on, actor)) return;
  const answer = await insist(on, owner, actor);
  if (answer?.kind === 'ok') await change(on, owner, { actor, id: answer.id });
  if (actor.kind !== 'money' || actor.resendAt === undefined) return;
  await on.sched.sleep(actor.resendAt - on.sched.nowMs());
  await insist(on, owner, actor);
};
