import { expect } from 'chai';
import fc from 'fast-check';
import {
  bookedAt,
  bookedBy,
  books,
  type BooksKind,
  digestOfClosing,
  monthAfter,
  monthBounds,
  type MonthFigures,
} from '../../domain/books.ts';
import { after, specFor } from '../support/specFor.ts';

const { given } = specFor(books);
const FIGURES: MonthFigures = {
  by_currency: [],
  costs: {
    billed_pico_usd: '0',
    free_tier_pico_usd: '0',
    unpriced_calls: 0,
    late: { billed_pico_usd: '0', free_tier_pico_usd: '0' },
  },
};

const metaAt = (now: string) =>
  ({ now, actor: { key_id: 'k', role: 'admin' }, correlation_id: 'r', command_id: 'c' }) as const;
const cutOff = (month: string, now = '2026-06-01T00:00:00.000Z') =>
  ({ type: 'CutOffMonth', data: { month }, meta: metaAt(now) }) as const;
const close = (month: string, closing: number) =>
  ({
    type: 'CloseMonth',
    data: { closing, month, position: '7', figures: FIGURES },
    meta: metaAt('2026-06-01T00:00:00.000Z'),
  }) as const;
const reopen = (month: string) =>
  ({
    type: 'ReopenMonth',
    data: { month, reason: 'why' },
    meta: metaAt('2026-06-02T00:00:00.000Z'),
  }) as const;

const stateAfter = (...past: readonly BooksKind['command'][]) => after(books, past);
const decided = (past: readonly BooksKind['command'][], command: BooksKind['command']) =>
  books.decide(stateAfter(...past), command);
const CLOSED = [cutOff('2026-03'), close('2026-03', 1)];

describe('the books', () => {
  it('draw a line under a month that is over, and open at the next one', () => {
    given()
      .when(cutOff('2025-12', '2026-01-01T00:00:00.000Z'))
      .then([
        'MonthCutOff',
        {
          closing: 1,
          month: '2025-12',
          opens_at: '2026-01-01T00:00:00.000Z',
          cut_off_at: '2026-01-01T00:00:00.000Z',
          cut_off_by: 'k',
        },
      ]);
    expect(decided([], cutOff('2025-12', '2025-12-31T23:59:59.999Z'))).to.deep.equal({
      kind: 'rejected',
      rejection: { code: 'month_not_closable', why: 'not_over', next_month: null },
    });
  });

  it('close months in order, each once, and only after the one before it has its figures', () => {
    const why = (past: readonly BooksKind['command'][], month: string) => {
      const decision = decided(past, cutOff(month));
      return decision.kind === 'rejected' ? decision.rejection.why : decision.events.length;
    };
    expect(why(CLOSED, '2026-04')).to.equal(1);
    expect(why(CLOSED, '2026-05')).to.equal('not_next');
    expect(why(CLOSED, '2026-02')).to.equal('before_first');
    expect(why(CLOSED, '2026-03')).to.equal(0);
    expect(why([cutOff('2026-03')], '2026-04')).to.equal('not_next');
    expect(why([cutOff('2026-03')], '2026-03')).to.equal(0);
  });

  it('write the figures of a line once, and none of a line that was taken back', () => {
    expect(decided(CLOSED, close('2026-03', 1))).to.deep.equal({ kind: 'accepted', events: [] });
    const again = [cutOff('2026-03'), reopen('2026-03'), cutOff('2026-03')];
    expect(decided(again, close('2026-03', 1))).to.deep.include({
      rejection: { code: 'month_not_closable', why: 'superseded', next_month: '2026-03' },
    });
    expect(decided(again, close('2026-03', 2)).kind).to.equal('accepted');
    expect(stateAfter(...again).closings).to.equal(2);
  });

  it('open the last closed month again, and no other', () => {
    const two = [...CLOSED, cutOff('2026-04'), close('2026-04', 2)];
    const opens = (past: readonly BooksKind['command'][], month: string) => {
      const decision = decided(past, reopen(month));
      if (decision.kind === 'rejected') return decision.rejection;
      return decision.events.map(({ data }) => ('opens_at' in data ? data.opens_at : ''));
    };
    expect(opens(two, '2026-04')).to.deep.equal(['2026-04-01T00:00:00.000Z']);
    expect(opens(CLOSED, '2026-03')).to.deep.equal([null]);
    expect(opens(two, '2026-03')).to.include({ why: 'not_last', last_month: '2026-04' });
    expect(opens(two, '2026-02')).to.include({ why: 'not_closed' });
    expect(opens([], '2026-02')).to.include({ why: 'not_closed', last_month: null });
  });

  it('know the ends of every month', () => {
    expect(monthAfter('2026-12')).to.equal('2027-01-01T00:00:00.000Z');
    expect(monthAfter('0999-09')).to.equal('0999-10-01T00:00:00.000Z');
    expect(monthBounds('2028-02')).to.deep.equal({
      from: '2028-02-01T00:00:00.000Z',
      to: '2028-02-29T23:59:59.999Z',
    });
  });

  it('bind figures, month, number and place by the digest', () => {
    const said = { closing: 1, month: '2026-03', position: '7', figures: FIGURES };
    const digest = digestOfClosing(said);
    for (const change of [{ closing: 2 }, { month: '2026-04' }, { position: '8' }])
      expect(digestOfClosing({ ...said, ...change })).not.to.equal(digest);
    const costs = { ...FIGURES.costs, unpriced_calls: 1 };
    expect(digestOfClosing({ ...said, figures: { ...FIGURES, costs } })).not.to.equal(digest);
  });
});

describe('the booking date', () => {
  const times = fc.date({ min: new Date('2026-01-01'), max: new Date('2026-12-31'), noInvalidDate: true });

  it('is the time of the event, or the first open instant: never in a closed month, never earlier', () => {
    fc.assert(
      fc.property(times, times, (time, opens) => {
        const [at, opensAt] = [time.toISOString(), opens.toISOString()];
        const booked = bookedAt(at, opensAt);
        expect(booked >= at && booked >= opensAt).to.equal(true);
        expect([at, opensAt]).to.include(booked);
        expect(bookedAt(at, '')).to.equal(at);
      }),
    );
  });

  it('depends on closings before it in the log alone', () => {
    const openings = [
      { position: 10n, opensAt: '2026-04-01T00:00:00.000Z' },
      { position: 20n, opensAt: '' },
    ];
    const march = '2026-03-31T23:59:00.000Z';
    expect([5n, 10n, 11n, 20n, 21n].map((position) => bookedBy(openings, position, march))).to.deep.equal([
      march,
      march,
      '2026-04-01T00:00:00.000Z',
      '2026-04-01T00:00:00.000Z',
      march,
    ]);
  });
});
