import { type BooksEventOf, CLOSED_SUMS, monthBounds } from '../../domain/books.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import { openedLog } from '../../src/commands/sealing.ts';
import { publishBillingConfig, referenceData, setRate } from '../../src/commands/reference.ts';
import { accountWriter, type AccountWriter } from '../../src/writer/accountWriter.ts';
import type { TimeRange } from '../../projections/engine/table.ts';
import { booksCommands, type FigureQueries } from '../../src/commands/money/books.ts';
import { flowsIn } from '../support/money/bookedFlows.ts';
import type { Answer, ProcessEnv } from './env.ts';
import { logOf, sharedStores, type SimLog } from './ports.ts';
import { scheduler } from './scheduler.ts';
import { BILLINGS, type Change, MODES, type Tenant, type Terms } from './terms.ts';

/** When the platform paid for a call; undefined: the event is no such call. */
const calledAt = ({ type, data }: RecordedEvent): string | undefined =>
  type === 'LlmCostLogged' && data['billing_type'] === 'full_service'
    ? (data['occurred_at'] as string)
    : undefined;

/** The queries of a closing, on the events that the read models have. No model has a price in these worlds. */
const figuresOn = ({ askLog }: Pick<ProcessEnv, 'askLog'>): FigureQueries => {
  const flows = (range: TimeRange) =>
    askLog('flows', (events) => flowsIn(events as readonly RecordedEvent[], range));
  const costs = ({ from, to, position }: { from: string; to: string; position?: bigint }) =>
    askLog('costs', (events) => {
      const calls = (events as readonly RecordedEvent[]).filter((event) => {
        const at = calledAt(event);
        if (at === undefined || at < from || at > to) return false;
        return event.position <= (position ?? event.position);
      });
      return { billed_pico_usd: 0n, free_tier_pico_usd: 0n, unpriced_calls: calls.length };
    });
  return {
    marginFlows: flows,
    modelCostOfPeriod: costs,
    modelCostAt: costs,
    lateModelCosts: () => Promise.resolve({ billed_pico_usd: 0n, free_tier_pico_usd: 0n }),
  };
};

/** Closings that stand and whose figures are others by now; what projectors make of the whole log. */
export const changedClosings = (events: readonly RecordedEvent[]): readonly string[] => {
  const opened = new Set(
    events.filter(({ type }) => type === 'MonthReopened').map(({ data }) => data['closing']),
  );
  return events.flatMap(({ type, data }) => {
    if (type !== 'MonthClosed' || opened.has(data['closing'])) return [];
    const { month, figures } = data as unknown as BooksEventOf<'MonthClosed'>['data'];
    const flows = flowsIn(events, monthBounds(month));
    return figures.by_currency.flatMap(({ currency, sums }) => {
      const flow = flows.find((one) => one.currency === currency);
      return CLOSED_SUMS.filter((name) => sums[name] !== String(flow?.[name] ?? 0n)).map(
        (name) =>
          `${month} ${currency} ${name}: ${String(sums[name])}, and now ${String(flow?.[name] ?? 0n)}`,
      );
    });
  });
};

const FIRST_MONTH = '2026-01';

/** Closing the first month and opening it again, as a process does it. */
export const monthRequests = (env: ProcessEnv) => {
  const months = booksCommands({
    store: env.log,
    queries: figuresOn(env),
    waitFor: (position) => env.caughtUp(position),
  });
  const meta = (): CommandMeta => ({
    now: env.clock.now(),
    actor: ADMIN,
    correlation_id: 'finance',
    command_id: env.clock.uuid(),
  });
  const answered = (outcome: Awaited<ReturnType<typeof months.close>>): Answer => {
    if (outcome.kind === 'done') return { kind: 'ok', id: FIRST_MONTH, body: null };
    return { kind: 'problem', code: outcome.kind === 'rejected' ? outcome.rejection.code : outcome.kind };
  };
  return {
    closeMonth: async () => answered(await months.close(FIRST_MONTH, meta())),
    reopenMonth: async () => answered(await months.reopen({ month: FIRST_MONTH, reason: 'again' }, meta())),
  };
};

const ADMIN: CommandMeta['actor'] = { key_id: 'key_admin', role: 'admin' };

/** Makes a budget, or changes the one that is there. */
const setBudget = async (
  accounts: AccountWriter,
  { id: budget_id, tenant, project, period, zone: time_zone, credits }: Extract<Change, { kind: 'budget' }>,
  meta: () => CommandMeta,
): Promise<void> => {
  const limit_credits = asCredits(credits);
  const named = { tenant_id: tenant, by_key_id: null, budget_id };
  const changed = await accounts.execute({
    type: 'ChangeBudget',
    data: { ...named, limit_credits },
    meta: meta(),
  });
  if (changed.kind !== 'rejected') return;
  const scope = project === undefined ? {} : { project_id: project };
  const data = { ...named, name: '', scope, period, time_zone, limit_credits, alert_at: [0.5, 1] };
  await accounts.execute({ type: 'SetBudget', data: { ...data, on_reached: 'refuse' }, meta: meta() });
};

/** Somebody who publishes prices and sets plans with the service's own commands, and fails never. */
export const operatorOn = (store: SimLog, { now, uuid }: { now: () => string; uuid: () => string }) => {
  const reference = referenceData({ store, maxAgeMs: -1 });
  const meta = (): CommandMeta => ({
    now: now(),
    actor: ADMIN,
    correlation_id: 'operator',
    command_id: uuid(),
  });
  const change = async (wanted: Change): Promise<void> => {
    switch (wanted.kind) {
      case 'rate': {
        const { mode: extraction_mode, billing: billing_type, credits: credits_per_page } = wanted;
        const completion_window = wanted.waits === true ? '24h' : null;
        const rate = { operation: 'extract', extraction_mode, billing_type, credits_per_page } as const;
        await setRate(reference, { ...rate, completion_window }, meta());
        return;
      }
      case 'free pages':
        await publishBillingConfig(reference, { free_pages: wanted.pages }, meta());
        return;
      case 'training': {
        const { base, example, call } = wanted;
        const base_credits = { light: base, medium: base * 3, heavy: base * 9 };
        const training = { base_credits, credits_per_example: example, credits_per_metric_call: call };
        await publishBillingConfig(reference, { training }, meta());
        return;
      }
      case 'plan': {
        const data = { tenant_id: wanted.tenant, plan: wanted.plan, reason: null };
        await accountWriter({ store }).execute({ type: 'SetPlan', data, meta: meta() });
        return;
      }
      case 'budget':
        await setBudget(accountWriter({ store }), wanted, meta);
        return;
      case 'budget gone': {
        const data = { tenant_id: wanted.tenant, budget_id: wanted.id, by_key_id: null };
        await accountWriter({ store }).execute({ type: 'RemoveBudget', data, meta: meta() });
        return;
      }
      case 'price list': {
        const entry = { currency: 'USD', tax_basis: 'exclusive', minor_unit_digits: 2 } as const;
        const entries = [{ ...entry, price_per_1000_credits: wanted.usd }];
        const data = { entries, expected_version: null, note: null };
        await reference.publishPriceList({ type: 'PublishPriceList', data, meta: meta() });
      }
    }
  };
  return { change, reference, meta };
};

const changesTo = ({ freePages, standard, fast }: Terms): readonly Change[] => [
  { kind: 'free pages', pages: freePages },
  ...MODES.flatMap((mode) =>
    BILLINGS.map((billing) => {
      const credits = (mode === 'fast' ? fast : standard)[billing];
      return { kind: 'rate', mode, billing, credits } as const;
    }),
  ),
];

/** What is there before anybody asks for anything. */
interface Opening {
  readonly terms: Terms;
  readonly tenants: readonly Tenant[];
  readonly changes: readonly Change[];
}

const opened = async (
  store: SimLog,
  { now, uuid }: { readonly now: string; readonly uuid: () => string },
  { terms, tenants, changes }: Opening,
): Promise<void> => {
  await openedLog(store, now);
  const { reference, change, meta } = operatorOn(store, { now: () => now, uuid });
  await reference.ensureDefaults(now);
  for (const one of changesTo(terms)) await change(one);
  const accounts = accountWriter({ store });
  for (const { id: tenant_id, balance, plan } of tenants) {
    const given = { tenant_id, adjustment_id: `adj_0_${tenant_id}`, idempotency_key: 'start' };
    const data = { ...given, fingerprint: 'f', reason: 'start', credits: asCredits(balance) };
    await accounts.execute({ type: 'AdjustCredits', data: { ...data, allow_negative: false }, meta: meta() });
    if (plan !== 'free') await change({ kind: 'plan', tenant: tenant_id, plan });
  }
  for (const one of changes) await change(one);
};

const bases = new Map<string, Promise<readonly RecordedEvent[]>>();

/** A log with prices and accounts: the same for all runs that begin with the same. */
export const baseOf = (wanted: Opening): Promise<readonly RecordedEvent[]> => {
  const name = JSON.stringify(wanted);
  const known = bases.get(name);
  if (known !== undefined) return known;
  const made = (async () => {
    const sched = scheduler({ deviation: () => undefined, latencyMs: () => 1 }, 'base');
    const shared = sharedStores();
    const owner = sched.newOwner('base');
    let opening: Promise<void> | undefined;
    sched.later(owner, 0, () => {
      const at = { now: sched.instantOf(owner), uuid: () => sched.uuid() };
      opening = opened(logOf(shared, sched.call), at, wanted);
    });
    await sched.run(30_000);
    await opening;
    return shared.events;
  })();
  bases.set(name, made);
  return made;
};
