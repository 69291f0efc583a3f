import { evolve, NEW_ACCOUNT, type AccountState } from '../../domain/account/state.ts';
import { decodeAny } from '../../domain/catalogue.ts';
import { auditedEvent } from '../../src/audit/auditedEvent.ts';
import { usageStatsRows } from '../../src/audit/expectedUsage.ts';
import { tokenParts, tokensIn } from '../../domain/eventLog/writtenText.ts';
import { artifactKeyOf, type ArtifactPublished } from '../../domain/deployment.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { ProjectedEvent } from '../../projections/engine/ports.ts';
import { resultKeyOf, type StoredResult } from '../../src/commands/storedResult.ts';
import { accountCodec } from '../../src/writer/accountWriter.ts';
import { asideKeyOf } from '../../src/writer/setAside.ts';
import { actorOf, orderOf } from './actors.ts';
import { openBook, type Reading, type Standing } from './book.ts';
import { TENANT } from './process.ts';
import { readingIn } from './batches/sortStack.ts';
import { EPOCH_MS } from './scheduler.ts';
import type { WatchDeps } from './told.ts';
import { skewOf } from './worlds.ts';

const DAY_MS = 24 * 3_600_000;

/** A price is read again after a second; a clock that is right is so to the second. */
const READ_AGAIN_MS = 5_000;

const standingIn = ({ balance, held, free_pages_used, free_pages_held }: AccountState): Standing => ({
  balance,
  held,
  freeUsed: free_pages_used,
  freeHeld: free_pages_held,
});

/** Credits by tenant and tag, by the rows of usage by quarters that the log makes. */
const usageByTag = () => {
  const rows: Readonly<Record<string, unknown>>[] = [];
  const fold = usageStatsRows.start((table, row) => {
    if (table.name === 'usage_quarters') rows.push(row);
  }, new Set());
  return {
    see: (event: RecordedEvent): void => {
      if (event.type === 'CreditsBurned') fold.apply(auditedEvent(event, decodeAny(event)));
    },
    sums: (): ReadonlyMap<string, number> => {
      rows.length = 0;
      fold.finish();
      const sums = new Map<string, number>();
      for (const { tenant_id, tags, credits } of rows)
        for (const [name, value] of Object.entries((tags ?? {}) as Readonly<Record<string, string>>)) {
          const of = `${String(tenant_id)} ${name}:${value}`;
          sums.set(of, (sums.get(of) ?? 0) + Number(credits));
        }
      return sums;
    },
  };
};

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
      return readingIn(body) as unknown as Reading;
    },
  });
  const states = new Map<string, AccountState>();
  const budgets = new Map<string, ReturnType<typeof budgetBook>>();
  /** Rows of the service's own usage by tags, as the auditor makes them. */
  const usage = usageByTag();
  let anyErased = false;
  const jobs = new Map<string, string | null>();
  const learned: ArtifactPublished['data'][] = [];

  const isThere = (token: string): boolean => {
    const { tenant = '', scope = '', text = '' } = tokenParts(token) ?? {};
    const key = `vault/${tenant}/${scope}/${text}`;
    return shared.objects.has(key) || shared.objects.has(asideKeyOf(key));
  };
  /** A text is there before the event that refers to it, unless its append took effect more than a day late. */
  const texts = ({ type, data, metadata }: RecordedEvent): void => {
    if (type === 'TenantErased' || type === 'DocumentErased') anyErased = true;
    const lateMs = EPOCH_MS + sched.nowMs() - Date.parse(metadata['recorded_at'] as string);
    if (anyErased || lateMs > DAY_MS) return;
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

  /** Usage by tag is what was asked for under it, added up. */
  const tagged = (): void => {
    const [due, is] = [book.byTag(), usage.sums()];
    for (const of of new Set([...due.keys(), ...is.keys()]))
      if ((due.get(of) ?? 0) !== (is.get(of) ?? 0))
        say(
          'tags',
          `${of} has ${String(is.get(of) ?? 0)} credits, and ${String(due.get(of) ?? 0)} by the book`,
        );
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
      usage.see(event);
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
      if (!isFormer) tagged();
      for (const one of learned) await keyOf(one);
    },
  };
};

/**
 * What counts towards each budget, kept a second time, from holds and burns alone. Nothing here is of the service: a
 * period is the name of a day, a week or a month of the zone, as the platform prints it, and the latest one counts.
 */

interface BudgetEntry {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Budget {
  readonly limit: number;
  readonly refuses: boolean;
  readonly project: unknown;
  readonly period: string;
  readonly zone: string;
  /** Name of the period that `used` is of. */
  now: string;
  used: number;
  held: number;
}

interface Hold {
  readonly credits: number;
  readonly project: unknown;
}

const periodName = ({ period, zone }: Pick<Budget, 'period' | 'zone'>, at: string): string => {
  if (period === 'total') return '';
  const day = new Date(at).toLocaleDateString('sv-SE', { timeZone: zone });
  if (period === 'month') return day.slice(0, 7);
  if (period === 'day') return day;
  const weekday = (new Date(day).getUTCDay() + 6) % 7;
  return new Date(Date.parse(day) - weekday * 86_400_000).toISOString().slice(0, 10);
};

/** The budgets of one account. */
const budgetBook = (say: (rule: string, text: string) => void) => {
  const budgets = new Map<string, Budget>();
  const holds = new Map<string, Hold>();

  const countedBy = (project: unknown, at: string): readonly (readonly [string, Budget])[] =>
    [...budgets].filter(([, budget]) => {
      if (budget.project !== undefined && budget.project !== project) return false;
      const name = periodName(budget, at);
      if (name > budget.now) Object.assign(budget, { now: name, used: 0 });
      return true;
    });

  const set = (data: BudgetEntry['data']): void => {
    const [id, at] = [String(data['budget_id']), String(data['set_at'])];
    const scope = data['scope'] as { readonly project_id?: string };
    const made = {
      limit: Number(data['limit_credits']),
      refuses: data['on_reached'] === 'refuse',
      project: scope.project_id,
      period: String(data['period']),
      zone: String(data['time_zone']),
    };
    const before = budgets.get(id);
    const held = [...holds.values()]
      .filter(({ project }) => made.project === undefined || made.project === project)
      .reduce((sum, { credits }) => sum + credits, 0);
    budgets.set(id, { now: periodName(made, at), used: 0, ...before, ...made, held });
  };

  const held = (data: BudgetEntry['data']): void => {
    const [credits, project] = [Number(data['credits']), data['project_id']];
    holds.set(String(data['hold_id']), { credits, project });
    if (credits === 0) return;
    for (const [id, budget] of countedBy(project, String(data['created_at']))) {
      budget.held += credits;
      const total = budget.used + budget.held;
      if (budget.refuses && total > budget.limit)
        say(
          'budget-passed',
          `${String(total)} credits are used and held of budget ${id}, ${String(budget.limit)}`,
        );
    }
  };

  const closed = (id: unknown, at: string): void => {
    const hold = holds.get(String(id));
    holds.delete(String(id));
    if (hold === undefined) return;
    for (const [, budget] of countedBy(hold.project, at)) budget.held -= hold.credits;
  };

  const burned = (data: BudgetEntry['data']): void => {
    const at = String(data['created_at']);
    closed(data['hold_id'], at);
    for (const [, budget] of countedBy(data['project_id'], at)) budget.used += Number(data['credits']);
  };

  /** Only what really does not fit is refused, and with the figures that the book has. */
  const refused = (data: BudgetEntry['data']): void => {
    const id = String(data['budget_id']);
    countedBy(data['project_id'], String(data['refused_at']));
    const budget = budgets.get(id);
    const [used, open, required] = ['used_credits', 'held_credits', 'required_credits'].map((name) =>
      Number(data[name]),
    ) as [number, number, number];
    if (budget?.refuses !== true || used !== budget.used || open !== budget.held)
      say(
        'budget-refused',
        `budget ${id} refuses with ${String(used)} used and ${String(open)} held, ` +
          `and has ${String(budget?.used)} and ${String(budget?.held)} by the book`,
      );
    else if (used + open + required <= budget.limit)
      say('budget-refused', `budget ${id} refuses ${String(required)} credits that fit`);
  };

  const moves: Readonly<Record<string, (data: BudgetEntry['data']) => void>> = {
    BudgetSet: set,
    BudgetRemoved: (data) => void budgets.delete(String(data['budget_id'])),
    BudgetReached: refused,
    CreditsHeld: held,
    HoldReleased: (data) => closed(data['hold_id'], String(data['released_at'])),
    CreditsBurned: burned,
  };
  return { see: ({ type, data }: BudgetEntry): void => moves[type]?.(data) };
};
