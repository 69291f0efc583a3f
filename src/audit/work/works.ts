import { accountOf, byType, type AuditedEventOf } from '../log/auditedEvent.ts';
import { placeOf, wrong, type Place } from '../findings.ts';
import type { Books } from '../money/accountBooks.ts';

type Requested = AuditedEventOf<'ExtractionRequested' | 'ConversionRequested'>;
type Completed = AuditedEventOf<'ExtractionCompleted' | 'ConversionCompleted'>;
type Failed = AuditedEventOf<'ExtractionFailed' | 'ConversionFailed'>;
type Burned = AuditedEventOf<'CreditsBurned'>;

/** One extraction or conversion until it is completed. */
interface Work {
  readonly tenant_id: string;
  /** Work for service and admin keys has no hold and is not billed. */
  readonly isBilled: boolean;
  burn: Burn | null;
}

interface Burn {
  readonly pages: number;
  readonly free_pages: number;
  readonly burned_at: string;
  /** Whether the burn says how the work ended: then its usage event can always be written. */
  readonly saysEnd: boolean;
  readonly place: Place;
}

/** A sweeper writes a usage event that an outage kept out within a minute or two. */
const WRITTEN_WITHIN_MS = 5 * 60_000;

const idOf = ({ data }: Requested | Completed | Failed): string =>
  'extraction_id' in data ? data.extraction_id : data.conversion_id;

const completed = (books: Books, works: Map<string, Work>, event: Completed): void => {
  books.findings.checked('work');
  const id = idOf(event);
  const work = works.get(id);
  works.delete(id);
  const say = wrong(books.findings, 'work', event);
  if (work === undefined) {
    say(`${id} was completed but never requested.`);
    return;
  }
  if (!work.isBilled) return;
  if (work.burn === null) {
    say(`${id} of ${work.tenant_id} was delivered but not billed.`);
    return;
  }
  const { pages, free_pages } = event.data;
  if (work.burn.pages !== pages || work.burn.free_pages !== free_pages)
    say(
      `${id} of ${work.tenant_id} was billed for other pages than were delivered.`,
      `${pages} pages, ${free_pages} of them free`,
      `${work.burn.pages} pages, ${work.burn.free_pages} of them free`,
    );
};

/** A request that ends in an error burns nothing. */
const failed = (books: Books, works: Map<string, Work>, event: Failed): void => {
  books.findings.checked('work');
  const id = idOf(event);
  const work = works.get(id);
  works.delete(id);
  if (work?.burn != null)
    wrong(books.findings, 'work', event)(`${id} of ${work.tenant_id} failed and was billed.`);
};

/** The service records a request before it does the work. */
const burned = (books: Books, works: Map<string, Work>, event: Burned): void => {
  const { operation, operation_id, hold_id, pages, free_pages } = event.data;
  if (hold_id === null || (operation !== 'extract' && operation !== 'to_markdown')) return;
  books.findings.checked('work');
  const work = works.get(operation_id);
  const tenant = accountOf(event.stream) ?? '';
  const say = wrong(books.findings, 'work', event);
  if (work === undefined) {
    say(`It bills ${operation_id}, which was never requested or was billed before.`);
    return;
  }
  if (work.tenant_id !== tenant || !work.isBilled)
    say(`It bills ${operation_id}, which is free of charge or another tenant's.`, work.tenant_id, tenant);
  const { created_at: burned_at, delivered } = event.data;
  work.burn = { pages, free_pages, burned_at, saysEnd: delivered !== undefined, place: placeOf(event) };
};

/** Burns whose usage event never came. The rule holds for burns that say how their work ended. */
const finish = ({ findings }: Books, works: ReadonlyMap<string, Work>, newest: string): void => {
  const before = Date.parse(newest) - WRITTEN_WITHIN_MS;
  let old = 0;
  for (const [id, { tenant_id, burn }] of works) {
    if (burn === null || Date.parse(burn.burned_at) >= before) continue;
    if (!burn.saysEnd) old += 1;
    else wrong(findings, 'work', burn.place)(`It bills ${id} of ${tenant_id}, whose usage event is missing.`);
  }
  if (old > 0)
    findings.note(
      `${old} ${old === 1 ? 'burn has' : 'burns have'} no usage event: from a release whose ` +
        'burns do not say how the work ended.',
    );
};

/** Usage events against burns. What has ended is forgotten, so memory stays flat. */
export const worksCheck = (books: Books) => {
  const works = new Map<string, Work>();
  const requested = (event: Requested): void => {
    const { tenant_id, hold_id } = event.data;
    works.set(idOf(event), { tenant_id, isBilled: hold_id !== null, burn: null });
  };
  const apply = byType({
    ExtractionRequested: requested,
    ConversionRequested: requested,
    ExtractionCompleted: (event) => completed(books, works, event),
    ConversionCompleted: (event) => completed(books, works, event),
    ExtractionFailed: (event) => failed(books, works, event),
    ConversionFailed: (event) => failed(books, works, event),
    CreditsBurned: (event) => burned(books, works, event),
  });
  return { apply, finish: (newest: string) => finish(books, works, newest) };
};
