import { type AuditedEventOf, byType } from './auditedEvent.ts';
import { type Place, placeOf, wrong } from './findings.ts';
import type { Books } from './rules.ts';

/** A batch that has to come, of a split or of a decision about one. */
interface DueBatch {
  readonly tenant_id: string;
  readonly document_id: string | undefined;
  readonly at: string;
  readonly place: Place;
}

type BatchAccepted = AuditedEventOf<'BatchAccepted'>;

/** The service accepts it with the success or the decision; after a crash, another process within minutes. */
const ACCEPTED_WITHIN_MS = 3_600_000;

/**
 * Splits whose parts go on: each becomes one batch of its tenant, whose documents are pages of its document, and
 * nothing else makes such a batch.
 */
export const splitsCheck = ({ findings, touch }: Pick<Books, 'findings' | 'touch'>) => {
  const due = new Map<string, DueBatch>();
  /** Documents of splits, by their operation. */
  const stacks = new Map<string, string>();
  /** All documents of splits, and those that were erased: a decision may follow that was on its way. */
  const [stacked, erased] = [new Set<string>(), new Set<string>()];

  const expect = (
    event: AuditedEventOf<'OperationSucceeded' | 'ReviewDecided'>,
    batch_id: string | undefined,
    at: string,
  ): void => {
    if (batch_id === undefined) return;
    touch(`batch ${batch_id}`);
    const { operation_id, tenant_id } = event.data;
    const document_id = stacks.get(operation_id);
    if (document_id === undefined)
      wrong(findings, 'batch', event)(`${batch_id} is to come of ${operation_id}, which is no split.`);
    else if (erased.has(document_id)) return;
    due.set(batch_id, { tenant_id, document_id, at, place: placeOf(event) });
  };
  const accepted = (event: BatchAccepted): void => {
    const { batch_id, tenant_id, document_ids, split } = event.data;
    if (split === undefined) return;
    findings.checked('batch');
    touch(`batch ${batch_id}`);
    const say = wrong(findings, 'batch', event);
    const wanted = due.get(batch_id);
    if (wanted?.tenant_id !== tenant_id)
      say(`${batch_id} is of no split of this tenant whose parts are to be a batch.`);
    due.delete(batch_id);
    const document = stacks.get(split.operation_id);
    if (document_ids.some((id) => id !== document))
      say(`${batch_id} has documents that are not in the stack.`);
    if (split.pages.length !== document_ids.length)
      say(`${batch_id} has other parts than documents.`, split.pages.length, document_ids.length);
  };

  const apply = byType({
    OperationAccepted: ({ data: { operation_id, kind, document_id } }) => {
      if (kind !== 'split') return;
      stacks.set(operation_id, document_id);
      stacked.add(document_id);
    },
    OperationSucceeded: (event) => expect(event, event.data.then_batch_id, event.data.succeeded_at),
    ReviewDecided: (event) => expect(event, event.data.then_batch_id, event.data.decided_at),
    BatchAccepted: accepted,
    BatchCancelled: ({ data }) => void due.delete(data.batch_id),
    DocumentErased: ({ data }) => {
      if (stacked.has(data.document_id)) erased.add(data.document_id);
      for (const [batch_id, { document_id }] of due)
        if (document_id === data.document_id) due.delete(batch_id);
    },
  });
  const finish = (newest: string): void => {
    const before = newest === '' ? 0 : Date.parse(newest) - ACCEPTED_WITHIN_MS;
    for (const [batch_id, { tenant_id, at, place }] of due) {
      const message = `The parts of a split of ${tenant_id} are to be ${batch_id} and are not`;
      if (Date.parse(at) < before) wrong(findings, 'batch', place)(`${message}.`);
      else findings.note(`${message} yet; the service does it.`);
    }
  };
  return { apply, finish };
};
