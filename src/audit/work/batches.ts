import { operationIdOfDocument } from '../../../domain/batch.ts';
import { byType, type AuditedEvent, type AuditedEventOf } from '../log/auditedEvent.ts';
import { compactSet, type CompactSet } from '../log/compactSet.ts';
import { wrong, type Findings } from '../findings.ts';
import type { Books } from '../money/accountBooks.ts';

type Outcome = 'succeeded' | 'partial' | 'failed' | 'cancelled';

/** A batch until it ends, and what became of its documents by their operations. */
interface Batch {
  readonly documents: readonly string[];
  begun: number;
  cancelled: boolean;
  readonly refused: Map<number, string>;
  readonly outcomes: Map<number, Outcome>;
  readonly accepted: Set<number>;
  credits: number;
}

interface DocumentPlace {
  readonly batch_id: string;
  readonly index: number;
}

interface SeenBatch {
  readonly findings: Findings;
  readonly touch: Books['touch'];
  readonly batches: Map<string, Batch>;
  /** Documents of batches that have not ended, by the operation that they are, and by its work. */
  readonly operations: Map<string, DocumentPlace>;
  readonly works: Map<string, DocumentPlace>;
  readonly ended: Set<string>;
  /** Documents of batches that have ended and that were no operation then: they never become one. */
  readonly never: CompactSet;
}

type BatchEvent = AuditedEventOf<
  'BatchAccepted' | 'BatchDocumentsBegun' | 'BatchDocumentsRefused' | 'BatchCancelled' | 'BatchEnded'
>;
type EndEvent = AuditedEventOf<'OperationSucceeded' | 'OperationFailed' | 'OperationCancelled'>;

const batchTelling = ({ findings }: SeenBatch, event: AuditedEvent) => wrong(findings, 'batch', event);

const accepted = (seen: SeenBatch, event: AuditedEventOf<'BatchAccepted'>): void => {
  const { batch_id, tenant_id, document_ids } = event.data;
  seen.findings.checked('batch');
  if (seen.batches.has(batch_id) || seen.ended.has(batch_id)) {
    batchTelling(seen, event)(`${batch_id} was accepted twice.`);
    return;
  }
  const own = { begun: 0, cancelled: false, credits: 0 };
  const maps = { refused: new Map(), outcomes: new Map(), accepted: new Set<number>() };
  seen.batches.set(batch_id, { documents: document_ids, ...own, ...maps });
  for (const index of document_ids.keys()) {
    const operation = operationIdOfDocument({ tenant_id, batch_id, index });
    seen.touch(`operation ${operation}`);
    seen.operations.set(operation, { batch_id, index });
  }
};

/** The batch that an event changes; it has to be open. */
const openOf = (seen: SeenBatch, event: BatchEvent): Batch | undefined => {
  seen.findings.checked('batch');
  const { batch_id } = event.data;
  const batch = seen.batches.get(batch_id);
  if (batch === undefined)
    batchTelling(
      seen,
      event,
    )(`${batch_id} ${seen.ended.has(batch_id) ? 'had ended already' : 'was never accepted'}.`);
  return batch;
};

const begun = (seen: SeenBatch, event: AuditedEventOf<'BatchDocumentsBegun'>): void => {
  const batch = openOf(seen, event);
  if (batch === undefined) return;
  const { batch_id, first, count } = event.data;
  const tell = batchTelling(seen, event);
  if (batch.cancelled) tell(`Documents of ${batch_id} were begun after it was cancelled.`);
  if (first !== batch.begun)
    tell(`Documents of ${batch_id} were begun twice or left out.`, batch.begun, first);
  batch.begun = first + count;
  if (batch.begun > batch.documents.length)
    tell(`${batch_id} has fewer documents than were begun.`, batch.documents.length, batch.begun);
};

const refused = (seen: SeenBatch, event: AuditedEventOf<'BatchDocumentsRefused'>): void => {
  const batch = openOf(seen, event);
  if (batch === undefined) return;
  for (const { index, code } of event.data.refused) {
    if (index >= batch.begun || batch.refused.has(index))
      batchTelling(
        seen,
        event,
      )(`Document ${index} of ${event.data.batch_id} was not begun, or was refused before.`);
    batch.refused.set(index, code);
  }
};

const outcomeAt = (batch: Batch, index: number): Outcome | 'open' => {
  if (batch.accepted.has(index)) return batch.outcomes.get(index) ?? 'open';
  const code = batch.refused.get(index);
  if (code !== undefined) return code === 'cancelled' ? 'cancelled' : 'failed';
  return index >= batch.begun && batch.cancelled ? 'cancelled' : 'open';
};

const ended = (seen: SeenBatch, event: AuditedEventOf<'BatchEnded'>): void => {
  const batch = openOf(seen, event);
  if (batch === undefined) return;
  const { batch_id, tenant_id, succeeded, partial, failed, cancelled, credits_charged } = event.data;
  const came = { succeeded: 0, partial: 0, failed: 0, cancelled: 0, open: 0 };
  for (const index of batch.documents.keys()) {
    came[outcomeAt(batch, index)] += 1;
    const operation = operationIdOfDocument({ tenant_id, batch_id, index });
    seen.operations.delete(operation);
    if (!batch.accepted.has(index)) seen.never.add(operation);
  }
  const due = JSON.stringify(came);
  const said = JSON.stringify({ succeeded, partial, failed, cancelled, open: 0 });
  const tell = batchTelling(seen, event);
  if (due !== said) tell(`${batch_id} ended with other outcomes than its documents have.`, due, said);
  if (batch.credits !== credits_charged)
    tell(`${batch_id} cost something else than its documents.`, batch.credits, credits_charged);
  for (const [work, place] of seen.works) if (place.batch_id === batch_id) seen.works.delete(work);
  seen.batches.delete(batch_id);
  seen.ended.add(batch_id);
};

const operationAccepted = (seen: SeenBatch, event: AuditedEventOf<'OperationAccepted'>): void => {
  const { operation_id, document_id, work_id } = event.data;
  if (seen.never.has(operation_id))
    batchTelling(seen, event)(`${operation_id} is a document of a batch that had ended without it.`);
  const place = seen.operations.get(operation_id);
  const batch = place && seen.batches.get(place.batch_id);
  if (place === undefined || batch === undefined) return;
  seen.findings.checked('batch');
  if (place.index >= batch.begun || batch.documents[place.index] !== document_id)
    batchTelling(
      seen,
      event,
    )(`${operation_id} is a document of ${place.batch_id} that was not begun, or another.`);
  batch.accepted.add(place.index);
  seen.works.set(work_id, place);
};

const operationEnded = (seen: SeenBatch, event: EndEvent): void => {
  const place = seen.operations.get(event.data.operation_id);
  if (place === undefined) return;
  const outcomes = { OperationFailed: 'failed', OperationCancelled: 'cancelled' } as const;
  const outcome =
    event.type === 'OperationSucceeded'
      ? event.data.outcome === 'partial'
        ? 'partial'
        : 'succeeded'
      : outcomes[event.type];
  seen.batches.get(place.batch_id)?.outcomes.set(place.index, outcome);
};

/** Batches: documents begun once and in order, none after a cancellation, and an end that says what became of them. */
export const batchesCheck = ({ findings, touch }: Pick<Books, 'findings' | 'touch'>) => {
  const seen: SeenBatch = {
    ...{ findings, touch },
    ...{ batches: new Map(), operations: new Map(), works: new Map(), ended: new Set() },
    never: compactSet(),
  };
  const end = (event: EndEvent): void => operationEnded(seen, event);
  return byType({
    BatchAccepted: (event) => accepted(seen, event),
    BatchDocumentsBegun: (event) => begun(seen, event),
    BatchDocumentsRefused: (event) => refused(seen, event),
    BatchCancelled: (event) => {
      const { batch_id } = event.data;
      if (!seen.batches.has(batch_id) && !seen.ended.has(batch_id)) {
        // Its request died before it was accepted: nobody may accept it any more.
        seen.ended.add(batch_id);
        return;
      }
      const batch = openOf(seen, event);
      if (batch !== undefined) batch.cancelled = true;
    },
    BatchEnded: (event) => ended(seen, event),
    OperationAccepted: (event) => operationAccepted(seen, event),
    OperationSucceeded: end,
    OperationFailed: end,
    OperationCancelled: end,
    CreditsBurned: ({ data: { operation_id, credits } }) => {
      const place = seen.works.get(operation_id);
      const batch = place && seen.batches.get(place.batch_id);
      if (batch !== undefined) batch.credits += credits;
    },
  });
};
