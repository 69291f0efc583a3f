import type { AuditedEvent, AuditedEventOf } from '../log/auditedEvent.ts';
import { placeOf } from '../log/auditedEvent.ts';
import type { CompactSet } from '../log/compactSet.ts';
import type { Check, Findings } from '../findings.ts';
import type { Reference } from './reference.ts';

/** What a sale was, and what of it came back: credits and minor units. */
export interface SaleBook {
  readonly sale: AuditedEventOf<'CreditsGranted'>['data'];
  credits: number;
  gross: number;
  vat: number;
  fee: number;
}

/** One tenant's account, added up by the auditor. */
export interface AccountBook {
  readonly tenant_id: string;
  opened: boolean;
  plan: string;
  balance: number;
  held: number;
  free_used: number;
  free_held: number;
  /** The difference between stated and computed balance, so far: reported once, not for every later event. */
  drift: number;
  readonly holds: Map<string, AuditedEventOf<'CreditsHeld'>['data']>;
  readonly sales: Map<string, SaleBook>;
}

export const newBook = (tenant_id: string): AccountBook => ({
  tenant_id,
  opened: false,
  plan: 'free',
  balance: 0,
  held: 0,
  free_used: 0,
  free_held: 0,
  drift: 0,
  holds: new Map(),
  sales: new Map(),
});

export const availableIn = ({ balance, held }: AccountBook): number => balance - held;

/** What the rules of an account look at beside the account. */
export interface Books {
  readonly findings: Findings;
  readonly reference: Reference;
  /** Everything that may take effect once. */
  readonly once: CompactSet;
}

interface Wrong {
  readonly check: Check;
  readonly message: string;
  readonly expected?: string | number | null;
  readonly found?: string | number | null;
}

const textOf = (value: string | number | null | undefined) =>
  value === undefined ? undefined : String(value);

/** Reports what is wrong about one event of an account. */
export const wrong = (
  { findings }: Pick<Books, 'findings'>,
  event: AuditedEvent,
  { expected, found, ...said }: Wrong,
): void => {
  const [should, is] = [textOf(expected), textOf(found)];
  findings.add({
    ...said,
    ...placeOf(event),
    ...(should === undefined ? {} : { expected: should }),
    ...(is === undefined ? {} : { found: is }),
  });
};

/** Reports an identity that takes effect a second time. */
export const takeOnce = (
  books: Books,
  event: AuditedEvent,
  { identity, message }: { readonly identity: string; readonly message: string },
): void => {
  books.findings.checked('identity');
  if (!books.once.add(identity)) wrong(books, event, { check: 'identity', message });
};
