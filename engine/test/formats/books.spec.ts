import { expect } from 'chai';
import { openEpub } from '../../formats/text/openEpub.ts';
import { sniff } from '../../formats/sniff.ts';
import { CONTAINER, epub } from '../support/bookFiles.ts';
import { documentBy, markdownBy, openedBy, zipOf } from '../support/officeFiles.ts';

describe('electronic books', () => {
  it('are one flow, in the order of their spine', async () => {
    const bytes = epub({ 'z z.xhtml': '<h1>One</h1><p>first <b>part</b></p>', 'a.xhtml': '<p>second</p>' });
    expect(await sniff(bytes, null)).to.include({ format: 'epub' });
    expect(await markdownBy(openEpub, bytes)).to.equal('# One\n\nfirst **part**\n\nsecond\n');
  });

  it('have a page for each 3,000 characters begun', async () => {
    const { pages } = await documentBy(openEpub, epub({ 'a.xhtml': `<p>${'word '.repeat(1300)}</p>` }));
    expect(pages).to.have.length(3);
  });

  it('are refused when protected, unless their fonts alone are', async () => {
    const encryption = (algorithm: string): Record<string, string> => ({
      'META-INF/encryption.xml':
        '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>' +
        `<e:EncryptionMethod Algorithm="${algorithm}"/></e:EncryptedData></encryption>`,
    });
    const pages = { 'a.xhtml': '<p>text</p>' };
    const locked = epub(pages, encryption('http://www.w3.org/2001/04/xmlenc#aes128-cbc'));
    expect(await openedBy(openEpub, locked)).to.deep.equal({
      kind: 'unreadable',
      detail: 'The book is protected against reading. Send it without protection.',
    });
    const fonts = epub(pages, encryption('http://www.idpf.org/2008/embedding'));
    expect(await markdownBy(openEpub, fonts)).to.equal('text\n');
  });

  it('are refused when they do not say what their parts are, or declare entities', async () => {
    const bytes = zipOf({ mimetype: 'application/epub+zip', 'META-INF/container.xml': CONTAINER });
    expect(await openedBy(openEpub, bytes)).to.include({ kind: 'unreadable' });
    const bomb = epub({ 'a.xhtml': '' }, { 'book/main.opf': '<!DOCTYPE p [<!ENTITY a "b">]><package/>' });
    expect(await openedBy(openEpub, bomb)).to.include({ kind: 'unreadable' });
  });
});
