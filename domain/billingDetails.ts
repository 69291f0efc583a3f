import { z } from 'zod';
import { accept, type Command, type Decider, event, type StreamKind } from './kernel/decider.ts';
import { instant, tenantId } from './kernel/amounts.ts';
import { eventCodec } from './kernel/codec.ts';

/** Who a tenant is on its statements and receipts. It replaces what was set before; null: nothing is said. */
const billingDetailsSet = event('BillingDetailsSet', {
  tenant_id: tenantId,
  legal_name: z.string(),
  /** Lines of the address, a line break between them. */
  address: z.string().nullable(),
  vat_id: z.string().nullable(),
  billing_email: z.string().nullable(),
  updated_at: instant,
  updated_by: z.string(),
});

export const billingDetailsEvent = z.discriminatedUnion('type', [billingDetailsSet]);
type BillingDetailsEvent = z.output<typeof billingDetailsEvent>;

export const billingDetailsCodec = eventCodec(billingDetailsEvent);

/** The members that people write: their texts lie beside the log, and go with the tenant's erasure. */
export const DETAILS = ['legal_name', 'address', 'vat_id', 'billing_email'] as const;

type DetailsSet = Omit<BillingDetailsEvent['data'], 'tenant_id'>;

/** What is printed of a tenant. */
export type BillingDetails = Pick<DetailsSet, (typeof DETAILS)[number]>;

/** The latest setting; null: none was made. */
interface BillingDetailsState {
  readonly details: DetailsSet | null;
}

type SetBillingDetails = Command<'SetBillingDetails', { readonly tenant_id: string } & BillingDetails>;

export type BillingDetailsKind = StreamKind<
  BillingDetailsState,
  SetBillingDetails,
  BillingDetailsEvent,
  never
>;

/** One setting a tenant; what holds already is not recorded again. */
export const billingDetails: Decider<BillingDetailsKind> = {
  initialState: { details: null },
  decide: ({ details }, { data, meta }) =>
    details !== null && DETAILS.every((name) => details[name] === data[name])
      ? accept()
      : accept({
          type: 'BillingDetailsSet',
          data: { ...data, updated_at: meta.now, updated_by: meta.actor.key_id },
        }),
  evolve: (_, { data: { tenant_id: __, ...details } }) => ({ details }),
};

export const billingDetailsStream = (tenant: string): string => `billingDetails-${tenant}`;

/** A setting with its place in the log. */
export interface PlacedDetails {
  readonly position: bigint;
  readonly details: BillingDetails;
}

/**
 * The details on a document of a position: those in force there or, where there were none yet, the first that were set
 * later. A document that has a name keeps it. undefined: none were ever set.
 */
export const detailsAt = (settings: readonly PlacedDetails[], position: bigint): BillingDetails | undefined =>
  (settings.findLast((one) => one.position <= position) ?? settings[0])?.details;
