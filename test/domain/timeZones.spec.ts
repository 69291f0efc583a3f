import { expect } from 'chai';
import fc from 'fast-check';
import { dayEndIn, dayStartIn, isoWeekOf, isTimeZone, localDays } from '../../domain/kernel/timeZones.ts';
import { propertyRuns } from '../../engine/test/support/properties.ts';

const zones = Intl.supportedValuesOf('timeZone');
const [FIRST, LAST] = [Date.parse('2000-01-01'), Date.parse('2040-01-01')];
const DAY_MS = 86_400_000;

/** The day of a zone, as the platform says it. */
const dayIn = (timeZone: string, at: number): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(
    at,
  );

describe('the days of a time zone', () => {
  it('are those of Intl at every instant, and cover a time without gap or overlap', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.record({
          from: fc.integer({ min: FIRST, max: LAST }),
          length: fc.integer({ min: 0, max: 40 * DAY_MS }),
        }),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 20 }),
        (zone, { from, length }, places) => {
          const days = localDays(zone, new Date(from).toISOString(), new Date(from + length).toISOString());
          expect(Date.parse(days[0]?.from ?? '')).to.equal(from);
          expect(Date.parse(days.at(-1)?.to ?? '')).to.equal(from + length);
          for (const [at, day] of days.entries()) {
            const next = days[at + 1];
            if (next !== undefined) expect(Date.parse(next.from)).to.equal(Date.parse(day.to) + 1);
            for (const end of [day.from, day.to])
              expect(dayIn(zone, Date.parse(end)), zone).to.equal(day.day);
          }
          for (const place of places) {
            const at = from + Math.floor(length * place);
            const text = new Date(at).toISOString();
            const day = days.find((one) => one.from <= text && text <= one.to);
            expect(day?.day, `${zone} ${text}`).to.equal(dayIn(zone, at));
          }
        },
      ),
      { numRuns: propertyRuns() },
    );
  });

  it('have 23 and 25 hours when the clock is set, and may begin after midnight', () => {
    const hours = (day: string, zone: string) =>
      (Date.parse(dayEndIn(zone, day)) + 1 - Date.parse(dayStartIn(zone, day))) / 3_600_000;
    expect(hours('2026-03-29', 'Europe/Berlin')).to.equal(23);
    expect(hours('2026-10-25', 'Europe/Berlin')).to.equal(25);
    expect(hours('2026-07-01', 'Europe/Berlin')).to.equal(24);
    expect(dayStartIn('Europe/Berlin', '2026-07-01')).to.equal('2026-06-30T22:00:00.000Z');
    // In Beirut the clock goes from midnight to one.
    expect(dayStartIn('Asia/Beirut', '2025-03-30')).to.equal('2025-03-29T22:00:00.000Z');
    expect(dayStartIn('Asia/Kathmandu', '2026-01-01')).to.equal('2025-12-31T18:15:00.000Z');
    // Samoa left a day out.
    expect(dayStartIn('Pacific/Apia', '2011-12-30')).to.equal(dayStartIn('Pacific/Apia', '2011-12-31'));
  });

  it('are found by name', () => {
    for (const name of ['UTC', 'Europe/Berlin', 'Asia/Calcutta'])
      expect(isTimeZone(name), name).to.equal(true);
    for (const name of ['Berlin', '+02:00', 'Europe/Berlim', ''])
      expect(isTimeZone(name), name).to.equal(false);
  });

  it('are in the weeks of ISO 8601', () => {
    expect(isoWeekOf('2026-01-01')).to.equal('2026-W01');
    expect(isoWeekOf('2027-01-03')).to.equal('2026-W53');
    expect(isoWeekOf('2024-12-30')).to.equal('2025-W01');
    expect(isoWeekOf('2026-11-28')).to.equal('2026-W48');
  });
});
