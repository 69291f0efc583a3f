import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { NotOpened, openDocument } from '../index.ts';

const INVOICE = 'test/fixtures/invoice.pdf';
const SCHEMA = {
  type: 'object',
  properties: { invoice_number: { type: 'string' }, total: { type: 'number' } },
};

describe('a document opened without a service', () => {
  it('gives its pages, its text, and values with the place where they stand', async () => {
    const document = await openDocument(INVOICE);
    try {
      expect(document.mimeType).to.equal('application/pdf');
      expect(document.pages).to.have.length(1);
      expect((await document.render()).markdown).to.equal(document.markdown);
      const { value, citations } = await document.extract(SCHEMA);
      expect(value).to.have.property('invoice_number').that.is.a('string');
      const [citation] = citations;
      expect(citation?.page).to.equal(1);
      expect(document.markdown).to.include(citation?.text);
    } finally {
      await document.close();
    }
  });

  it('is the same from its bytes', async () => {
    const document = await openDocument(readFileSync(INVOICE));
    try {
      expect(document.mimeType).to.equal('application/pdf');
      expect(document.pages).to.have.length(1);
    } finally {
      await document.close();
    }
  });

  it('says what cannot be read, and which schema cannot be filled', async () => {
    const unreadable = await openDocument(new Uint8Array()).catch((error: unknown) => error);
    expect(unreadable).to.be.instanceOf(NotOpened).and.to.have.property('kind', 'empty');
    const document = await openDocument(Buffer.from('Total: 12.00 EUR'), { fileName: 'a.txt' });
    try {
      const refused = await document.extract({ type: 'string' }).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(NotOpened).and.to.have.property('kind', 'invalid_schema');
    } finally {
      await document.close();
    }
  });
});
