import type { AuditedEventOf } from './auditedEvent.ts';
import { wrong } from './findings.ts';
import { type AccountBook, type Books, checkTimes, LIMITS, takeOnce, type Taken } from './rules.ts';

type Say = ReturnType<typeof wrong>;
type Reversed = AuditedEventOf<'RefundReversed'>;

/** A dispute is won once, and then all of it comes back: the same decision says that it is won. */
const checkWon = (left: Taken, { data, revision }: Reversed, say: Say): void => {
  if (left.dispute?.status !== 'opened')
    say('It undoes a dispute that had ended.', 'opened', left.dispute?.status);
  if (data.credits !== left.credits || data.gross_amount_minor !== left.gross)
    say('A dispute that was won did not give all of it back.', left.credits, data.credits);
  left.wonAt = revision;
};

type News = AuditedEventOf<'DisputeChanged'>;
type Known = NonNullable<Taken['dispute']>;

/** The first end and the first fee stay, and news are new. */
const checkNews = ({ data }: News, known: Known, say: Say): void => {
  if (data.previous_status !== known.status || data.previous_fee_minor !== known.fee_minor)
    say('It does not follow what was known of the dispute.', known.status, data.previous_status);
  if (known.status !== 'opened' && data.status !== known.status)
    say('The dispute had ended.', known.status, data.status);
  if (known.fee_minor > 0 && data.fee_minor !== known.fee_minor)
    say('The fee of the dispute was known before.', known.fee_minor, data.fee_minor);
  if (data.status === known.status && data.fee_minor === known.fee_minor) say('It tells nothing new.');
};

/** What a dispute took comes back one event before it is won, and at no other time. */
const checkBack = (
  { data, revision }: News,
  refund: Taken,
  { known, say }: { known: Known; say: Say },
): void => {
  const hasLeft = refund.credits > 0 || refund.gross > 0;
  const isWonNow = data.status === 'won' && known.status === 'opened';
  const isBackNow = refund.wonAt === revision - 1n;
  if (isWonNow ? hasLeft : isBackNow)
    say('What a dispute that is won took comes back in the same decision, and only then.');
};

/** News of a dispute follow what was known of it. */
export const tellDispute = (event: News, { findings }: Books, book: AccountBook): void => {
  const { data } = event;
  findings.checked('refund');
  const say = wrong(findings, 'refund', event);
  const of = book.sales.get(data.grant_id);
  const refund = of?.refunds.get(data.refund_id);
  const known = refund?.dispute;
  if (of === undefined || refund === undefined || known === undefined) {
    say(`It tells of ${data.refund_id}, which was no dispute of ${data.grant_id}.`);
    return;
  }
  if (data.currency !== of.sale.currency)
    say('It is in another currency than its sale.', of.sale.currency, data.currency);
  checkNews(event, known, say);
  checkBack(event, refund, { known, say });
  refund.dispute = { status: data.status, fee_minor: data.fee_minor };
};

/** Gives no more back than its refund took, and to the sale that it was a refund of. */
export const reverse = (event: Reversed, books: Books, book: AccountBook): void => {
  const { data } = event;
  books.findings.checked('refund');
  checkTimes(books, event);
  takeOnce(books, event, {
    identity: `reversal ${data.reversal_id}`,
    message: `Reversal ${data.reversal_id} was made twice.`,
  });
  const say = wrong(books.findings, 'refund', event);
  const of = book.sales.get(data.grant_id);
  const left = of?.refunds.get(data.refund_id);
  if (of === undefined || left === undefined) {
    say(`It reverses ${data.refund_id}, which was no refund of ${data.grant_id}.`);
    return;
  }
  if (data.currency !== of.sale.currency)
    say('It is in another currency than its sale.', of.sale.currency, data.currency);
  if (data.vat_amount_minor > data.gross_amount_minor) say('Its VAT exceeds its amount.');
  if ((data.dispute === true) !== (left.dispute !== undefined))
    say('A dispute is undone by being won, and nothing else is.');
  else if (data.dispute === true) checkWon(left, event, say);
  for (const [sum, member, word] of LIMITS) {
    of[sum] -= data[member];
    const before = left[sum];
    left[sum] -= data[member];
    if (left[sum] < 0)
      say(`The reversals of refund ${data.refund_id} exceed its ${word}.`, `at most ${before}`, data[member]);
  }
};
