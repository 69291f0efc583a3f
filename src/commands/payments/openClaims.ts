import { decodeAny } from '../../../domain/catalogue.ts';
import { account } from '../../../domain/account/account.ts';
import { accountStream, paymentStream } from '../../../domain/account/messages.ts';
import type { PaymentClaim } from '../../../domain/payment.ts';
import type { EventStore, RecordedEvent } from '../../../domain/ports/log.ts';
import { accountCodec } from '../writer/accountWriter.ts';
import { stateIn } from '../writer/streamFold.ts';
import { claimAt } from './claimantOf.ts';
import { tookEffect, whyStuck, type Stuck } from './finishClaim.ts';

/** A payment identity that is claimed and came to nothing yet. */
export interface OpenClaim {
  readonly stream: string;
  readonly provider: string;
  readonly provider_txn_id: string;
  readonly tenant_id: string;
  readonly kind: 'sale' | 'refund';
  readonly claimed_at: string;
  /** What it was claimed for, as far as it can be read. */
  readonly credits: number | null;
  /** Why the service does not end it by itself; null: it does, within a minute or two. */
  readonly stuck: Stuck['why'] | null;
}

const hasEffect = async (store: EventStore, claim: PaymentClaim): Promise<boolean> => {
  const state = await stateIn(store, accountStream(claim.tenant_id), { ...account, codec: accountCodec });
  return tookEffect(state, claim);
};

/** The claim of a payment stream, where it is open. */
export const openClaimAt = async (store: EventStore, stream: string): Promise<OpenClaim | undefined> => {
  const claim = await claimAt(store, stream);
  if (claim === undefined || (await hasEffect(store, claim))) return undefined;
  const { provider, provider_txn_id, tenant_id, kind, claimed_at, intent } = claim;
  const credits = intent.type === 'Unreadable' ? null : intent.data.credits;
  const stuck = (await whyStuck(store, claim)) ?? null;
  return { stream, provider, provider_txn_id, tenant_id, kind, claimed_at, credits, stuck };
};

/** Payment streams of a log that may have an open claim, by its events alone. */
export const maybeOpenStreams = async (events: AsyncIterable<RecordedEvent>): Promise<readonly string[]> => {
  const open = new Set<string>();
  for await (const recorded of events) {
    if (!MOVES.has(recorded.type)) continue;
    const event = decodeAny(recorded);
    if (event.type === 'PaymentClaimed' && event.data.again !== true) open.add(recorded.stream);
    else if (event.type === 'PaymentReleased') open.delete(recorded.stream);
    else if (event.type === 'CreditsGranted' || event.type === 'CreditsRefunded')
      open.delete(paymentStream(event.data));
  }
  return [...open];
};

const MOVES = new Set(['PaymentClaimed', 'PaymentReleased', 'CreditsGranted', 'CreditsRefunded']);
