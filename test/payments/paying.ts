import Stripe from 'stripe';
import { asCredits } from '../../domain/kernel/amounts.ts';
import type { CommandMeta } from '../../domain/kernel/decider.ts';
import type { RecordedEvent } from '../../domain/kernel/recorded.ts';
import type { Clock } from '../../domain/ports/log.ts';
import { ProblemError } from '../../sdk/src/index.ts';
import { addCredits } from '../../src/api/money/credits.ts';
import { getCreditPrices } from '../../src/api/money/prices.ts';
import { getPayment } from '../../src/api/money/reversals.ts';
import { getTopUp, tellTopUp } from '../../src/api/money/topUp.ts';
import { topUpCommands } from '../../src/commands/apiKeys.ts';
import { claimantOf } from '../../src/commands/money/paymentClaims.ts';
import { paymentNamed, payments } from '../../src/commands/money/payments.ts';
import { referenceData } from '../../src/commands/reference.ts';
import { sellCredits } from '../../src/commands/sales.ts';
import { runAudit } from '../../src/audit/runAudit.ts';
import { settleIntent, type Sides } from '../../src/payments/settling.ts';
import { topUp } from '../../src/payments/topUp.ts';
import { doneOr, Problem } from '../../src/server/problems.ts';
import { type ProblemCode, statusOf, titleOf } from '../../src/problemTable.ts';
import { accountWriter } from '../../src/writer/accountWriter.ts';
import { metaOf } from '../../src/writer/commandMeta.ts';
import { chance, fraction } from '../sim/chance.ts';
import { clockOf } from '../sim/clocks.ts';
import { seededPlan } from '../sim/explore.ts';
import { baseOf } from '../sim/market.ts';
import { logOf, sharedStores } from '../sim/ports.ts';
import { EPOCH_MS, type Owner, type Plan, scheduler, type Taken } from '../sim/scheduler.ts';
import { PLAIN_TERMS } from '../sim/terms.ts';
import type { Finding } from '../sim/worlds.ts';
import { payingWatch, THRESHOLD } from './payingWatch.ts';
import { type Asked, STRIPE_KEY, StripeDouble } from './stripeDouble.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const TENANT = 't';
const RESTART_MS = 2 * SECOND;
/** So long a payments process waits for the service, ms. */
const PATIENCE_MS = 30 * SECOND;
/** Nobody stands still for as long as Stripe remembers an idempotency key: what comes then is another request. */
const STANDS_STILL_MS = 20 * HOUR;
/** About so many things happen in a world. */
const HAPPENINGS = 30;
/** A new consent, or the pauses after three declines, are over by then. */
const HEAL_HOURS = 40;

const PAYMENTS = ['pay 0', 'pay 1'] as const;
const SERVICES = ['service 0', 'service 1'] as const;
const SELLER: CommandMeta['actor'] = { key_id: 'key_seller', role: 'seller' };
const ADMIN: CommandMeta['actor'] = { key_id: 'key_admin', role: 'admin' };

/** What came of a run. */
export interface PayingOutcome {
  readonly findings: readonly Finding[];
  readonly taken: readonly Taken[];
  readonly steps: number;
  /** Virtual ms. */
  readonly endedAt: number;
  readonly events: readonly RecordedEvent[];
  /** Top-ups that were paid. */
  readonly charges: number;
  /** How often a top-up ended so: `charged`, `limit`, or the name of its error. */
  readonly outcomes: ReadonlyMap<string, number>;
}

/** What a process of the service does for the payments process, by its own routes. */
const serviceOn = (shared: ReturnType<typeof sharedStores>, clock: Clock, call: Call) => {
  const store = logOf(shared, call);
  const accounts = accountWriter({ store });
  const reference = referenceData({ store });
  const sold = { reference, clock, accounts, store, claimantOf: claimantOf(store) };
  const topUps = topUpCommands(store);
  const deps = {
    accounts,
    reference,
    clock,
    topUps,
    log: {},
    reads: { note: () => undefined },
    sellCredits: sellCredits({ ...sold, payments: payments({ store, writer: accounts, clock }) }),
    paymentNamed: paymentNamed({ store, accounts }),
    queries: { balanceOfTenant: () => Promise.resolve({}) },
  };
  const by = (actor: CommandMeta['actor'], what: string) => metaOf({ clock }, actor, what);
  const request = (members: object) => ({ doneOr, meta: by(SELLER, 'payments'), ...members }) as never;
  return {
    getTopUp: (params: object) => getTopUp.handle(request({ params }), deps as never),
    tellTopUp: (params: object, body: unknown) =>
      tellTopUp.handle(request({ params, body: tellTopUp.body?.parse(body) }), deps as never),
    getCreditPrices: () => getCreditPrices.handle(request({}), deps as never),
    getPayment: (params: object) => getPayment.handle(request({ params }), deps as never),
    addCredits: (body: unknown) =>
      addCredits.handle(request({ body: addCredits.body?.parse(body) }), deps as never),
    spend: (credits: number, id: string) =>
      accounts.execute({
        type: 'AdjustCredits',
        data: {
          tenant_id: TENANT,
          adjustment_id: `adj_${id}`,
          idempotency_key: id,
          fingerprint: id,

          reason: 'spent',
          credits: asCredits(-credits),
          allow_negative: false,
        },
        meta: by(ADMIN, id),
      }),
    agree: (wanted: Agreed) =>
      topUps.set(
        {
          tenant_id: TENANT,
          threshold_credits: THRESHOLD,
          currency: 'USD',
          consented_at: null,

          mayNamePayer: true,
          payment_method: 'pm_card',
          ...wanted,
        },
        by(ADMIN, 'agrees'),
      ),
  };
};
type Service = ReturnType<typeof serviceOn>;
type Call = ReturnType<typeof scheduler>['call'];

/** What a payer agrees to. */
interface Agreed {
  readonly active: boolean;
  readonly payer: string;
  readonly credits: number;
  readonly monthly_credits_max: number;
}

/** A plan that lets nobody stand still longer than Stripe remembers. */
const planOf = (seed: number, isIll: () => boolean): Plan => {
  const plan = seededPlan(seed);
  return {
    latencyMs: plan.latencyMs,
    deviation: (place) => {
      const drawn = isIll() ? plan.deviation(place) : undefined;
      if (drawn?.kind === 'change') return { kind: 'lost' };
      return drawn === undefined || !('ms' in drawn)
        ? drawn
        : { ...drawn, ms: Math.min(drawn.ms, STANDS_STILL_MS) };
    },
  };
};

/** Where a world begins: an account with a few credits, and a price in US dollars. */
const opening = () =>
  baseOf({
    terms: PLAIN_TERMS,
    tenants: [{ id: TENANT, balance: 1_500, plan: 'paid' }],
    changes: [{ kind: 'price list', usd: '10' }],
  });

const stage = (seed: number, base: readonly RecordedEvent[]) => {
  let isIll = true;
  const sched = scheduler(
    planOf(seed, () => isIll),
    seed,
  );
  const shared = sharedStores();
  const stripe = new StripeDouble();
  stripe.nowMs = () => EPOCH_MS + sched.nowMs();
  const findings: Finding[] = [];
  const say = (id: string, text: string): void =>
    void findings.push({ id, text, at: sched.nowMs(), step: sched.steps() });
  const watch = payingWatch({ stripe, say, nowMs: stripe.nowMs });
  for (const event of base)
    shared.append(event.stream, event.revision === 0n ? 'no_stream' : event.revision - 1n, [event]);
  shared.onEvent = watch.see;
  for (const event of shared.events) watch.see(event);
  return {
    seed,
    sched,
    shared,
    stripe,
    findings,
    say,
    watch,
    /** By the name: who it is now. */
    owners: new Map<string, Owner>(),
    services: new Map<string, Service>(),
    lives: new Map<string, number>(),
    outcomes: new Map<string, number>(),
    drawn: 0,
    isIll: () => isIll,
    heal: () => (isIll = false),
  };
};
type Stage = ReturnType<typeof stage>;

/** A number below `below`, the next of this run. */
const drawn = (on: Stage, what: string, below: number): number =>
  chance(on.seed, what, (on.drawn += 1)) % below;

/** Clocks of the service may be some minutes off; those of payments processes by months: nobody asks them. */
const ownerOf = (on: Stage, name: string): Owner => {
  const clock = clockOf(on.seed, name);
  const life = (on.lives.get(name) ?? 0) + 1;
  on.lives.set(name, life);
  const isLost = name.startsWith('pay') && fraction(on.seed, 'lost clock', name) < 0.5;
  const lost = { ...clock, offsetMs: (chance(on.seed, name) % 90) * DAY };
  return on.sched.newOwner(`${name}.${String(life)}`, isLost ? lost : clock);
};

const start = (on: Stage, name: string): void => {
  const { sched, shared } = on;
  const owner = ownerOf(on, name);
  on.owners.set(name, owner);
  if (!name.startsWith('service')) return;
  const clock = {
    now: () => sched.instantOf(owner),
    uuid: () => sched.uuid(),
    newId: (prefix: string) => `${prefix}_${sched.uuid().replaceAll('-', '').slice(0, 26).toUpperCase()}`,
    monotonicMs: () => sched.nowMs(),
  };
  on.services.set(name, serviceOn(shared, clock, sched.call));
};

/** A problem of the service, as its client throws it. */
const asClient = (error: unknown): Error => {
  if (!(error instanceof Problem)) return new Error('the service broke');
  const code = error.code as ProblemCode;
  const { detail } = error.details;
  const problem = { type: '', title: titleOf(code), status: statusOf(code), code, detail };
  return new ProblemError(problem as never);
};

/** Asks a process of the service; the answer may be lost, and comes to whoever asked. */
const remote = <T>(
  on: Stage,
  owner: Owner,
  { label, run }: { readonly label: string; readonly run: (service: Service) => Promise<unknown> },
): Promise<T> =>
  new Promise((resolve, reject) => {
    const { sched } = on;
    const timer = setTimeout(() => reject(new Error('no answer came')), PATIENCE_MS);
    const home = (settle: () => void) =>
      void sched.later(owner, 1, () => {
        clearTimeout(timer);
        settle();
      });
    const name = SERVICES[drawn(on, 'service', 2)] ?? SERVICES[0];
    const effect = () => {
      const [of, service] = [on.owners.get(name), on.services.get(name)];
      if (of === undefined || service === undefined) return;
      sched.later(of, 1, () => {
        run(service).then(
          (answer) => home(() => resolve(JSON.parse(JSON.stringify(answer)) as T)),
          (error: unknown) => home(() => reject(asClient(error))),
        );
      });
    };
    const failed = (reason: string): never => {
      throw new Error(`the service: ${reason}`);
    };
    sched.call({ label: `quire ${label}`, effect, failed }).catch(reject);
  });

/** What Stripe's library sends: `a[b]=c` once decoded. */
const formOf = (text: string): Record<string, unknown> => {
  const form: Record<string, unknown> = {};
  for (const [path, value] of new URLSearchParams(text)) {
    const names = path.split(/[[\]]+/).filter((name) => name !== '');
    const last = names.pop() ?? '';
    let at = form;
    for (const name of names) at = (at[name] ??= {}) as Record<string, unknown>;
    at[last] = value;
  }
  return form;
};

type HttpClient = NonNullable<NonNullable<ConstructorParameters<typeof Stripe>[1]>['httpClient']>;
type Sent = Parameters<HttpClient['makeRequest']>;

const askedOf = ([, , path, method, headers, body]: Sent): Asked => {
  const [place = '', query = ''] = path.split('?');
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const get = ((name: string) => lower[name]?.toString()) as Asked['get'];
  return {
    method,
    path: place,
    query: formOf(query) as Asked['query'],
    body: formOf(body),
    get,
  };
};

const answered = (status: number, text: string) => ({
  getStatusCode: () => status,
  getHeaders: () => ({}),
  getRawResponse: () => ({}),
  toJSON: () => Promise.resolve(JSON.parse(text) as unknown),
  toStream: () => {
    throw new Error('this does not take part');
  },
});

/** Stripe's own library over calls of the simulation; `run` is told of what it asks for. */
const stripeFor = ({ sched, stripe, watch }: Stage, run: Run): Stripe => {
  const makeRequest = (...sent: Sent) =>
    new Promise((resolve, reject) => {
      const [asked, timeout] = [askedOf(sent), sent[7]];
      const late = () => reject(Object.assign(new TypeError('ETIMEDOUT'), { code: 'ETIMEDOUT' }));
      const timer = setTimeout(late, timeout);
      const effect = () =>
        watch.charging(run, () => {
          const { status, body } = stripe.answer(asked);
          return answered(status, JSON.stringify(body));
        });
      const failed = (reason: string): never => {
        throw new Error(`Stripe: ${reason}`);
      };
      sched
        .call({ label: `stripe ${asked.method} ${asked.path}`, effect, failed })
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
  const httpClient = { getClientName: () => 'simulated', makeRequest } as unknown as HttpClient;
  return new Stripe(STRIPE_KEY, {
    httpClient,
    timeout: 10 * SECOND,
    maxNetworkRetries: 2,
    telemetry: false,
  });
};

/** One top-up of a process: when it asked last what holds, ms since 1970. */
interface Run {
  askedAt: number;
}

const none = () => Promise.reject(new Error('this does not take part'));

const sidesFor = (on: Stage, owner: Owner, run: Run): Sides => {
  const ask = (label: string, call: (service: Service) => Promise<unknown>) =>
    remote(on, owner, { label, run: call }) as never;
  return {
    stripe: stripeFor(on, run),
    quire: {
      getTopUp: ({ path }) => {
        run.askedAt = on.stripe.nowMs();
        return ask('getTopUp', (service) => service.getTopUp(path));
      },
      getCreditPrices: () => ask('getCreditPrices', (service) => service.getCreditPrices()),
      getPayment: ({ path }) => ask('getPayment', (service) => service.getPayment(path)),
      addCredits: ({ body }) => ask('addCredits', (service) => service.addCredits(body)),

      tellTopUp: ({ path, body }) => ask('tellTopUp', (service) => service.tellTopUp(path, body)),
      recordDispute: none,
      refundCredits: none,
      reverseRefund: none,
    },
  };
};

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : 'error');

/** Has a payments process do something, as it is now; undefined: it is gone. */
const through = (
  on: Stage,
  name: string,
  work: (sides: Sides) => Promise<string>,
): Promise<string | undefined> =>
  new Promise((resolve) => {
    const owner = on.owners.get(name);
    if (owner === undefined) return;
    const gone = on.sched.later(undefined, 5 * MINUTE, () => resolve(undefined));
    on.sched.later(owner, 1, () => {
      void work(sidesFor(on, owner, { askedAt: on.stripe.nowMs() }))
        .catch(nameOf)
        .then((outcome) => {
          on.outcomes.set(outcome, (on.outcomes.get(outcome) ?? 0) + 1);
          gone();
          on.sched.later(undefined, 1, () => resolve(outcome));
        });
    });
  });

/** What the service sends again, in growing pauses. */
const AGAIN: ReadonlySet<string> = new Set(['waits', 'declined', 'Error', 'ProblemError']);

/** Tells a process that the balance is low, and again while it is not taken. */
const tell = async (on: Stage, tries: number): Promise<string | undefined> => {
  let outcome: string | undefined;
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const name = PAYMENTS[drawn(on, 'told', 2)] ?? PAYMENTS[0];
    outcome = await through(on, name, (sides) => topUp(sides, TENANT));
    if (outcome !== undefined && !AGAIN.has(outcome)) return outcome;
    await on.sched.sleep(5 * MINUTE * 4 ** attempt);
  }
  return outcome;
};

/** Delivers what Stripe says, late, in any order, and not all of it. */
const deliver = (on: Stage): void => {
  for (const { type, body } of on.stripe.take()) {
    const { data } = JSON.parse(body) as { readonly data: { readonly object: { readonly id: string } } };
    if (type !== 'payment_intent.succeeded' || (on.isIll() && drawn(on, 'lost', 3) === 0)) continue;
    const name = PAYMENTS[drawn(on, 'event to', 2)] ?? PAYMENTS[0];
    on.sched.later(undefined, 1 + drawn(on, 'event late', 10 * MINUTE), () => {
      const settled = (sides: Sides) => settleIntent(sides, data.object.id).then(() => 'event taken');
      void through(on, name, settled);
    });
  }
};

/** Money of slow charges arrives, or never does. */
const arrive = (on: Stage): void => {
  for (const { id, status, created } of on.stripe.intents.values()) {
    const ageMs = on.stripe.nowMs() - created * 1_000;
    if (status === 'processing' && ageMs > (on.isIll() ? 2 * HOUR : 0))
      on.stripe.arriveIntent(id, { isPaid: drawn(on, 'arrives', 3) > 0 });
  }
};

const agreementOf = (on: Stage): Agreed => ({
  active: drawn(on, 'active', 5) > 0,
  payer: `cus_${String(drawn(on, 'payer', 2))}`,
  credits: 2_000 + 500 * drawn(on, 'credits', 2),
  monthly_credits_max: 5_000 + 2_000 * drawn(on, 'most', 3),
});

/** One thing that happens: credits are used, somebody agrees to something else, or a card changes. */
const happen = async (on: Stage, owner: Owner): Promise<void> => {
  const { stripe } = on;
  const r = drawn(on, 'what', 100);
  if (r < 15) stripe.declines = drawn(on, 'declines', 2) === 0;
  else if (r < 25) stripe.isSlow = drawn(on, 'slow', 2) === 0;
  else if (r < 40) {
    const wanted = agreementOf(on);
    await remote(on, owner, { label: 'agree', run: (service) => service.agree(wanted).then(() => null) });
  } else {
    const [credits, id] = [100 + drawn(on, 'spends', 1_500), `spent ${String(on.drawn)}`];
    const run = (service: Service) => service.spend(credits, id).then(() => null);
    await remote(on, owner, { label: 'spend', run });
  }
};

/** What goes on outside of all processes, until `until` (virtual ms). */
const live = async (on: Stage, owner: Owner, until: number): Promise<void> => {
  const paceMs = (2 * until) / HAPPENINGS;
  while (on.sched.nowMs() < until) {
    await happen(on, owner).catch(() => undefined);
    const tellers = 1 + drawn(on, 'tellers', 3);
    for (let n = 0; n < tellers; n += 1) void tell(on, 4);
    deliver(on);
    arrive(on);
    await on.sched.sleep(1 + drawn(on, 'pause', Math.floor(paceMs)));
  }
};

/** All is well: whoever is told now does what is due. */
const recover = async (on: Stage): Promise<void> => {
  const { stripe, sched } = on;
  stripe.declines = false;
  stripe.isSlow = false;
  let last: string | undefined;
  for (let hour = 0; hour < HEAL_HOURS; hour += 1) {
    arrive(on);
    deliver(on);
    last = await tell(on, 1);
    await sched.sleep(HOUR);
  }
  on.watch.ended(last);
};

/** Runs the world of a seed from its start until all has been well for hours, and tells what was wrong. */
export const payingSeed = async (seed: number): Promise<PayingOutcome> => {
  const on = stage(seed, await opening());
  const { sched, shared, findings, outcomes } = on;
  const isOver = () => findings.length > 0;
  sched.hook({
    afterStep: () => undefined,
    onChange: () => Promise.resolve(),
    onKilled: (owner) => {
      for (const [name, one] of on.owners)
        if (one === owner) sched.later(undefined, RESTART_MS, () => start(on, name));
    },
  });
  const outside = sched.newOwner('outside');
  const lastsMs = [3 * HOUR, 4 * DAY, 45 * DAY][chance(seed, 'lasts') % 3] ?? DAY;
  sched.later(undefined, 0, () => [...PAYMENTS, ...SERVICES].forEach((name) => start(on, name)));
  const agreed = { active: true, payer: 'cus_0', credits: 2_000, monthly_credits_max: 7_000 };
  const first = (service: Service) => service.agree(agreed).then(() => null);
  sched.later(outside, 1, () => {
    void remote(on, outside, { label: 'agree', run: first })
      .catch(() => undefined)
      .then(() => live(on, outside, lastsMs));
  });
  await sched.run(lastsMs + STANDS_STILL_MS + DAY, isOver);
  on.heal();
  await sched.run(Math.max(...[...on.owners.values()].map(({ pausedUntil }) => pausedUntil)), isOver);
  sched.later(outside, 1, () => void recover(on));
  await sched.run(sched.nowMs() + (HEAL_HOURS + 2) * HOUR, isOver);
  if (!isOver()) {
    on.watch.settled();
    const feed = logOf(shared, ({ effect }) => new Promise((done) => done(effect())));
    const { report } = await runAudit({ feed, dense: true, keep: 5 });
    for (const { check, message } of report.findings) on.say('audit', `[${check}] ${message}`);
  }
  const endedAt = sched.nowMs();
  const charges = on.watch.charges();
  return {
    findings,
    taken: sched.taken,
    steps: sched.steps(),
    endedAt,
    events: shared.events,
    charges,
    outcomes,
  };
};
