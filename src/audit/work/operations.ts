import { fullHoldIdOfOperation } from '../../../domain/operation/identity.ts';
import { wrong } from '../findings.ts';
import { compactSet, type CompactSet } from '../log/compactSet.ts';
import { accountOf, byType, type AuditedEvent, type AuditedEventOf } from '../log/auditedEvent.ts';
import type { Books } from '../money/accountBooks.ts';
import { leaseAfter, type AuditedLease } from './leases.ts';

type Accepted = AuditedEventOf<'OperationAccepted'>['data'];
type Succeeded = AuditedEventOf<'OperationSucceeded'>;
type OperationMove =
  | AuditedEventOf<'OperationStarted' | 'OperationProgressed' | 'OperationFailed' | 'OperationCancelled'>
  | Succeeded;

/** An operation until it is over: it ended without success, or its charge was seen. */
interface Operation extends Pick<Accepted, 'operation_id' | 'tenant_id' | 'work_id' | 'hold_id' | 'pages'> {
  lease: AuditedLease | null;
  success: Succeeded['data'] | null;
}

interface Operations {
  readonly open: Map<string, Operation>;
  /** Operations by what their burns name. */
  readonly byWork: Map<string, Operation>;
  /** Both IDs of those that are over: nothing may happen to them any more. */
  readonly over: CompactSet;
}

const telling = ({ findings }: Books, event: AuditedEvent) => wrong(findings, 'operation', event);

const isOver = ({ open, over }: Operations, operationId: string): boolean =>
  !open.has(operationId) && over.has(operationId);

const close = ({ open, byWork, over }: Operations, { operation_id, work_id }: Operation): void => {
  open.delete(operation_id);
  byWork.delete(work_id);
  over.add(operation_id);
  over.add(work_id);
};

const accepted = (books: Books, known: Operations, event: AuditedEventOf<'OperationAccepted'>): void => {
  books.findings.checked('operation');
  const { operation_id, tenant_id, work_id, hold_id, pages } = event.data;
  books.touch(`operation ${operation_id}`);
  books.touch(`work ${work_id}`);
  if (known.open.has(operation_id) || known.over.has(operation_id)) {
    telling(books, event)(`${operation_id} was accepted twice.`);
    return;
  }
  const operation = { operation_id, tenant_id, work_id, hold_id, pages, lease: null, success: null };
  known.open.set(operation_id, operation);
  known.byWork.set(work_id, operation);
};

/** It is settled with the hold that it was accepted with, or with the one that took its place. */
const succeeded = (books: Books, operation: Operation, event: Succeeded): void => {
  const { hold_id } = event.data;
  const own: readonly (string | null)[] =
    operation.hold_id === null ? [null] : [operation.hold_id, fullHoldIdOfOperation(operation.operation_id)];
  if (!own.includes(hold_id))
    telling(books, event)(`${operation.operation_id} is to be settled from another's hold.`);
  operation.success = event.data;
};

const moved = (books: Books, known: Operations, event: OperationMove): void => {
  books.findings.checked('operation');
  const { operation_id } = event.data;
  const say = telling(books, event);
  const operation = known.open.get(operation_id);
  if (operation === undefined || operation.success !== null) {
    const ended = operation !== undefined || isOver(known, operation_id);
    say(ended ? `${operation_id} had ended already.` : `${operation_id} was never accepted.`);
    return;
  }
  operation.lease = leaseAfter(operation.lease, { event, id: operation_id }, say);
  if (event.type === 'OperationFailed' || event.type === 'OperationCancelled') close(known, operation);
  if (event.type !== 'OperationSucceeded') return;
  succeeded(books, operation, event);
  if (operation.hold_id === null) close(known, operation);
};

/** Only an operation that succeeded is charged, once, from its hold and for its pages. */
const charged = (books: Books, known: Operations, event: AuditedEventOf<'CreditsBurned'>): void => {
  const { operation_id: work_id, hold_id, pages } = event.data;
  books.touch(`work ${work_id}`);
  const operation = known.byWork.get(work_id);
  if (operation === undefined && !known.over.has(work_id)) return;
  books.findings.checked('operation');
  const say = telling(books, event);
  if (operation?.success == null || operation.tenant_id !== accountOf(event.stream)) {
    say(`It bills ${work_id}, which is no operation of this tenant that succeeded and was not billed yet.`);
    return;
  }
  if (operation.success.hold_id !== hold_id)
    say(
      `${operation.operation_id} was billed from another hold than it ended with.`,
      operation.success.hold_id,
      hold_id,
    );
  if (operation.pages !== pages)
    say(
      `${operation.operation_id} was billed for other pages than it was accepted with.`,
      operation.pages,
      pages,
    );
  close(known, operation);
};

/** Operations: one worker at a time, one end, and one charge for each that succeeded. */
export const operationsCheck = (books: Books) => {
  const known: Operations = { open: new Map(), byWork: new Map(), over: compactSet() };
  const move = (event: OperationMove): void => moved(books, known, event);
  return {
    apply: byType({
      OperationAccepted: (event) => accepted(books, known, event),
      OperationStarted: move,
      OperationProgressed: move,
      OperationSucceeded: move,
      OperationFailed: move,
      OperationCancelled: move,
      CreditsBurned: (event) => charged(books, known, event),
    }),
    finish: (): void => {
      for (const { operation_id, tenant_id, success } of known.open.values())
        if (success !== null)
          books.findings.note(
            `${operation_id} of ${tenant_id} succeeded and is not charged yet; the service does it.`,
          );
    },
  };
};
