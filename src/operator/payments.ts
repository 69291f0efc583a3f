import { z } from 'zod';
import { paymentStream } from '../../domain/account/messages.ts';
import type { Clock, EventFeed, EventStore } from '../../domain/ports/log.ts';
import { maybeOpenStreams, openClaimAt, type OpenClaim } from '../commands/payments/openClaims.ts';
import type { Payments } from '../commands/payments/payments.ts';
import { exportedEvents } from './exportEvents.ts';
import { operatorMeta, OperatorError, type OperationContext } from './protocol.ts';

export interface PaymentDeps {
  readonly log: EventStore & EventFeed;
  readonly payments: Pick<Payments, 'releaseClaim'>;
  readonly clock: Clock;
  /** Streams that a read model lists as open. Left out: the whole log is read. */
  readonly listedStreams?: () => Promise<readonly string[]>;
}

const releaseInput = z.strictObject({
  provider: z.string().min(1).max(100),
  provider_txn_id: z.string().min(1).max(255),
  reason: z.string().min(1).max(500),
});
export type ReleaseInput = z.output<typeof releaseInput>;

/** Every open claim of a log, oldest first. */
export const openClaims = async (
  log: EventStore & EventFeed,
  streams: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<readonly OpenClaim[]> => {
  const found: OpenClaim[] = [];
  for (const stream of streams ?? (await maybeOpenStreams(exportedEvents(log, {}, signal)))) {
    signal.throwIfAborted();
    const open = await openClaimAt(log, stream);
    if (open !== undefined) found.push(open);
  }
  return found.sort((a, b) => (a.claimed_at < b.claimed_at ? -1 : 1));
};

/** Sends each open claim. */
export const listOpen = async (
  { log, listedStreams }: PaymentDeps,
  { send, signal }: OperationContext,
): Promise<void> => {
  for (const claim of await openClaims(log, await listedStreams?.(), signal)) await send(claim);
};

/** Frees a payment identity for good, with the reason in the log. Throws OperatorError when it may not be. */
export const releasePayment = async (
  { payments, clock }: PaymentDeps,
  input: unknown,
): Promise<ReleaseInput & { readonly tenant_id: string; readonly kind: 'sale' | 'refund' }> => {
  const { reason, ...identity } = releaseInput.parse(input);
  const meta = operatorMeta(clock, 'payments-release');
  const released = await payments.releaseClaim(paymentStream(identity), { reason, meta });
  switch (released.kind) {
    case 'released': {
      const { tenant_id, kind } = released.claim;
      return { ...identity, reason, tenant_id, kind };
    }
    case 'none':
      throw new OperatorError(
        'There is no open claim of this payment. Give provider and ID as `quire payments list-open` shows them.',
      );
    case 'took_effect':
      throw new OperatorError(
        'This payment took effect: its credits were moved. To take them back, record a refund.',
      );
    case 'young':
      throw new OperatorError('This claim is less than a minute old: its request may still be at work.');
    case 'busy':
      throw new OperatorError(
        'The event log did not accept it in time. Check whether it was done, then run the command again.',
      );
  }
};

export type PaymentReleased = Awaited<ReturnType<typeof releasePayment>>;
