import fc from 'fast-check';
import { expect } from 'chai';
import { document, type DocumentEvent, type DocumentState } from '../../domain/document.ts';
import { meta } from '../support/money/moneyCommands.ts';

const [AT, ID] = ['2026-01-31T08:00:00.000Z', { document_id: 'doc_1', tenant_id: 'acme' }];

const presigned: DocumentEvent = {
  type: 'UploadPresigned',
  data: {
    ...ID,
    project_id: 'p',
    task_id: 't',
    file_name: 'Ada.pdf',
    content_type: null,
    bytes: null,
    kind: 'document',
    dataset_id: null,
    expires_at: AT,
    created_at: AT,
  },
};
const registered: DocumentEvent = {
  type: 'DocumentRegistered',
  data: {
    ...ID,
    project_id: 'p',
    task_id: 't',
    file_name: 'Ada.pdf',
    mime_type: 'text/plain',
    bytes: 1,
    pages: 1,
    sha256: 'a',
    source: 'extract',
    created_at: AT,
  },
};
const removed: DocumentEvent = { type: 'UploadRemoved', data: { ...ID, reason: 'asked', removed_at: AT } };
const erased: DocumentEvent = { type: 'DocumentErased', data: { ...ID, erased_at: AT } };

/** The events that commands make, in their order, and what is known then. */
const told = (commands: readonly DocumentEvent[]) => {
  const events: DocumentEvent[] = [];
  let state: DocumentState = document.initialState;
  for (const data of commands) {
    const decision = document.decide(state, { type: 'Record', data, meta });
    if (decision.kind === 'rejected') throw new Error('a document refuses nothing');
    for (const event of decision.events) {
      events.push(event);
      state = document.evolve(state, event);
    }
  }
  return { events, state };
};
const types = (commands: readonly DocumentEvent[]) => told(commands).events.map(({ type }) => type);

describe('a document that came with a request', () => {
  it('becomes an upload once, is removed as one, and none once it is erased', () => {
    expect(types([registered, presigned, presigned, removed, presigned])).to.deep.equal([
      'DocumentRegistered',
      'UploadPresigned',
      'UploadRemoved',
    ]);
    expect(types([registered, erased, presigned])).to.deep.equal(['DocumentRegistered', 'DocumentErased']);
  });
});

describe('a document that is erased', () => {
  it('is erased once, and its upload with it', () => {
    expect(types([presigned, erased, erased])).to.deep.equal([
      'UploadPresigned',
      'UploadRemoved',
      'DocumentErased',
    ]);
    expect(types([registered, erased, erased])).to.deep.equal(['DocumentRegistered', 'DocumentErased']);
    expect(types([presigned, removed, erased]).slice(1)).to.deep.equal(['UploadRemoved', 'DocumentErased']);
  });

  it('is nothing where it never was', () => {
    expect(types([erased])).to.deep.equal([]);
  });

  it('has no name in a registration that comes late, and is said to be erased after it', () => {
    const { events } = told([presigned, erased, registered]);
    expect(events.slice(3).map(({ type }) => type)).to.deep.equal([
      'DocumentRegistered',
      'UploadRemoved',
      'DocumentErased',
    ]);
    expect(events[3]?.data).to.include({ file_name: null });
  });

  it('never says its name after that, and never forgets that it is, whatever comes in which order', () => {
    const command = fc.constantFrom(presigned, registered, removed, erased);
    fc.assert(
      fc.property(fc.array(command, { maxLength: 8 }), (commands) => {
        const { events, state } = told(commands);
        const first = events.findIndex(({ type }) => type === 'DocumentErased');
        if (first < 0) return;
        expect(state.erased).not.to.equal(null);
        expect(events.at(-1)?.type).to.equal('DocumentErased');
        const later = events.slice(first).filter((event) => event.type === 'DocumentRegistered');
        expect(later.every(({ data }) => data.file_name === null)).to.equal(true);
      }),
      { numRuns: 200 },
    );
  });
});
