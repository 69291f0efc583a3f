import { evolve, NEW_ACCOUNT, type AccountState } from '../../domain/account/state.ts';
import { tokenParts, tokensIn } from '../../domain/writtenText.ts';
import { artifactKeyOf, type ArtifactPublished } from '../../domain/deployment.ts';
import type { RecordedEvent } from '../../domain/ports/log.ts';
import type { ProjectedEvent } from '../../projections/engine/ports.ts';
import { resultKeyOf, type StoredResult } from '../../src/commands/storedResult.ts';
import { accountCodec } from '../../src/writer/accountWriter.ts';
import { asideKeyOf } from '../../src/writer/setAside.ts';
import { actorOf, orderOf } from './actors.ts';
import { openBook, type Reading, type Standing } from './book.ts';
import { budgetBook } from './budgetBook.ts';
import { TENANT } from './process.ts';
import type { WatchDeps } from './told.ts';
import { skewOf } from './worlds.ts';

/** A price is read again after a second; a clock that is right is so to the second. */
const READ_AGAIN_MS = 5_000;

const standingIn = ({ balance, held, free_pages_used, free_pages_held }: AccountState): Standing => ({
  ...{ balance, held, freeUsed: free_pages_used, freeHeld: free_pages_held },
});

/** Holds the book against the service, event by event: its own state of each account, its answers, its bills. */
export const accountsWatch = ({ world, sched, shared, raw, told, find, isFormer }: WatchDeps) => {
  const say = (id: string, text: string): void => find({ id, text, at: sched.nowMs(), step: sched.steps() });
  const book = openBook({
    slackMs: skewOf(world) + READ_AGAIN_MS,
    say,
    orderOf: (entry) => {
      const actor = actorOf(world, entry as unknown as RecordedEvent);
      const order = actor && orderOf(actor);
      return order && { tenant: actor.tenant ?? TENANT, order };
    },
    readingOf: (operationId, digest) => {
      const stored = shared.objects.get(resultKeyOf(operationId, digest));
      if (stored === undefined) return undefined;
      const { body } = JSON.parse(new TextDecoder().decode(stored.bytes)) as StoredResult;
      return body['result'] as unknown as Reading;
    },
  });
  const states = new Map<string, AccountState>();
  const budgets = new Map<string, ReturnType<typeof budgetBook>>();
  let anyErased = false;
  const jobs = new Map<string, string | null>();
  const learned: ArtifactPublished['data'][] = [];

  const isThere = (token: string): boolean => {
    const { tenant = '', scope = '', text = '' } = tokenParts(token) ?? {};
    const key = `vault/${tenant}/${scope}/${text}`;
    return shared.objects.has(key) || shared.objects.has(asideKeyOf(key));
  };
  /** A text is there before the event that refers to it. */
  const texts = ({ type, data }: RecordedEvent): void => {
    if (type === 'TenantErased' || type === 'DocumentErased') anyErased = true;
    if (anyErased) return;
    for (const token of tokensIn(JSON.stringify(data)))
      if (!isThere(token)) say('text-lost', `the text of a ${type} is not there`);
  };

  /** Whoever was answered was billed, as the answer says, and for the file that was sent. */
  const answers = (): void => {
    for (const { actor, answer, at } of told.answers) {
      if (actor.kind !== 'now' || at <= told.restoredAt) continue;
      const [paid, { tag, pages }] = [book.paidFor(answer.id), answer.body as Reading];
      const what = `the call with the key ${actor.key}`;
      if (paid === undefined) {
        say('delivered-unbilled', `${what} was answered by ${answer.id}, for which nobody paid`);
        continue;
      }
      if (tag !== actor.file.tag || pages !== actor.file.pages || paid.pages !== actor.file.pages)
        say('wrong-file', `${what} sent ${JSON.stringify(actor.file)} and was answered ${tag}`);
      if (answer.cost !== undefined && answer.cost.credits_used !== paid.credits)
        say(
          'cost',
          `${what} was told ${String(answer.cost.credits_used)} credits, not ${String(paid.credits)}`,
        );
    }
  };

  const pipelines = (recorded: RecordedEvent): void => {
    const event = recorded as unknown as ProjectedEvent;
    if (event.type === 'ArtifactPublished') learned.push(event.data);
    const actor = event.type === 'TrainingJobCreated' ? actorOf(world, event) : undefined;
    if (event.type === 'TrainingJobCreated' && actor?.kind === 'job')
      jobs.set(event.data.job_id, actor.ownKey ?? null);
  };
  /** A job learned with the key of the request that created it. */
  const keyOf = async ({ job_id, sha256 }: ArtifactPublished['data']): Promise<void> => {
    const bytes = await raw.get(artifactKeyOf(sha256));
    if (bytes === undefined || !jobs.has(job_id)) return;
    const { key } = JSON.parse(new TextDecoder().decode(bytes)) as { readonly key: string | null };
    if (key !== jobs.get(job_id)) say('wrong-key', `${job_id} ran with the key of another request`);
  };

  return {
    see: (event: RecordedEvent): void => {
      texts(event);
      pipelines(event);
      // The book has the orders that callers of this world gave; the money of others the audit alone judges.
      if (isFormer) return;
      const tenant = book.see(event);
      if (tenant === undefined) return;
      const state = evolve(states.get(tenant) ?? NEW_ACCOUNT, accountCodec.decode(event));
      states.set(tenant, state);
      const spent = budgets.get(tenant) ?? budgetBook(say);
      budgets.set(tenant, spent);
      spent.see(event);
      book.compare('as the log has it', tenant, standingIn(state));
    },
    tenants: book.tenants,
    due: book.standing,
    burned: book.burned,
    standing: (where: string, tenant: string, is: Standing): void => book.compare(where, tenant, is),
    look: async (): Promise<void> => {
      answers();
      for (const one of learned) await keyOf(one);
    },
  };
};
