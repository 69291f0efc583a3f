import type { Mode, PlanName } from './terms.ts';

/**
 * What each party owes, kept a second time: from what was asked for, what it was asked of, and what was published.
 * Nothing here is of the service, and of an event nothing is taken over but that it happened, to what, and by which
 * version of the prices: each amount is worked out anew.
 */

/** An event as it lies in the log. */
interface Entry {
  readonly type: string;
  readonly stream: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** By which a customer sorts costs. */
type Names = Readonly<Record<string, string>>;

interface AskedFile {
  readonly tag: string;
  readonly pages: number;
  /** What is done with it, where that is not as of all; left out: it is. */
  readonly as?: 'split' | Mode;
}

/** What somebody asked for that costs something, or pays for it. */
export type Order =
  | {
      readonly kind: 'document';
      readonly mode: Mode;
      /** Models are asked with the caller's own key, for all that the schema asks for. */
      readonly ownKey: boolean;
      /** It may wait: it has the rate of what may, if there is one. */
      readonly waits?: boolean;
      /** Nobody can ask again for what came of it: it is paid for once it is answered, kept or not. */
      readonly keyless?: boolean;
      /** Of a batch: all that it may be. */
      readonly files: readonly AskedFile[];
      readonly tags: Names | undefined;
    }
  | {
      readonly kind: 'job';
      readonly tier: 'light' | 'heavy';
      readonly ownKey: boolean;
      readonly examples: number;
      readonly tags: Names | undefined;
    }
  /** Half of the credits that are named may be asked back. */
  | {
      readonly kind: 'sale';
      readonly credits: number;
      readonly gross: number | undefined;
      /** Given on top. */
      readonly bonus: number;
      /** When it was told of first. */
      readonly askedAt: number;
    }
  | { readonly kind: 'adjustment'; readonly credits: number }
  | { readonly kind: 'transfer'; readonly credits: number; readonly to: string };

/** A result, as whoever paid for it reads it. */
export interface Reading {
  readonly tag: string;
  readonly pages: number;
}

export interface BookDeps {
  /** By whose request an event was written; undefined: by none that is known. */
  readonly orderOf: (entry: Entry) => { readonly tenant: string; readonly order: Order } | undefined;
  /** What lies where the burn says that its result is. */
  readonly readingOf: (operationId: string, digest: string) => Reading | undefined;
  /** How far the clocks of processes may be from the right time, and prices behind, ms. */
  readonly slackMs: number;
  readonly say: (rule: string, text: string) => void;
}

/** What a tenant has. */
export interface Standing {
  readonly balance: number;
  readonly held: number;
  readonly freeUsed: number;
  readonly freeHeld: number;
}

interface Version {
  readonly since: number;
  readonly freePages: number;
  /** Credits a page by `<mode> <billing>`. */
  readonly rates: ReadonlyMap<string, number>;
  readonly training: {
    readonly base: Readonly<Record<string, number>>;
    readonly example: number;
    readonly call: number;
  };
}

type Document = Extract<Order, { kind: 'document' }>;

interface Hold {
  readonly operation: string;
  readonly order: Exclude<Order, { kind: 'sale' | 'adjustment' | 'transfer' }>;
  readonly pages: number;
  readonly free: number;
  /** Of a page. */
  readonly price: number;
  readonly credits: number;
  /** Of the prices that it was taken at. */
  readonly version: number;
}

interface Account {
  balance: number;
  held: number;
  freeUsed: number;
  freeHeld: number;
  plan: PlanName;
  readonly holds: Map<string, Hold>;
  /** Those that were given back, by their ID: work that is held again keeps its terms. */
  readonly given: Map<string, Hold>;
  readonly sales: Map<string, { left: number }>;
  /** Grants of sales whose fee was not told yet. */
  readonly feesDue: Set<string>;
  /** Credits of refunds that are not undone, by transaction. */
  readonly refunds: Map<string, number>;
  readonly keys: Set<string>;
}

/** What was paid for a piece of work, and what came of it. */
export interface Paid {
  readonly tenant: string;
  readonly credits: number;
  readonly pages: number;
  readonly reading: Reading | undefined;
}

/** Metric calls of a tier whose caller names none. */
const CALLS = { light: 60, heavy: 540 };
const NO_TERMS: Version = {
  since: 0,
  freePages: 0,
  rates: new Map(),
  training: { base: {}, example: 0, call: 0 },
};

const numberIn = (data: Entry['data'], name: string): number => Number(data[name]);
const textIn = (data: Entry['data'], name: string): string => String(data[name]);

interface RateText {
  readonly operation: string;
  readonly extraction_mode: string;
  readonly billing_type: string;
  readonly completion_window?: string;
  readonly credits_per_page: number;
}
interface TermsText {
  readonly free_pages: number;
  readonly training: {
    readonly base_credits: Readonly<Record<string, number>>;
    readonly credits_per_example: number;
    readonly credits_per_metric_call: number;
  };
}

const namesText = (names: unknown): string => JSON.stringify(Object.entries((names ?? {}) as Names).sort());

const rateName = (mode: string, billing: string, window = ''): string => `${mode} ${billing} ${window}`;

const ratesIn = (rates: readonly RateText[]) =>
  rates
    .filter(({ operation }) => operation === 'extract' || operation === 'split')
    .map((one) => {
      const mode = one.operation === 'split' ? 'split' : one.extraction_mode;
      const name = rateName(mode, one.billing_type, one.completion_window);
      return [name, one.credits_per_page] as const;
    });

interface Asked {
  readonly version: number;
  readonly at: number;
  readonly until?: number;
  readonly slackMs: number;
}

/** Everything that was published, by its version. */
const publications = () => {
  const versions: Version[] = [];
  const lists: { readonly since: number; readonly minorPerThousand: number }[] = [];
  const before = (): Version => versions.at(-1) ?? NO_TERMS;
  return {
    versions,
    lists,
    see: ({ type, data }: Entry): void => {
      const since = Date.parse(textIn(data, type === 'PriceListPublished' ? 'published_at' : 'created_at'));
      if (type === 'BillingRateSet') {
        const rates = new Map([...before().rates, ...ratesIn([data['rate'] as RateText])]);
        versions.push({ ...before(), since, rates });
      } else if (type === 'BillingConfigPublished') {
        const { free_pages: freePages, training } = data['terms'] as TermsText;
        const { base_credits: base, credits_per_example: example, credits_per_metric_call: call } = training;
        const rates = new Map(ratesIn(data['rates'] as readonly RateText[]));
        versions.push({ since, freePages, rates, training: { base, example, call } });
      } else if (type === 'PriceListPublished') {
        const [entry] = data['entries'] as readonly { readonly price_per_1000_credits: string }[];
        const minorPerThousand = Math.round(Number(entry?.price_per_1000_credits) * 100);
        lists.push({ since, minorPerThousand });
      }
    },
    /** Whether a version was in force at some time from `at` until `until`, or was replaced not long before. */
    isInForce: (
      all: readonly { readonly since: number }[],
      { version, at, until = at, slackMs }: Asked,
    ): boolean => {
      const [own, next] = [all[version - 1], all[version]];
      return (
        own !== undefined &&
        own.since <= until + slackMs &&
        (next === undefined || next.since >= at - slackMs)
      );
    },
  };
};

const emptyAccount = (): Account => ({
  balance: 0,
  held: 0,
  freeUsed: 0,
  freeHeld: 0,
  plan: 'free',
  holds: new Map(),
  given: new Map(),
  sales: new Map(),
  refunds: new Map(),
  feesDue: new Set(),
  keys: new Set(),
});

export type Book = ReturnType<typeof openBook>;

/** A book of all accounts of a log, from its first event on. */
export const openBook = ({ orderOf, readingOf, slackMs, say }: BookDeps) => {
  const market = publications();
  const accounts = new Map<string, Account>();
  const paid = new Map<string, Paid>();
  /** Credits burned by tenant and tag. */
  const byTag = new Map<string, number>();
  /** Transfers that left one account and did not arrive in the other. */
  const between = new Map<string, { readonly from: string; readonly to: string; readonly credits: number }>();
  /** When the claim of a payment was made. */
  const claimedAt = new Map<string, number>();

  const accountOf = (tenant: string): Account => {
    const found = accounts.get(tenant) ?? emptyAccount();
    accounts.set(tenant, found);
    return found;
  };
  const differs = (what: string, due: unknown, is: unknown): void => {
    if (due !== is) say('book', `${what}: ${String(is)}, and ${String(due)} by the book`);
  };
  const inForce = (what: string, version: number, at: string): Version => {
    if (!market.isInForce(market.versions, { version, at: Date.parse(at), slackMs }))
      say('price-not-in-force', `${what} at ${at} is at the prices ${String(version)}`);
    return market.versions[version - 1] ?? NO_TERMS;
  };
  const solvent = (what: string, account: Account): void => {
    if (account.balance - account.held < 0) say('overdrawn', `${what} takes what is not there or held`);
  };

  const jobPrice = ({ training }: Version, order: Extract<Order, { kind: 'job' }>): number =>
    (training.base[order.tier] ?? Number.NaN) +
    order.examples * training.example +
    (order.ownKey ? 0 : CALLS[order.tier] * training.call);
  const pagePrice = ({ rates }: Version, { mode, ownKey, waits }: Document, as?: AskedFile['as']): number => {
    if (as !== undefined) return rates.get(rateName(as, 'full_service')) ?? Number.NaN;
    const billing = ownKey ? 'byok' : 'full_service';
    const own = waits === true ? rates.get(rateName(mode, billing, '24h')) : undefined;
    return own ?? rates.get(rateName(mode, billing)) ?? Number.NaN;
  };

  /** Work that is held again keeps the prices that it was taken at; free pages are those that are left by now. */
  const heldAnew = (what: string, data: Entry['data'], { account, before }: Retaking): Hold => {
    const version = numberIn(data, 'billing_config_version');
    differs(`the prices of ${what}, which is held again`, before.version, version);
    if (before.order.kind === 'job') return before;
    const { freePages } = market.versions[before.version - 1] ?? NO_TERMS;
    const free = Math.min(before.pages, Math.max(0, freePages - account.freeUsed - account.freeHeld));
    return { ...before, free, credits: (before.pages - free) * before.price };
  };

  const taken = (what: string, data: Entry['data'], { account, order }: Taking): Hold => {
    const version = numberIn(data, 'billing_config_version');
    const terms = inForce(what, version, textIn(data, 'created_at'));
    const operation = textIn(data, 'operation_id');
    if (order.kind === 'job')
      return { operation, order, pages: 0, free: 0, price: 0, credits: jobPrice(terms, order), version };
    const pages = numberIn(data, 'pages');
    const isSplit = data['operation'] === 'split';
    const file = order.files.find((one) => one.pages === pages && (one.as === 'split') === isSplit);
    if (file === undefined)
      say('book', `${what} is for ${String(pages)} pages, and nobody sent a file of so many`);
    const free = Math.min(pages, Math.max(0, terms.freePages - account.freeUsed - account.freeHeld));
    const price = pagePrice(terms, order, file?.as);
    return { operation, order, pages, free, price, credits: (pages - free) * price, version };
  };
  interface Retaking {
    readonly account: Account;
    readonly before: Hold;
  }
  interface Taking {
    readonly account: Account;
    readonly order: Hold['order'];
  }

  /** What a hold should be; undefined: it is for nothing. */
  const asHeld = (what: string, entry: Entry, account: Account): Hold | undefined => {
    const { data } = entry;
    const before = account.given.get(textIn(data, 'hold_id'));
    if (before !== undefined) return heldAnew(what, data, { account, before });
    const order = orderOf(entry)?.order;
    if (order?.kind !== 'document' && order?.kind !== 'job') return undefined;
    return taken(what, data, { account, order });
  };

  const held = (tenant: string, entry: Entry): void => {
    const { data } = entry;
    const [account, id] = [accountOf(tenant), textIn(data, 'hold_id')];
    const what = `the hold ${id} of ${tenant}`;
    const hold = asHeld(what, entry, account);
    if (hold === undefined) {
      say('book', `${what} is for nothing that was asked for`);
      return;
    }
    if (hold.order.kind === 'job' && account.plan === 'free') say('book', `${what} is of the free plan`);
    differs(`free pages of ${what}`, hold.free, data['free_pages']);
    differs(`credits of ${what}`, hold.credits, data['credits']);
    differs(`tags of ${what}`, namesText(hold.order.tags), namesText(data['tags']));
    account.holds.set(id, hold);
    account.held += hold.credits;
    account.freeHeld += hold.free;
    if (hold.credits > 0) solvent(what, account);
  };

  const closed = (tenant: string, id: string): Hold | undefined => {
    const account = accountOf(tenant);
    const hold = account.holds.get(id);
    if (hold === undefined) return undefined;
    account.holds.delete(id);
    account.given.set(id, hold);
    account.held -= hold.credits;
    account.freeHeld -= hold.free;
    return hold;
  };

  /** What is delivered is the file that was sent, with the pages that are paid for. */
  const sameFile = (what: string, { order, pages }: Hold, reading: Reading | undefined): void => {
    if (order.kind === 'job' || reading === undefined) return;
    const isSent = order.files.some((one) => one.tag === reading.tag && one.pages === pages);
    if (!isSent || reading.pages !== pages)
      say('book', `${what} is for ${String(pages)} pages, and ${JSON.stringify(reading)} was delivered`);
  };

  /** Adds what was burned to the tags of what was asked for. */
  const sortCost = (tenant: string, { order, credits }: Hold): void => {
    for (const [name, value] of Object.entries(order.tags ?? {})) {
      const of = `${tenant} ${name}:${value}`;
      byTag.set(of, (byTag.get(of) ?? 0) + credits);
    }
  };

  const burned = (tenant: string, { data }: Entry): void => {
    const [account, operation] = [accountOf(tenant), textIn(data, 'operation_id')];
    const what = `the burn for ${operation} of ${tenant}`;
    const hold = closed(tenant, textIn(data, 'hold_id'));
    if (hold?.operation !== operation) {
      say('book', `${what} is of a hold that is not open for it`);
      return;
    }
    if (paid.has(operation)) say('billed-twice', `${operation} was billed twice, by the book`);
    const digest = (data['delivered'] as { readonly result_sha256?: string } | undefined)?.result_sha256;
    if (hold.order.kind === 'document' && hold.order.keyless !== true && digest === undefined)
      say('burn-without-result', `${what} does not say for which result`);
    const reading = digest === undefined ? undefined : readingOf(operation, digest);
    sameFile(what, hold, reading);
    const { credits } = hold;
    differs(`pages of ${what}`, hold.pages, data['pages']);
    differs(`free pages of ${what}`, hold.free, data['free_pages']);
    differs(`credits of ${what}`, credits, data['credits']);
    account.balance -= credits;
    sortCost(tenant, hold);
    account.freeUsed += hold.free;
    paid.set(operation, { tenant, credits, pages: hold.pages, reading });
  };

  const creditsOfSale = (order: Extract<Order, { kind: 'sale' }>, data: Entry['data']): number => {
    const [version, txn] = [numberIn(data, 'price_list_version'), textIn(data, 'provider_txn_id')];
    const at = Date.parse(textIn(data, 'occurred_at'));
    const until = claimedAt.get(txn) ?? Number.NaN;
    if (!(at >= order.askedAt - slackMs && at <= until + slackMs))
      say('sale-time', `the sale ${txn} has another time than its request and its claim allow`);
    // A process may stand still between the request, the look at the list and the claim: any list of that time is due.
    if (!market.isInForce(market.lists, { version, at, until, slackMs }))
      say('price-not-in-force', `the sale ${txn} is at the price list ${String(version)}`);
    if (order.gross === undefined) return order.credits + order.bonus;
    const paid = Math.max(
      1,
      Math.floor((order.gross * 1_000) / (market.lists[version - 1]?.minorPerThousand ?? 0)),
    );
    return paid + order.bonus;
  };

  const granted = (tenant: string, entry: Entry): void => {
    const [account, txn] = [accountOf(tenant), textIn(entry.data, 'provider_txn_id')];
    const from = orderOf(entry);
    if (from?.order.kind !== 'sale' || from.tenant !== tenant) {
      say('book', `${tenant} has the sale ${txn}, for which it did not pay`);
      return;
    }
    const credits = creditsOfSale(from.order, entry.data);
    differs(`credits of the sale ${txn}`, credits, entry.data['credits']);
    account.balance += credits;
    account.sales.set(txn, { left: credits });
    if (from.order.gross !== undefined) account.feesDue.add(textIn(entry.data, 'grant_id'));
    if (account.plan === 'free') account.plan = 'paid';
  };

  /** The fee is told once, of a sale that says what was paid. */
  const toldLater = (tenant: string, { data }: Entry): void => {
    const [account, grant] = [accountOf(tenant), textIn(data, 'grant_id')];
    if (!account.feesDue.delete(grant))
      say('book', `the fee of ${grant} of ${tenant} is told of no sale, or twice`);
    differs(`facts of ${grant}`, JSON.stringify({ provider_fee_minor: 1 }), JSON.stringify(data['details']));
  };

  /** A dispute takes what is there of its sale. */
  const disputed = (tenant: string, { data }: Entry): void => {
    const [account, txn] = [accountOf(tenant), textIn(data, 'provider_txn_id')];
    const sale = account.sales.get(txn.slice('dp-'.length));
    const credits = Math.min(sale?.left ?? Number.NaN, Math.max(0, account.balance - account.held));
    differs(`credits of the dispute ${txn}`, credits, data['credits']);
    if (account.keys.has(txn)) say('book', `the dispute ${txn} of ${tenant} was opened twice`);
    account.keys.add(txn);
    if (sale !== undefined) sale.left -= credits;
    account.balance -= credits;
    account.refunds.set(txn, credits);
  };

  /** It ends once, by what was taken coming back or not, and its fee is told then. */
  const disputeEnded = (tenant: string, { data }: Entry): void => {
    const [account, txn] = [accountOf(tenant), textIn(data, 'provider_txn_id')];
    if (account.keys.has(`end ${txn}`)) say('book', `the dispute ${txn} of ${tenant} ended twice`);
    account.keys.add(`end ${txn}`);
    differs(`fee of the dispute ${txn}`, 15, data['fee_minor']);
    const kept = account.refunds.get(txn);
    // Nothing comes back of a dispute that found nothing.
    const end = kept === 0 ? data['status'] : kept === undefined ? 'won' : 'lost';
    differs(`end of the dispute ${txn}`, end, data['status']);
  };

  const refunded = (tenant: string, entry: Entry): void => {
    const { data } = entry;
    if (data['dispute'] !== undefined) {
      disputed(tenant, entry);
      return;
    }
    const [account, txn] = [accountOf(tenant), textIn(data, 'provider_txn_id')];
    const sale = account.sales.get(txn.slice('re-'.length));
    const from = orderOf(entry);
    const credits = from?.order.kind === 'sale' ? Math.floor(from.order.credits / 2) : Number.NaN;
    differs(`credits of the refund ${txn}`, credits, data['credits']);
    if (sale === undefined || credits > sale.left || account.keys.has(txn))
      say('book', `the refund ${txn} of ${tenant} gives back what was not paid`);
    account.keys.add(txn);
    if (sale !== undefined) sale.left -= credits;
    account.balance -= credits;
    account.refunds.set(txn, credits);
    if (credits > 0) solvent(`the refund ${txn} of ${tenant}`, account);
  };

  /** A refund is undone whole, once, and its credits can be refunded again. */
  const reversed = (tenant: string, { data }: Entry): void => {
    const [account, txn] = [accountOf(tenant), textIn(data, 'provider_txn_id')];
    const key = txn.slice('un-'.length);
    const refund = data['dispute'] === true ? txn : `re-${key}`;
    const [credits, sale] = [account.refunds.get(refund), account.sales.get(key)];
    if (credits === undefined || sale === undefined) {
      say('book', `the reversal ${txn} of ${tenant} undoes no refund`);
      return;
    }
    differs(`credits of the reversal ${txn}`, credits, data['credits']);
    account.refunds.delete(refund);
    sale.left += credits;
    account.balance += credits;
  };

  const adjusted = (tenant: string, entry: Entry): void => {
    const [account, key] = [accountOf(tenant), textIn(entry.data, 'idempotency_key')];
    const from = orderOf(entry);
    const credits = from?.order.kind === 'adjustment' ? from.order.credits : numberIn(entry.data, 'credits');
    if (account.keys.has(key)) say('book', `the adjustment ${key} of ${tenant} was made twice`);
    account.keys.add(key);
    differs(`credits of the adjustment ${key}`, credits, entry.data['credits']);
    account.balance += credits;
    if (credits < 0) solvent(`the adjustment ${key} of ${tenant}`, account);
  };

  /** Credits leave once for what was asked, and never more than are there. */
  const sent = (tenant: string, entry: Entry): void => {
    const { data } = entry;
    const [account, key, id] = [
      accountOf(tenant),
      textIn(data, 'idempotency_key'),
      textIn(data, 'transfer_id'),
    ];
    const order = orderOf(entry)?.order;
    if (order?.kind !== 'transfer') say('book', `the transfer ${key} of ${tenant} was not asked for`);
    else differs(`receiver of the transfer ${key}`, order.to, data['to_tenant_id']);
    const credits = order?.kind === 'transfer' ? order.credits : numberIn(data, 'credits');
    differs(`credits of the transfer ${key}`, credits, data['credits']);
    if (account.keys.has(`sent ${key}`)) say('book', `the transfer ${key} of ${tenant} was made twice`);
    account.keys.add(`sent ${key}`);
    account.balance -= credits;
    solvent(`the transfer ${key} of ${tenant}`, account);
    between.set(id, { from: tenant, to: textIn(data, 'to_tenant_id'), credits });
  };

  /** What left one account arrives in the other. */
  const received = (tenant: string, { data }: Entry): void => {
    const id = textIn(data, 'transfer_id');
    const transfer = between.get(id);
    between.delete(id);
    if (transfer === undefined) {
      say('book', `the transfer ${id} arrives at ${tenant} and is not on its way`);
      return;
    }
    differs(`receiver of ${id}`, transfer.to, tenant);
    differs(`sender of ${id}`, transfer.from, data['from_tenant_id']);
    differs(`credits of ${id}`, transfer.credits, data['credits']);
    accountOf(tenant).balance += transfer.credits;
  };

  const moves: Readonly<Record<string, (tenant: string, entry: Entry) => unknown>> = {
    PlanSet: (tenant, { data }) => (accountOf(tenant).plan = textIn(data, 'plan') as PlanName),
    CreditsHeld: held,
    HoldReleased: (tenant, { data }) => closed(tenant, textIn(data, 'hold_id')),
    CreditsBurned: burned,
    CreditsGranted: granted,
    SaleDetailsAdded: toldLater,
    CreditsRefunded: refunded,
    RefundReversed: reversed,
    DisputeChanged: disputeEnded,
    CreditsTransferredOut: sent,
    CreditsTransferredIn: received,
    CreditsAdjusted: adjusted,
  };

  const standing = (tenant: string): Standing => {
    const { balance, held: own, freeUsed, freeHeld } = accountOf(tenant);
    return { balance, held: own, freeUsed, freeHeld };
  };

  return {
    /** Books an event; gives the tenant whose account it is of. */
    see: (entry: Entry): string | undefined => {
      const { stream, type, data } = entry;
      market.see(entry);
      if (type === 'PaymentClaimed')
        claimedAt.set(textIn(data, 'provider_txn_id'), Date.parse(textIn(data, 'claimed_at')));
      const tenant = stream.startsWith('account-') ? stream.slice('account-'.length) : undefined;
      if (tenant === undefined) return undefined;
      moves[type]?.(tenant, entry);
      if (data['balance_after'] !== undefined)
        differs(`the balance of ${tenant} after ${type}`, standing(tenant).balance, data['balance_after']);
      return tenant;
    },
    tenants: (): readonly string[] => [...accounts.keys()],
    standing,
    /** Compares with what the service says of an account. */
    compare: (where: string, tenant: string, is: Standing): void => {
      const due = standing(tenant);
      for (const name of ['balance', 'held', 'freeUsed', 'freeHeld'] as const)
        differs(`${name} of ${tenant}, ${where}`, due[name], is[name]);
    },
    /** Credits that were paid for all work. */
    burned: (): number => [...paid.values()].reduce((sum, { credits }) => sum + credits, 0),
    /** Credits that were paid for all work under a tag, by `<tenant> <name>:<value>`. */
    byTag: (): ReadonlyMap<string, number> => byTag,
    /** What was paid for a piece of work. */
    paidFor: (operation: string): Paid | undefined => paid.get(operation),
  };
};
