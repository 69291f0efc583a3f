import type { AuditedEvent, AuditedEventOf } from '../log/auditedEvent.ts';
import type { CompactSet } from '../log/compactSet.ts';
import { wrong, type Findings } from '../findings.ts';
import type { Reference } from './reference.ts';

/** What a sale was, and what of it came back: credits and minor units. */
interface SaleBook {
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
  /** Told of all by whose name a rule brings events of different streams together. */
  readonly touch: (name: string) => void;
}

/** Reports an identity that takes effect a second time. */
export const takeOnce = (
  { findings, once, touch }: Books,
  event: AuditedEvent,
  { identity, message }: { readonly identity: string; readonly message: string },
): void => {
  findings.checked('identity');
  touch(identity);
  if (!once.add(identity)) wrong(findings, 'identity', event)(message);
};
