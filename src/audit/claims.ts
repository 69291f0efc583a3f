import type { Json, JsonObject } from '../../domain/kernel/json.ts';
import { canonicalJson, HASH_VERSION, hashVersionOf } from '../../domain/kernel/chain.ts';
import { accountOf, type AuditedEvent, type AuditedEventOf, byType, recordedAt } from './auditedEvent.ts';
import { type Place, placeOf, wrong } from './findings.ts';
import { tokenParts } from '../../domain/eventLog/writtenText.ts';
import type { Books } from './rules.ts';
import { paymentKey, paymentStream } from '../../domain/account/messages.ts';

type Effect = AuditedEventOf<'CreditsGranted' | 'CreditsRefunded' | 'RefundReversed'>;
type Claimed = AuditedEventOf<'PaymentClaimed'>;

/** What a payment was claimed for, as far as the claim says it. */
interface Intent {
  readonly type: string;
  readonly data: JsonObject;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The command that a claim keeps; undefined where it keeps none, as earlier releases could. */
const intentOf = ({ data }: Claimed): Intent | undefined => {
  const { type, data: members } = data.intent as Readonly<Record<string, unknown>>;
  return typeof type === 'string' && isObject(members) ? { type, data: members } : undefined;
};

/** Members of a command that name the payment it is about; the event has its ID instead. */
const ORIGINAL = ['original_provider', 'original_provider_txn_id', 'refund_provider_txn_id'];

const COMMANDS = {
  CreditsGranted: 'GrantCredits',
  CreditsRefunded: 'RefundCredits',
  RefundReversed: 'ReverseRefund',
} as const;

/** A member in which an effect is not what was claimed. */
interface Difference {
  readonly member: string;
  readonly claimed: string;
  readonly found: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : canonicalJson(value as Json));

/** Null members follow from the sale, or from the refund of a reversal. `grantOf` gives the grant of a payment. */
const expectedOf = (
  event: Effect,
  { data }: Intent,
  grantOf: (payment: { readonly provider: string; readonly provider_txn_id: string }) => string | undefined,
): Readonly<Record<string, unknown>> => {
  const { original_provider, original_provider_txn_id, ...members } = data;
  const { tenant_id: _, ...said } = members;
  if (event.type === 'CreditsGranted') return said;
  const stated = Object.entries(said).filter(([, value]) => value !== null);
  // A reversal names its refund by the ID too; the account's rules look for that and for its sale.
  if (event.type === 'RefundReversed')
    return { ...Object.fromEntries(stated), reason: said['reason'] ?? null };
  const grant_id = grantOf({
    provider: text(original_provider),
    provider_txn_id: text(original_provider_txn_id),
  });
  // A dispute that is won before anybody told of it takes nothing back, whatever it was about.
  const isWon = event.data.dispute?.status === 'won';
  const taken = isWon && { credits: 0, gross_amount_minor: 0 };
  // A reason that was not given stays null, it does not follow from the sale.
  return { ...Object.fromEntries(stated), ...taken, reason: said['reason'] ?? null, grant_id };
};

/** Members that a sale has and its claim has not, but those that follow when it is appended. */
const addedTo = ({ type, data }: Effect, intent: Intent): Readonly<Record<string, unknown>> => {
  if (type !== 'CreditsGranted') return {};
  const { created_at: _, balance_after: __, ...members } = data;
  return Object.fromEntries(Object.entries(members).filter(([member]) => !(member in intent.data)));
};

/**
 * The digest of text beside the log depends on the key at that time: a claim from before the vault, or from before its
 * tenant was erased, has another form of it than its effect.
 */
const isWritten = ({ claimed, found }: Difference): boolean =>
  tokenParts(claimed) !== undefined || tokenParts(found) !== undefined;

/** In what an effect differs from the command it was claimed for; empty: in nothing. */
const differencesFrom = (
  event: Effect,
  intent: Intent,
  grantOf: Parameters<typeof expectedOf>[2],
): readonly Difference[] => {
  if (intent.type !== COMMANDS[event.type])
    return [{ member: 'command', claimed: intent.type, found: COMMANDS[event.type] }];
  const actual = event.data as Readonly<Record<string, unknown>>;
  const tenant = {
    member: 'tenant_id',
    claimed: text(intent.data['tenant_id']),
    found: accountOf(event.stream) ?? '',
  };
  const expected = expectedOf(event, intent, grantOf);
  const members = [...new Set([...Object.keys(expected), ...Object.keys(addedTo(event, intent))])].map(
    (member) => ({
      member,
      claimed: text(expected[member] ?? null),
      found: text(actual[member] ?? null),
    }),
  );
  return [tenant, ...members].filter(
    (one) => one.claimed !== one.found && !ORIGINAL.includes(one.member) && !isWritten(one),
  );
};

/** How long after its recording a movement may say that it was made, where its release did not say both alike. */
const LEASE_MS = 5 * 60_000;

/** The time at which a command was given, as an event of an account repeats it. */
const givenAt = (event: AuditedEvent): string | undefined => {
  if (accountOf(event.stream) === undefined) return undefined;
  const { data } = event;
  if ('created_at' in data) return data.created_at;
  if ('set_at' in data) return data.set_at;
  return 'released_at' in data ? data.released_at : undefined;
};

/**
 * A movement says when it was made: that is when it was recorded. Since hash version 2 the two are one time;
 * before, up to the lease apart.
 */
export const checkMoment = (books: Pick<Books, 'findings'>, event: AuditedEvent): void => {
  const at = givenAt(event);
  if (at === undefined) return;
  books.findings.checked('time');
  const recorded = recordedAt(event);
  if (at === recorded) return;
  const apart = Math.abs(Date.parse(at) - Date.parse(recorded));
  if (apart <= (hashVersionOf(event) === 1 ? LEASE_MS : 0)) return;
  wrong(books.findings, 'time', event)('It was recorded at another time than it was made.', recorded, at);
};

type Kind = Claimed['data']['kind'];

interface Claim {
  readonly tenant_id: string;
  readonly kind: Kind;
  readonly fingerprint: string;
  readonly claimed_at: string;
  readonly place: Place;
}

/** One payment: which claim holds it, and its outcome. */
interface PaymentBook {
  claim: Claim | null;
  effect: Pick<Claim, 'tenant_id' | 'kind' | 'fingerprint' | 'place'> | null;
  /** Grant of a sale that took effect. */
  grant_id: string | undefined;
  /** When it was claimed first. */
  first_at: string;
  /** What it was claimed for, each time; forgotten once the effect is one of them. */
  intents: (Intent | undefined)[];
  /** An effect that is none of the intents so far: it may be claimed again for it. */
  unmatched: Effect | null;
}

/** A sweeper settles a claim that a crash left open within a minute or two; until then it is no finding. */
const SETTLED_WITHIN_MS = 5 * 60_000;

const isSame = (a: Pick<Claim, 'tenant_id' | 'kind' | 'fingerprint'>, b: typeof a): boolean =>
  a.tenant_id === b.tenant_id && a.kind === b.kind && a.fingerprint === b.fingerprint;

const KINDS = { CreditsGranted: 'sale', CreditsRefunded: 'refund', RefundReversed: 'reversal' } as const;
const kindOf = ({ type }: Effect): Kind => KINDS[type];

const newPayment = (): PaymentBook => ({
  claim: null,
  effect: null,
  grant_id: undefined,
  first_at: '',
  intents: [],
  unmatched: null,
});

type GrantOf = Parameters<typeof differencesFrom>[2];

/** The effect must be what some claim of its payment was made for. Earlier releases kept no such thing. */
const matchIntent = (payment: PaymentBook, event: Effect, grantOf: GrantOf): void => {
  const matches = payment.intents.some(
    (intent) => intent !== undefined && differencesFrom(event, intent, grantOf).length === 0,
  );
  payment.unmatched = matches ? null : event;
  if (matches) payment.intents = [];
};

/** Reports an effect that no claim was made for, by the members in which it differs from the last one. */
const tellUnmatched = (books: Books, { unmatched: event, intents }: PaymentBook, grantOf: GrantOf): void => {
  if (event === null || intents.length === 0) return;
  const intent = intents.at(-1);
  const say = wrong(books.findings, 'claim', event);
  if (intent === undefined) {
    if (hashVersionOf(event) === HASH_VERSION) say('Its claim does not say which command it was made for.');
    return;
  }
  for (const { member, claimed, found } of differencesFrom(event, intent, grantOf))
    say(`Its ${member} differs from the claim.`, claimed, found);
};

const checkStream = (
  { findings }: Books,
  event: AuditedEventOf<'PaymentClaimed' | 'PaymentReleased'>,
): void => {
  const due = paymentStream(event.data);
  if (due !== event.stream)
    wrong(findings, 'owner', event)('It is in the stream of another payment.', due, event.stream);
};

/** A claim that an effect is checked against may have been freed and taken again around it. */
const claimed = (books: Books, payment: PaymentBook, event: AuditedEventOf<'PaymentClaimed'>): void => {
  const { tenant_id, kind, fingerprint, claimed_at } = event.data;
  const claim = { tenant_id, kind, fingerprint, claimed_at, place: placeOf(event) };
  books.findings.checked('claim');
  if (payment.claim !== null && !isSame(payment.claim, claim))
    wrong(books.findings, 'identity', event)(
      `The payment is claimed by ${tenant_id} while ${payment.claim.tenant_id} holds it.`,
      payment.claim.tenant_id,
      tenant_id,
    );
  payment.claim = claim;
  if (payment.first_at === '' || claimed_at < payment.first_at) payment.first_at = claimed_at;
  if (payment.effect === null || payment.unmatched !== null) payment.intents.push(intentOf(event));
};

/** Clocks of two processes may differ by so much. */
const CLOCK_SKEW_MS = 5_000;

const checkAfterClaim = (books: Books, { first_at }: PaymentBook, event: Effect): void => {
  const { created_at } = event.data;
  if (first_at === '' || Date.parse(created_at) >= Date.parse(first_at) - CLOCK_SKEW_MS) return;
  const message = 'It was made before its payment was claimed.';
  wrong(books.findings, 'time', event)(message, `at ${first_at} or later`, created_at);
};

const tookEffect = (books: Books, payment: PaymentBook, event: Effect): void => {
  const effect = {
    tenant_id: accountOf(event.stream) ?? '',
    kind: kindOf(event),
    fingerprint: event.data.fingerprint,
    place: placeOf(event),
  };
  books.findings.checked('identity');
  const { provider, provider_txn_id } = event.data;
  if (payment.effect !== null)
    wrong(
      books.findings,
      'identity',
      event,
    )(
      `Payment ${provider_txn_id} of ${provider} took effect twice: ` +
        `before at ${payment.effect.place.stream} revision ${payment.effect.place.revision}.`,
    );
  else payment.effect = effect;
  if (event.type === 'CreditsGranted') payment.grant_id = event.data.grant_id;
  checkAfterClaim(books, payment, event);
  // One that was claimed and freed may be claimed again after its effect; in the end the claim has to stand.
  if (payment.first_at === '')
    wrong(
      books.findings,
      'claim',
      event,
    )(`Payment ${provider_txn_id} of ${provider} took effect without a claim.`);
};

/** Reports claims that an operator gave up: an accountant has to know of them. */
const noteOperator = ({ findings }: Books, { data, metadata }: AuditedEventOf<'PaymentReleased'>): void => {
  if (data.released_by !== 'operator') return;
  const { provider, provider_txn_id, released_at, reason } = data;
  const by = (metadata as { readonly actor?: { readonly key_id?: string } }).actor?.key_id ?? 'unnamed';
  findings.note(
    `An operator (${by}) gave up payment ${provider_txn_id} of ${provider} at ${released_at}: ${reason}`,
  );
};

/** In the end the claim that holds a payment's identity and the one with its effect must be the same. */
const settled = ({ findings }: Books, { claim, effect }: PaymentBook, openSince: string): void => {
  if (effect !== null && claim !== null && !isSame(effect, claim))
    wrong(findings, 'claim', effect.place)(
      `The ${effect.kind} of ${effect.tenant_id} does not match the claim of its payment.`,
      `${claim.kind} of ${claim.tenant_id}`,
      `${effect.kind} of ${effect.tenant_id}`,
    );
  if (effect !== null || claim === null) return;
  const text = `The ${claim.kind} that ${claim.tenant_id} claimed at ${claim.claimed_at} has no effect`;
  if (claim.claimed_at >= openSince)
    findings.note(`${text} yet (${claim.place.stream}); the service settles it.`);
  else wrong(findings, 'claim', claim.place)(`${text}, and was not released.`);
};

/** All payments, by what names them; each look brings streams of different tenants together. */
const paymentBooks = ({ touch }: Pick<Books, 'touch'>) => {
  const payments = new Map<string, PaymentBook>();
  const known = (identity: Parameters<GrantOf>[0]): PaymentBook | undefined => {
    const key = paymentKey(identity);
    touch(`payment ${key}`);
    return payments.get(key);
  };
  return {
    all: () => payments.values(),
    paymentOf: (identity: Parameters<GrantOf>[0]): PaymentBook => {
      const payment = payments.get(paymentKey(identity)) ?? known(identity) ?? newPayment();
      payments.set(paymentKey(identity), payment);
      return payment;
    },
    grantOf: (identity: Parameters<GrantOf>[0]) => known(identity)?.grant_id,
    /** The tenant whose sale a payment is, as far as the log was read; undefined: nobody's. */
    soldTo: (identity: Parameters<GrantOf>[0]): string | undefined => {
      const payment = known(identity);
      return payment?.grant_id === undefined ? undefined : payment.effect?.tenant_id;
    },
  };
};

/** Claims against sales and refunds, across all tenants. */
export const claimsCheck = (books: Books) => {
  const { all, paymentOf, grantOf, soldTo } = paymentBooks(books);
  const effect = (event: Effect): void => {
    const payment = paymentOf(event.data);
    tookEffect(books, payment, event);
    matchIntent(payment, event, grantOf);
  };
  return {
    soldTo,
    apply: byType({
      PaymentClaimed: (event) => {
        checkStream(books, event);
        const payment = paymentOf(event.data);
        claimed(books, payment, event);
        if (payment.unmatched !== null) matchIntent(payment, payment.unmatched, grantOf);
      },
      PaymentReleased: (event) => {
        checkStream(books, event);
        noteOperator(books, event);
        paymentOf(event.data).claim = null;
      },
      CreditsGranted: effect,
      CreditsRefunded: effect,
      // A dispute that was won is news of a payment that was claimed when it was opened.
      RefundReversed: (event) => {
        if (event.data.dispute !== true) effect(event);
      },
    }),
    /** `newest`: the latest time in the log. */
    finish: (newest: string): void => {
      const openSince = newest === '' ? '' : new Date(Date.parse(newest) - SETTLED_WITHIN_MS).toISOString();
      for (const payment of all()) {
        settled(books, payment, openSince);
        tellUnmatched(books, payment, grantOf);
        if (payment.effect !== null && payment.claim === null)
          wrong(
            books.findings,
            'claim',
            payment.effect.place,
          )(`The claim of this ${payment.effect.kind} was released although it took effect, or never made.`);
      }
    },
  };
};

type Sent = AuditedEventOf<'CreditsTransferredOut'>;
type Received = AuditedEventOf<'CreditsTransferredIn'>;

/** Credits that arrived are those that were sent before, from there to here. */
const checkArrival = ({ findings }: Books, event: Received, sent: Sent | undefined): void => {
  const say = wrong(findings, 'transfer', event);
  const { transfer_id, from_tenant_id, credits } = event.data;
  const tenant = accountOf(event.stream) ?? '';
  if (sent === undefined) {
    say(`The transfer ${transfer_id} arrives at ${tenant}, and nobody sent it.`);
    return;
  }
  if (sent.data.credits !== credits)
    say(`Other credits arrive at ${tenant} than were sent.`, sent.data.credits, credits);
  if (sent.data.to_tenant_id !== tenant)
    say('It arrives at another tenant than it was sent to.', sent.data.to_tenant_id, tenant);
  if (event.data.created_at < sent.data.created_at)
    say('It arrives before it was sent.', sent.data.created_at, event.data.created_at);
  const from = accountOf(sent.stream) ?? '';
  if (from !== from_tenant_id) say('Another tenant sent it than it says.', from, from_tenant_id);
};

/** Transfers between two tenants: sent once, and received once. */
export const transfersCheck = (books: Books) => {
  const open = new Map<string, Sent>();
  const seen = new Map<string, Sent>();
  const touch = (id: string): void => {
    books.findings.checked('transfer');
    books.touch(`transfer ${id}`);
  };
  return {
    apply: byType({
      CreditsTransferredOut: (event) => {
        const { transfer_id: id } = event.data;
        touch(id);
        if (seen.has(id)) wrong(books.findings, 'transfer', event)(`The transfer ${id} was sent twice.`);
        open.set(id, event);
        seen.set(id, event);
      },
      CreditsTransferredIn: (event) => {
        const { transfer_id: id } = event.data;
        touch(id);
        const isTwice = seen.has(id) && !open.has(id);
        if (isTwice) wrong(books.findings, 'transfer', event)(`The transfer ${id} arrived twice.`);
        else checkArrival(books, event, open.get(id));
        open.delete(id);
      },
    }),
    /** `newest`: the latest time in the log. */
    finish: (newest: string): void => {
      const openSince = newest === '' ? '' : new Date(Date.parse(newest) - SETTLED_WITHIN_MS).toISOString();
      for (const event of open.values()) {
        const { credits, to_tenant_id, created_at } = event.data;
        const text = `${credits} credits of ${accountOf(event.stream) ?? ''} did not arrive at ${to_tenant_id}`;
        if (created_at >= openSince) books.findings.note(`${text} yet; the service finishes the transfer.`);
        else wrong(books.findings, 'transfer', event)(`${text}.`);
      }
    },
  };
};
