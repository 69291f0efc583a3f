import type { Page } from 'playwright-core';
import { plainPdf } from '../../../../engine/test/support/pdfs.ts';

/** Of `longPdf`. */
export const LONG_PAGES = 7;
/** Above what is sent in one request with its schema. */
const LARGE = 9_000_000;

/** A document whose pages are counted while it is read. */
export const longPdf = () =>
  plainPdf(Array.from({ length: LONG_PAGES }, (_, at) => `Invoice number: LP-${String(at)}`));

/** A document that is sent by itself. */
export const largePdf = () => {
  const rest = `<< /Length ${String(LARGE)} >>\nstream\n${'x'.repeat(LARGE)}\nendstream`;
  return plainPdf(['Invoice number: LG-1'], '', { more: [rest] });
};

/** Where a document that was sent is read, for its values or its markdown. */
export const READING = '**/v1/canonical';

/** What the service answers that is about to go away. */
export const AWAY = {
  status: 503,
  contentType: 'application/problem+json',
  headers: { 'retry-after': '1', 'x-request-id': 'req_away' },
  body: JSON.stringify({
    type: 'about:blank',
    title: 'Not ready',
    status: 503,
    code: 'not_ready',
    detail: 'The service is starting.',
    request_id: 'req_away',
  }),
};

/** Hands a PDF to the playground. */
export const give = (page: Page, name: string, buffer: Buffer): Promise<void> =>
  page
    .locator('input[type=file]')
    .setInputFiles({ name, mimeType: 'application/pdf', buffer }, { timeout: 60_000 });
