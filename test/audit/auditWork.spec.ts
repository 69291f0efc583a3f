import { expect } from 'chai';
import type { AccountEventOf } from '../../domain/account/messages.ts';
import type { Books } from '../../src/audit/rules.ts';
import type { AuditedEvent } from '../../src/audit/auditedEvent.ts';
import { documentRows } from '../../src/audit/expectedDocuments.ts';
import { findingsKept } from '../../src/audit/findings.ts';
import { worksCheck } from '../../src/audit/works.ts';

const BURNED_AT = '2026-02-01T00:00:00.000Z';
const DELIVERED = { status: 'success', duration_ms: 5 } as const;

const eventOf = (stream: string, type: string, data: object): AuditedEvent =>
  ({ stream, type, data, revision: 0n, position: 1n, metadata: {}, id: '' }) as unknown as AuditedEvent;

const requested = eventOf('extraction-ext_1', 'ExtractionRequested', {
  extraction_id: 'ext_1',
  tenant_id: 'acme',
  hold_id: 'hold_1',
});

const burned = (delivered?: AccountEventOf<'CreditsBurned'>['data']['delivered']): AuditedEvent =>
  eventOf('account-acme', 'CreditsBurned', {
    operation: 'extract',
    operation_id: 'ext_1',
    hold_id: 'hold_1',
    pages: 2,
    free_pages: 1,
    ...(delivered !== undefined && { delivered }),
    created_at: BURNED_AT,
  });

const completed = eventOf('extraction-ext_1', 'ExtractionCompleted', {
  extraction_id: 'ext_1',
  pages: 2,
  free_pages: 1,
});

/** What an audit says of events whose newest was recorded so many minutes after the burn. */
const auditOf = (events: readonly AuditedEvent[], minutes: number) => {
  const findings = findingsKept(10);
  const works = worksCheck({ findings } as Books);
  for (const event of events) works.apply(event);
  works.finish(new Date(Date.parse(BURNED_AT) + minutes * 60_000).toISOString());
  return findings.result();
};

describe('the audit of usage events', () => {
  it('finds a burn whose usage event is missing, once it is late', () => {
    expect(auditOf([requested, burned(DELIVERED)], 5).findings).to.deep.equal([]);
    expect(auditOf([requested, burned(DELIVERED)], 6).findings).to.deep.equal([
      {
        check: 'work',
        stream: 'account-acme',
        revision: '0',
        position: '1',
        message: 'It bills ext_1 of acme, whose usage event is missing.',
      },
    ]);
  });

  it('finds nothing where it came, however late', () => {
    expect(auditOf([requested, burned(DELIVERED), completed], 600).findings).to.deep.equal([]);
  });

  it('notes burns of older releases, which do not say how the work ended, and finds nothing', () => {
    const { findings, notes } = auditOf([requested, burned()], 600);
    expect(findings).to.deep.equal([]);
    expect(notes.join()).to.contain('1 burn has no usage event');
  });
});

describe('the audit of a document whose file became an upload after its request', () => {
  const id = { document_id: 'doc_1', tenant_id: 'acme' };
  const of = (type: string, revision: bigint, data: object = {}): AuditedEvent => ({
    ...eventOf('document-doc_1', type, { ...id, ...data }),
    revision,
  });
  const events = [
    of('DocumentRegistered', 0n, { source: 'extract', sha256: 'a' }),
    of('UploadPresigned', 1n),
    of('UploadRemoved', 2n, { removed_at: BURNED_AT }),
  ];
  const rowsOf = (told: readonly AuditedEvent[], changing: Set<string>) => {
    const rows: unknown[] = [];
    const fold = documentRows.start((_, row) => rows.push(row), changing);
    for (const event of told) fold.apply(event);
    fold.finish();
    return rows;
  };

  it('expects that it was removed, and finds a table that does not say so', () => {
    expect(rowsOf(events, new Set(['doc_1']))).to.have.nested.property('[0].removed_at', BURNED_AT);
    expect(rowsOf(events.slice(0, 2), new Set())).to.have.nested.property('[0].removed_at', null);
    const changing = new Set<string>();
    expect(rowsOf(events, changing), 'no right row').to.have.length(2);
    expect([...changing]).to.deep.equal(['doc_1']);
  });
});
