import { aesSecretBox } from '../../adapters/local/local.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import { moveTexts } from '../../src/operator/moveTexts.ts';
import { textMover } from '../../src/writer/vault.ts';
import { bytesOf, change, fullKeyOf, insist, type Outside, printOf, send, type Sent } from './actors.ts';
import { copyTheLog } from './logCopies.ts';
import { logOf, objectsOf } from './ports.ts';
import { type Answer, type SimProcess, TENANT } from './process.ts';
import type { Owner } from './scheduler.ts';
import type { Actor } from './worlds.ts';

type Requests = SimProcess['requests'];
type Of<Kind extends Actor['kind']> = Extract<Actor, { readonly kind: Kind }>;
type Visitor = Pick<Of<'key'>, 'via' | 'tries'>;

/** Problems that another try does not have. */
const FOREVER: ReadonlySet<string> = new Set([
  'version_conflict',
  'document_not_found',
  'tenant_mismatch',
  'upload_quota_exceeded',
  'month_not_reopenable',
  'key_not_found',
  'file_too_large',
  'set_not_found',
  'config_not_found',
  'artifact_not_found',
]);

/** Asks until it is done, or cannot be done any more. */
const until = async (
  on: Outside,
  owner: Owner,
  { via, tries, ask }: Visitor & { readonly ask: (requests: Requests) => Promise<Answer> },
): Promise<Extract<Answer, { kind: 'ok' }> | undefined> => {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const answer = await send(on, owner, { via: via + attempt, ask });
    if (answer?.kind === 'ok') return answer;
    if (answer !== undefined && FOREVER.has(answer.code)) return undefined;
    await on.sched.sleep(2_000);
  }
  return undefined;
};

const askedBy = ({
  tenant = TENANT,
  key,
  ...rest
}: Parameters<typeof printOf>[0] & { readonly tenant?: string }) => ({
  tenant,
  key,
  print: printOf({ key, ...rest }),
  correlation: `${fullKeyOf({ tenant, key })}#v`,
  signal: new AbortController().signal,
});

/** Has a file taken before it is used; undefined: it was not. */
const sendFile = async (
  on: Outside,
  owner: Owner,
  actor: Of<'later' | 'now'>,
): Promise<string | undefined> => {
  const bytes = bytesOf(actor.file);
  const path = `kept by ${fullKeyOf(actor)}`;
  on.shared.files.set(path, bytes);
  const size = bytes.byteLength;
  const asked = { ...askedBy(actor), key: `file of ${actor.key}`, file_name: actor.file.tag, bytes: size };
  const grant = await until(on, owner, { ...actor, ask: (requests) => requests.presign(asked) });
  if (grant === undefined) return undefined;
  const upload = { document_id: grant.id, sentAt: Infinity };
  on.told.uploads.set(actor, upload);
  const put = (requests: Requests) => requests.sendFile(String(grant.body), { path, bytes: size });
  if ((await until(on, owner, { ...actor, ask: put })) !== undefined) upload.sentAt = on.sched.nowMs();
  return upload.sentAt === Infinity ? undefined : grant.id;
};

/** Takes a file back that was sent. */
const removeFile = (on: Outside, owner: Owner, actor: Of<'later' | 'now'>): Promise<unknown> => {
  const { tenant = TENANT } = actor;
  const { document_id = '' } = on.told.uploads.get(actor) ?? {};
  return until(on, owner, { ...actor, ask: (requests) => requests.removeUpload(tenant, document_id) });
};

/** Has a key made, and has it revoked a while later. */
const holdKey = async (on: Outside, owner: Owner, actor: Of<'key'>): Promise<void> => {
  const asked = askedBy(actor);
  const made = await until(on, owner, { ...actor, ask: (requests) => requests.issueKey(asked) });
  if (made === undefined) return;
  await on.sched.sleep(actor.revokedAfterMs);
  const done = await until(on, owner, { ...actor, ask: (requests) => requests.revokeKey(made.id) });
  if (done !== undefined) on.told.revoked.push({ key_id: made.id, at: on.sched.nowMs() });
};

const keptBy = (
  asked: ReturnType<typeof askedBy>,
  { what }: Pick<Of<'keep'>, 'what'>,
  id?: string,
): ((requests: Requests) => Promise<Answer>) => {
  // Another attempt at a change has another key, as somebody who pastes it anew.
  const apiKey = `sk of ${asked.key} ${id === undefined ? 'at first' : 'since'}`;
  if (what === 'config') return (requests) => requests.keepConfig({ ...asked, id, apiKey });
  return (requests) => requests.keepSet({ ...asked, id, total: id === undefined ? 1 : 2 });
};

/** Keeps a set or a saved config for a while. */
const keep = async (on: Outside, owner: Owner, actor: Of<'keep'>): Promise<void> => {
  const { what, tenant = TENANT, changedAfterMs, removedAfterMs } = actor;
  const asked = askedBy(actor);
  const made = await until(on, owner, { ...actor, ask: keptBy(asked, actor) });
  if (made === undefined) return;
  on.told.configKeys.set(made.id, new Set([`sk of ${asked.key} at first`, `sk of ${asked.key} since`]));
  if (changedAfterMs !== undefined) {
    await on.sched.sleep(changedAfterMs);
    await until(on, owner, { ...actor, via: actor.via + 1, ask: keptBy(asked, actor, made.id) });
  }
  if (removedAfterMs === undefined) return;
  await on.sched.sleep(removedAfterMs);
  const takeAway = (requests: Requests) =>
    what === 'config' ? requests.removeConfig(tenant, made.id) : requests.removeSet(tenant, made.id);
  const done = await until(on, owner, { ...actor, via: actor.via + 2, ask: takeAway });
  if (done !== undefined) on.told.removed.push({ kind: what, id: made.id });
};

/** Closes the first month, and opens it again where that is wanted. */
const closeMonth = async (on: Outside, owner: Owner, actor: Of<'close'>): Promise<void> => {
  const closed = await until(on, owner, { ...actor, ask: (requests) => requests.closeMonth() });
  if (closed === undefined || actor.reopenAfterMs === undefined) return;
  await on.sched.sleep(actor.reopenAfterMs);
  await until(on, owner, { ...actor, via: actor.via + 1, ask: (requests) => requests.reopenMonth() });
};

/** Has what a job learned serve, once it has learned something. */
const deploy = async (on: Outside, owner: Owner, actor: Of<'deploy'>): Promise<void> => {
  const { tenant = TENANT, key } = actor;
  const job = on.told.answers.find(
    (one) => one.actor.kind === 'job' && one.actor.key === key && one.actor.tenant === actor.tenant,
  );
  if (job !== undefined)
    await until(on, owner, { ...actor, ask: (requests) => requests.deploy(tenant, job.answer.id) });
};

/** Asks for more than there may be, again and again. */
const rush = async (on: Outside, owner: Owner, actor: Of<'rush'>): Promise<void> => {
  const { tenant = TENANT, via, times, everyMs } = actor;
  for (let n = 0; n < times; n += 1) {
    const answer = await send(on, owner, { via: via + n, ask: (requests) => requests.rush(tenant) });
    if (answer?.kind === 'ok') on.told.rushed.push({ tenant, at: Number(answer.body), waitMs: null });
    const [, waitMs] = answer?.kind === 'problem' ? answer.code.split(' ') : [];
    if (waitMs !== undefined) on.told.rushed.push({ tenant, at: on.sched.nowMs(), waitMs: Number(waitMs) });
    await on.sched.sleep(everyMs);
  }
};

const moved = async ({ sched, shared }: Outside): Promise<void> => {
  const random = (bytes: number) => Buffer.from(sha256(sched.uuid()), 'hex').subarray(0, bytes);
  const objects = objectsOf(shared, sched);
  const nowMs = () => Date.now();
  const move = await textMover({ objects, box: undefined, boxOf: aesSecretBox, nowMs, random });
  await moveTexts({
    log: logOf(shared, sched.call),
    move,
    now: () => new Date(Date.now()).toISOString(),
    snapshots: { load: () => Promise.resolve(undefined), save: () => Promise.resolve() } as never,
    signal: new AbortController().signal,
  });
};

/** An operator moves texts of old events, and begins again where something stopped it. */
const moveOldTexts = async (on: Outside, actor: Of<'move'>): Promise<void> => {
  for (let attempt = 0; attempt < actor.tries; attempt += 1) {
    const mover = on.sched.newOwner(`mover ${String(actor.at)}.${String(attempt)}`);
    const isDone = await new Promise<boolean>((resolve) => {
      on.sched.later(
        mover,
        1,
        () =>
          void moved(on).then(
            () => resolve(true),
            () => resolve(false),
          ),
      );
      // Whoever is killed says nothing.
      on.sched.later(undefined, 10 * 60_000, () => resolve(false));
    });
    if (isDone) return;
  }
};

/** Whoever comes with something that no account has to know of. */
type Visitors = Of<'key' | 'rush' | 'move' | 'copy' | 'keep' | 'deploy' | 'close'>;

export const isVisitor = (actor: Actor): actor is Visitors =>
  ['key', 'rush', 'move', 'copy', 'keep', 'deploy', 'close'].includes(actor.kind);

/** Does what a visitor wants, from its first request to its last. */
export const visit = (on: Outside, owner: Owner, actor: Visitors): Promise<void> => {
  switch (actor.kind) {
    case 'key':
      return holdKey(on, owner, actor);
    case 'rush':
      return rush(on, owner, actor);
    case 'move':
      return moveOldTexts(on, actor);
    case 'copy':
      return copyTheLog(on, actor);
    case 'keep':
      return keep(on, owner, actor);
    case 'deploy':
      return deploy(on, owner, actor);
    case 'close':
      return closeMonth(on, owner, actor);
  }
};

/** Sends a file, and uses it a while later; where that was so arranged, it is taken back after that. */
export const actOnSent = async (on: Outside, owner: Owner, actor: Sent): Promise<void> => {
  if ((await sendFile(on, owner, actor)) === undefined) return;
  const { usedAfterMs = 0, removedAfterMs } = actor.uploaded ?? {};
  await on.sched.sleep(usedAfterMs);
  const answer = await insist(on, owner, actor);
  if (answer?.kind === 'ok') await change(on, owner, { actor, id: answer.id });
  if (removedAfterMs === undefined) return;
  await on.sched.sleep(removedAfterMs);
  await removeFile(on, owner, actor);
};
