import { placedToken, tokenParts } from '../../domain/eventLog/writtenText.ts';
import { attemptName } from '../../domain/topUp.ts';
import type { AuditedEvent, AuditedEventOf } from './auditedEvent.ts';
import { wrong } from './findings.ts';
import type { Books } from './rules.ts';

type Consent = AuditedEventOf<'TopUpSet'>;
type Attempt = AuditedEventOf<'TopUpTried'>;
type Say = ReturnType<typeof wrong>;

const SETTINGS = [
  'active',
  'threshold_credits',
  'credits',
  'currency',
  'monthly_credits_max',
  'payer',
  'payment_method',
  'consented_at',
] as const;

/** Whether a text was put into the vault after its event was written: its token says nothing of the text. */
const isPlaced = (event: Consent, path: 'payer' | 'payment_method'): boolean =>
  event.data[path] === placedToken(event, { tenantId: event.data.tenant_id, path });

/** Whether a member names another: not where an earlier release wrote text, and this one a token for it. */
const isAnother = (before: Consent, now: Consent, path: 'payer' | 'payment_method'): boolean => {
  const [earlier, later] = [before.data[path], now.data[path]];
  if (earlier === later || isPlaced(before, path) || isPlaced(now, path)) return false;
  return tokenParts(earlier) !== undefined || tokenParts(later) === undefined;
};

/** What only those set who answer for the payer; undefined: this is none of it. */
const reserved = (before: Consent | undefined, now: Consent): string | undefined => {
  if (before === undefined) return 'It is the first consent of the tenant';
  if (isAnother(before, now, 'payer')) return 'It names another payer';
  if (isAnother(before, now, 'payment_method')) return 'It names another way to pay';
  return now.data.active && !before.data.active ? 'It gives a consent again that was taken back' : undefined;
};

interface Actor {
  readonly role?: unknown;
  readonly key_id?: unknown;
}

/** Who gave a command, as far as the metadata say it. */
const actorOf = ({ metadata: { actor } }: AuditedEvent): Actor =>
  typeof actor === 'object' && actor !== null ? (actor as Actor) : {};

/** A tenant's consent, and what was tried last by it. */
interface TopUpBook {
  consent?: Consent;
  attempt?: Attempt | undefined;
}

/** The tenant whose sale a payment is. */
type SoldTo = (payment: {
  readonly provider: string;
  readonly provider_txn_id: string;
}) => string | undefined;

/** Payments have the time of their provider, whose clock may be this far from the service's, ms. */
const CLOCKS_APART_MS = 5 * 60_000;

const isOlder = (one: Attempt['data'], other: Attempt['data']): boolean => {
  const isOneClock = (one.provider_txn_id === null) === (other.provider_txn_id === null);
  return Date.parse(one.attempted_at) + (isOneClock ? 0 : CLOCKS_APART_MS) < Date.parse(other.attempted_at);
};

const checkConsent = (book: TopUpBook, event: Consent, say: Say): void => {
  const { data } = event;
  const { consent: before } = book;
  const { role, key_id } = actorOf(event);
  const what = role === 'admin' ? undefined : reserved(before, event);
  if (what !== undefined) say(`${what}, and no admin set it.`, 'admin', String(role));
  if (data.updated_by !== key_id) say('Another set it than it says.', String(key_id), data.updated_by);
  if (data.credits > data.monthly_credits_max)
    say('It buys more at a time than in a month.', `at most ${data.monthly_credits_max}`, data.credits);
  if (before !== undefined && SETTINGS.every((name) => before.data[name] === data[name]))
    say('It says what was set already.');
};

const isSold = ({ tenant_id, provider, provider_txn_id }: Attempt['data'], soldTo: SoldTo): boolean =>
  provider !== null && provider_txn_id !== null && soldTo({ provider, provider_txn_id }) === tenant_id;

const checkAttempt = ({ consent, attempt: before }: TopUpBook, event: Attempt, say: Say): void => {
  const { attempted_at, told_by } = event.data;
  const { role, key_id } = actorOf(event);
  if (consent === undefined) say('A top-up was tried that nobody agreed to.');
  if (role !== 'seller' && role !== 'admin')
    say('It was told by somebody who charges nobody.', 'seller', String(role));
  if (told_by !== key_id) say('Another told it than it says.', String(key_id), told_by);
  if (before === undefined) return;
  if (isOlder(event.data, before.data))
    say('It is older than the one before it.', before.data.attempted_at, attempted_at);
  if (attemptName(before.data) === attemptName(event.data)) say('It says what was told already.');
};

/** Consents to top-ups: given by those who answer for the payer, and changed by each setting; and what was tried. */
export const topUpsCheck = ({ findings }: Pick<Books, 'findings'>, soldTo: SoldTo) => {
  const books = new Map<string, TopUpBook>();
  const erased = new Map<string, string>();
  const bookOf = (stream: string): TopUpBook => {
    const book = books.get(stream) ?? {};
    books.set(stream, book);
    return book;
  };
  const agreed = (book: TopUpBook, event: Consent, say: Say): void => {
    checkConsent(book, event, say);
    book.consent = event;
    // What was tried by the former consent says nothing of this one.
    book.attempt = undefined;
  };
  const tried = (book: TopUpBook, event: Attempt, say: Say): void => {
    const isForgotten = (book.attempt?.data.told_at ?? '') <= (erased.get(event.data.tenant_id) ?? '');
    if (isForgotten) book.attempt = undefined;
    if (event.data.outcome === 'charged' && !isSold(event.data, soldTo))
      say('It says that credits were bought, and no such sale of the tenant is before it.');
    checkAttempt(book, event, say);
    book.attempt = event;
  };
  return (event: AuditedEvent): void => {
    if (event.type === 'TenantErased') erased.set(event.data.tenant_id, event.data.erased_at);
    if (event.type !== 'TopUpSet' && event.type !== 'TopUpTried') return;
    findings.checked('consent');
    const book = bookOf(event.stream);
    const say = wrong(findings, 'consent', event);
    if (event.type === 'TopUpTried') tried(book, event, say);
    else agreed(book, event, say);
  };
};
