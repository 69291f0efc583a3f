import { accountOf, type AuditedEvent, type AuditedEventOf } from './auditedEvent.ts';
import { wrong, type Books } from './accountBooks.ts';

type Requested = AuditedEventOf<'ExtractionRequested' | 'ConversionRequested'>;
type Completed = AuditedEventOf<'ExtractionCompleted' | 'ConversionCompleted'>;
type Failed = AuditedEventOf<'ExtractionFailed' | 'ConversionFailed'>;
type Burned = AuditedEventOf<'CreditsBurned'>;

/** One extraction or conversion until it is completed. */
interface Work {
  readonly tenant_id: string;
  /** Work for service and admin keys has no hold and is not billed. */
  readonly isBilled: boolean;
  burn: { readonly pages: number; readonly free_pages: number } | null;
}

const idOf = ({ data }: Requested | Completed | Failed): string =>
  'extraction_id' in data ? data.extraction_id : data.conversion_id;

const completed = (books: Books, works: Map<string, Work>, event: Completed): void => {
  books.findings.checked('work');
  const id = idOf(event);
  const work = works.get(id);
  works.delete(id);
  const say = (message: string) => wrong(books, event, { check: 'work', message });
  if (work === undefined) {
    say(`${id} was completed and never asked for.`);
    return;
  }
  if (!work.isBilled) return;
  if (work.burn === null) {
    say(`${id} of ${work.tenant_id} was delivered and not billed.`);
    return;
  }
  const { pages, free_pages } = event.data;
  if (work.burn.pages !== pages || work.burn.free_pages !== free_pages)
    wrong(books, event, {
      check: 'work',
      message: `${id} of ${work.tenant_id} was billed for other pages than were delivered.`,
      expected: `${pages} pages, ${free_pages} of them free`,
      found: `${work.burn.pages} pages, ${work.burn.free_pages} of them free`,
    });
};

/** A request that ends in an error burns nothing. */
const failed = (books: Books, works: Map<string, Work>, event: Failed): void => {
  books.findings.checked('work');
  const work = works.get(idOf(event));
  if (work?.burn != null)
    wrong(books, event, {
      check: 'work',
      message: `${idOf(event)} of ${work.tenant_id} failed and was billed.`,
    });
};

/** The service records what is asked for before it does it. */
const burned = (books: Books, works: Map<string, Work>, event: Burned): void => {
  const { operation, operation_id, hold_id, pages, free_pages } = event.data;
  if (hold_id === null || (operation !== 'extract' && operation !== 'to_markdown')) return;
  books.findings.checked('work');
  const work = works.get(operation_id);
  const tenant = accountOf(event.stream);
  if (work === undefined) {
    wrong(books, event, {
      check: 'work',
      message: `It bills ${operation_id}, which nobody asked for, or which was billed before.`,
    });
    return;
  }
  if (work.tenant_id !== tenant || !work.isBilled)
    wrong(books, event, {
      check: 'work',
      message: `It bills ${operation_id}, which is free of charge or another tenant's.`,
      expected: work.tenant_id,
      found: tenant ?? '',
    });
  work.burn = { pages, free_pages };
};

/** Usage events against burns. What is completed is forgotten, so memory stays flat. */
export const worksCheck = (books: Books) => {
  const works = new Map<string, Work>();
  return (event: AuditedEvent): void => {
    switch (event.type) {
      case 'ExtractionRequested':
      case 'ConversionRequested':
        works.set(idOf(event), {
          tenant_id: event.data.tenant_id,
          isBilled: event.data.hold_id !== null,
          burn: null,
        });
        return;
      case 'ExtractionCompleted':
      case 'ConversionCompleted': {
        completed(books, works, event);
        return;
      }
      case 'ExtractionFailed':
      case 'ConversionFailed': {
        failed(books, works, event);
        return;
      }
      case 'CreditsBurned': {
        burned(books, works, event);
        return;
      }
      default:
    }
  };
};
