import { expect } from 'chai';
import {
  batch,
  type BatchCommand,
  batchIdFor,
  batchStatus,
  operationIdOfDocument,
} from '../../domain/batch.ts';
import { asCredits } from '../../domain/kernel/amounts.ts';
import { meta, NOW } from '../support/money/moneyCommands.ts';
import { specFor } from '../support/specFor.ts';

const { given } = specFor(batch);

const acceptIt = (fingerprint = 'f', documents = 3): BatchCommand => ({
  type: 'AcceptBatch',
  meta,
  data: {
    batch_id: 'bat_1',
    tenant_id: 'acme',
    project_id: 'default',
    task_id: 'default',
    kind: 'extract',
    document_ids: Array.from({ length: documents }, (_, at) => `doc_${String(at)}`),
    input_sha256: 'a',
    fingerprint,
    api_key_id: 'key_1',
    api_key_role: 'tenant',
    correlation_id: 'req-1',
    expires_at: '2026-02-01T08:00:00.000Z',
  },
});
const begin = (count: number): BatchCommand => ({ type: 'BeginDocuments', meta, data: { count } });
const refuse = (...indexes: readonly number[]): BatchCommand => ({
  type: 'RefuseDocuments',
  meta,
  data: { refused: indexes.map((index) => ({ index, code: 'unreadable_file' })) },
});
const cancel: BatchCommand = { type: 'CancelBatch', meta };
const end = (succeeded: number, cancelled = 0): BatchCommand => ({
  type: 'EndBatch',
  meta,
  data: { succeeded, cancelled, partial: 0, failed: 0, pages: 3, credits_charged: asCredits(0) },
});

describe('a batch', () => {
  it('is accepted once; a repeat changes nothing, and another request is refused', () => {
    given()
      .when(acceptIt())
      .then(['BatchAccepted', { accepted_at: NOW }]);
    given(acceptIt()).when(acceptIt()).thenNothing();
    given(acceptIt()).when(acceptIt('g')).thenRejected({ code: 'idempotency_key_reused' });
  });

  it('that was never accepted takes no command', () => {
    for (const command of [begin(1), refuse(0), cancel, end(0)])
      given().when(command).thenRejected({ code: 'batch_not_found' });
  });

  it('begins its documents in the order of its list, each once', () => {
    given(acceptIt())
      .when(begin(2))
      .then(['BatchDocumentsBegun', { first: 0, count: 2 }]);
    given(acceptIt(), begin(2))
      .when(begin(2))
      .then(['BatchDocumentsBegun', { first: 2, count: 1 }]);
    given(acceptIt(), begin(3)).when(begin(1)).thenRejected({ code: 'all_begun' });
    given(acceptIt()).when(begin(0)).thenRejected({ code: 'all_begun' });
  });

  it('refuses documents that were begun, each once', () => {
    given(acceptIt(), begin(2))
      .when(refuse(1, 2))
      .then(['BatchDocumentsRefused', { refused: [{ index: 1, code: 'unreadable_file' }] }]);
    given(acceptIt(), begin(2), refuse(1)).when(refuse(1)).thenNothing();
  });

  it('begins nothing once it is cancelled, and is cancelled once', () => {
    given(acceptIt(), begin(1))
      .when(cancel)
      .then(['BatchCancelled', { cancelled_at: NOW }]);
    given(acceptIt(), cancel).when(cancel).thenNothing();
    given(acceptIt(), cancel).when(begin(1)).thenRejected({ code: 'batch_finished' });
    given(acceptIt(), begin(2), cancel).when(refuse(1)).then(['BatchDocumentsRefused']);
  });

  it('ends when every document has its outcome, and stays as it ended', () => {
    given(acceptIt(), begin(2)).when(end(3)).thenRejected({ code: 'documents_open' });
    given(acceptIt(), begin(3)).when(end(2)).thenRejected({ code: 'documents_open' });
    given(acceptIt(), begin(3))
      .when(end(3))
      .then(['BatchEnded', { succeeded: 3, ended_at: NOW }]);
    given(acceptIt(), begin(1), cancel)
      .when(end(1, 2))
      .then(['BatchEnded', { cancelled: 2 }]);
    for (const command of [begin(1), refuse(0), cancel, end(3)])
      given(acceptIt(), begin(3), end(3)).when(command).thenRejected({ code: 'batch_finished' });
  });

  it('says how it stands', () => {
    const statusOf = (...past: readonly BatchCommand[]) => batchStatus(given(acceptIt(), ...past).state());
    expect(statusOf()).to.equal('queued');
    expect(statusOf(begin(1))).to.equal('running');
    expect(statusOf(begin(1), cancel)).to.equal('cancelling');
    expect(statusOf(begin(1), cancel, end(1, 2))).to.equal('cancelled');
    expect(statusOf(begin(3), end(3))).to.equal('ended');
  });
});

describe('IDs of batches and their documents', () => {
  const document = { tenant_id: 'acme', batch_id: 'bat_1', index: 0 };

  it('follow from what names them, and differ where that differs', () => {
    expect(operationIdOfDocument(document)).to.equal(operationIdOfDocument({ ...document }));
    const others = [
      { ...document, index: 1 },
      { ...document, batch_id: 'bat_2' },
      { ...document, tenant_id: 'b' },
    ];
    const ids = new Set([document, ...others].map(operationIdOfDocument));
    expect(ids.size).to.equal(4);
    expect(operationIdOfDocument({ ...document, batch_id: 'bat_1-1', index: 0 })).to.not.equal(
      operationIdOfDocument({ ...document, index: 10 }),
    );
    const identity = { tenant_id: 'acme', idempotency_key: 'k', generation: 0 };
    expect(batchIdFor(identity)).to.match(/^bat_[0-9A-Z]{26}$/);
    expect(batchIdFor(identity)).to.not.equal(batchIdFor({ ...identity, generation: 1 }));
  });
});
