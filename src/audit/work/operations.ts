import { fullHoldIdOfOperation } from '../../../domain/operation.ts';
import { byType } from '../log/auditedEvent.ts';
import type { AccountBook, Books } from '../money/accountBooks.ts';
import { queuedWorkCheck, type AcceptedWork } from './queuedWork.ts';

interface Operation extends AcceptedWork {
  readonly pages: number;
}

/** Operations. `bookOf`: the account of a tenant, as the audit has added it up so far. */
export const operationsCheck = (books: Books, bookOf: (tenantId: string) => AccountBook | undefined) => {
  const queue = queuedWorkCheck<Operation>(books, {
    check: 'operation',
    otherHolds: ({ id }) => [fullHoldIdOfOperation(id)],
    checkBurn: ({ id, pages }, burn, say) => {
      if (pages !== burn.pages)
        say(`${id} was billed for other pages than it was accepted with.`, pages, burn.pages);
    },
  });
  return {
    apply: byType({
      OperationAccepted: (event) => {
        const { operation_id: id, tenant_id, work_id, hold_id, pages, file_sha256 } = event.data;
        // Older releases did not make sure of it.
        const isCovered =
          file_sha256 === undefined || hold_id === null || bookOf(tenant_id)?.holds.has(hold_id) === true;
        queue.accepted(event, { id, tenant_id, work_id, hold_id, pages }, isCovered);
      },
      OperationStarted: (event) => void queue.moved(event, event.data.operation_id),
      OperationProgressed: (event) => void queue.moved(event, event.data.operation_id),
      OperationSucceeded: (event) => void queue.moved(event, event.data.operation_id, event.data.hold_id),
      OperationFailed: (event) => void queue.moved(event, event.data.operation_id),
      OperationCancelled: (event) => void queue.moved(event, event.data.operation_id),
      CreditsHeld: (event) => {
        if (event.data.operation !== 'training') queue.held(event);
      },
      HoldReleased: queue.released,
      CreditsBurned: queue.charged,
    }),
    finish: queue.finish,
  };
};
