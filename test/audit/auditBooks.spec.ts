import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { booksEvent, type BooksEvent, type BooksEventOf, digestOfClosing } from '../../domain/books.ts';
import { categoryOfStream } from '../../domain/catalogue.ts';
import { CHAIN_START } from '../../domain/kernel/chain.ts';
import { eventCodec } from '../../domain/kernel/codec.ts';
import { laterBy } from '../../domain/kernel/amounts.ts';
import type { EventFeed, RecordedEvent } from '../../domain/ports/log.ts';
import { runAudit } from '../../src/audit/runAudit.ts';
import { everything } from '../../src/audit/streams.ts';
import { encodeEvents } from '../../src/writer/append.ts';
import { startApi } from '../http/support/testApi.ts';

const DAY_MS = 86_400_000;
const codec = eventCodec(booksEvent);

const feedOf = (events: readonly RecordedEvent[]): Pick<EventFeed, 'subscribe'> => ({
  subscribe: async function* ({ categories }) {
    for (const event of events) {
      await Promise.resolve();
      if (categories?.includes(categoryOfStream(event.stream)) !== false)
        yield { kind: 'event' as const, event };
    }
    yield { kind: 'caught_up' as const };
  },
});

/** What an intruder makes of an event of the books: nothing, itself, another, or several. */
type Edit = (event: BooksEvent, at: number) => readonly BooksEvent[];

/** The log with its books edited, and their chain made to match. */
const forged = (events: readonly RecordedEvent[], edit: Edit): readonly RecordedEvent[] => {
  let [link, at] = [CHAIN_START, 0];
  return events.flatMap((recorded) => {
    if (recorded.stream !== 'books') return [recorded];
    const { actor, correlation_id, causation_id, recorded_at } = recorded.metadata as Record<string, string>;
    const made = edit(codec.decode(recorded), at);
    at += 1;
    return made.map((event, index) => {
      const meta = {
        now: recorded_at!,
        correlation_id: correlation_id!,
        command_id: `${causation_id!}${String(index)}`,
        actor: actor as unknown as { key_id: string; role: 'admin' },
      };
      const encoded = encodeEvents(
        { stream: 'books', tenantId: null, codec },
        { events: [event], meta },
        link,
      );
      const revision = link.nextRevision;
      link = encoded.link;
      return { ...encoded.events[0]!, stream: 'books', revision, position: recorded.position };
    });
  });
};

/** The closing at a place of the books with other members, and the digest of these. */
const closed =
  (
    change: (data: BooksEventOf<'MonthClosed'>['data']) => Partial<BooksEventOf<'MonthClosed'>['data']>,
  ): Edit =>
  (event) => {
    if (event.type !== 'MonthClosed') return [event];
    const data = { ...event.data, ...change(event.data) };
    return [{ ...event, data: { ...data, digest: digestOfClosing(data) } }];
  };

const figures = (change: (of: BooksEventOf<'MonthClosed'>['data']['figures']) => object): Edit =>
  closed((data) => ({ figures: { ...data.figures, ...change(data.figures) } }));

const at =
  (place: number, edit: (event: BooksEvent) => readonly BooksEvent[]): Edit =>
  (event, index) =>
    index === place ? edit(event) : [event];

const changed = (event: BooksEvent, members: object): BooksEvent =>
  ({ ...event, data: { ...event.data, ...members } }) as BooksEvent;

/** Each forgery of the books, where the audit finds it, and by which words. The books: see `before`. */
const FORGERIES: readonly (readonly [name: string, edit: Edit, message: RegExp])[] = [
  [
    'a figure of a currency',
    figures(({ by_currency }) => ({
      by_currency: by_currency.map((one) => ({ ...one, sums: { ...one.sums, net: '1' } })),
    })),
    /The figures of .* are not those of the log: USD net\./,
  ],
  [
    'a figure left out',
    figures(({ by_currency }) => ({
      by_currency: by_currency.map(({ sums: { fee: _, ...sums }, ...one }) => ({ ...one, sums })),
    })),
    /not those of the log: USD fee\./,
  ],
  [
    'deferred revenue',
    figures(({ by_currency }) => ({ by_currency: by_currency.map((one) => ({ ...one, deferred: '7' })) })),
    /not those of the log: USD deferred\./,
  ],
  ['a currency left out', figures(() => ({ by_currency: [] })), /not those of the log: USD/],
  [
    'model costs',
    figures(({ costs }) => ({ costs: { ...costs, billed_pico_usd: '5' } })),
    /not those of the log: billed_pico_usd\./,
  ],
  [
    'late model costs',
    figures(({ costs }) => ({ costs: { ...costs, late: { ...costs.late, billed_pico_usd: '5' } } })),
    /not those of the log: late billed_pico_usd\./,
  ],
  [
    'the digest',
    (event) => [event.type === 'MonthClosed' ? changed(event, { digest: 'a'.repeat(64) }) : event],
    /The digest is not that of its figures/,
  ],
  ['the position', closed(() => ({ position: '3' })), /was cut off at another position/],
  ['the number of a closing', at(0, (event) => [changed(event, { closing: 7 })]), /numbered without a gap/],
  [
    'when the books open',
    at(0, (event) => [changed(event, { opens_at: '2026-01-01T00:00:00.000Z' })]),
    /opens the books at another time than the end of/,
  ],
  [
    'when a month was closed',
    at(0, (event) => [changed(event, { cut_off_at: '2020-01-01T00:00:00.000Z' })]),
    /closed before it was over/,
  ],
  ['a closing written twice', at(1, (event) => [event, event]), /It closes .*, and it is closed\./],
  ['a line taken out', at(0, () => []), /It closes .*, and it is not cut off\./],
  ['figures taken out', at(1, () => []), /has no figures, and the next month is closed/],
  ['a re-opening taken out', at(4, () => []), /Months are closed in order, and this is not the next one/],
  [
    'a re-opening of another month',
    at(4, (event) => [changed(event, { month: '2020-01' })]),
    /opens a month that is not the one that was closed last/,
  ],
  [
    'a re-opening of all months',
    at(4, (event) => [changed(event, { opens_at: null })]),
    /opens the books at another time than the last closed month ends/,
  ],
];

describe('an audit of closed months', () => {
  let events: readonly RecordedEvent[];
  const audited = async (log: readonly RecordedEvent[]) =>
    (await runAudit({ feed: feedOf(log), dense: false, keep: 100 })).report;

  before(async () => {
    const api = await startApi();
    const now = () => api.deps.clock.now();
    const close = async (): Promise<void> => {
      const month = now().slice(0, 7);
      const end = laterBy(`${month}-28T00:00:00.000Z`, 5 * DAY_MS).slice(0, 7);
      api.wait(Date.parse(`${end}-01T00:00:00.000Z`) + 60_000 - Date.parse(now()));
      const { status } = await api.call('post', `/v1/admin/books/months/${month}/close`);
      expect(status).to.equal(200);
    };
    const use = (key: string) =>
      api.call('post', '/v1/billing/dspy-examples-charge', {
        json: { tenant_id: 't', idempotency_key: key },
      });
    await api.sell('t', 20_000);
    await use('a');
    await api.call('post', '/v1/internal/llm-cost', {
      json: {
        tenant_id: 't',
        job_id: randomUUID(),
        operation: 'extract',
        provider: 'openai',
        model_name: 'm',
        input_tokens: 1_000,
        output_tokens: 10,
        cost_usd: '0.5',
      },
    });
    await close();
    api.wait(-4 * 60_000);
    await api.sell('u', 1_000);
    api.wait(4 * 60_000);
    await use('b');
    const second = now().slice(0, 7);
    await close();
    await api.call('post', `/v1/admin/books/months/${second}/reopen`, { json: { reason: 'a wrong rate' } });
    await use('c');
    api.wait(-10 * 60_000);
    await close();
    const all: RecordedEvent[] = [];
    for await (const { stored: _, ...event } of everything(api.log)) all.push({ ...event });
    events = all;
    await api.stop();
  });

  it('finds nothing where months were closed, opened again, and closed', async () => {
    const { total, notes, checks } = await audited(events);
    expect(total).to.equal(0);
    expect(checks.find(({ check }) => check === 'books')?.checked).to.equal(7);
    expect(notes.join(' ')).to.match(
      /1 event of \d{4}-\d\d or before came after it was closed.*account-u revision/,
    );
  });

  it('finds nothing in books whose chain was made anew, unedited', async () => {
    expect((await audited(forged(events, (event) => [event]))).total).to.equal(0);
  });

  for (const [name, edit, message] of FORGERIES)
    it(`names a forgery: ${name}`, async () => {
      const { findings } = await audited(forged(events, edit));
      const said = findings.filter(({ check }) => check === 'books').map(({ message: text }) => text);
      expect(said.join('\n')).to.match(message);
    });

  it('names a sale that was taken out of a closed month with all that followed from it', async () => {
    const { findings } = await audited(events.filter(({ stream }) => stream !== 'account-t'));
    expect(findings.some(({ check }) => check === 'books')).to.equal(true);
  });
});
