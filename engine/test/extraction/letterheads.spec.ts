import { expect } from 'chai';
import { extract } from '../../extraction/extract.ts';
import { openDocx } from '../../formats/docx/openDocx.ts';
import { documentBy, docx, p, r } from '../support/officeFiles.ts';

const letter = docx({
  body:
    p('Dear Ms Low,') +
    p('please pay the sum of 119.00 EUR within 14 days.') +
    '<w:sectPr><w:headerReference w:type="default" r:id="h"/><w:footerReference w:type="default" r:id="f"/></w:sectPr>',
  parts: {
    h: ['header', p('Pond Works Ltd') + p('Invoice No.: PW-2031') + p('Date: 3 May 2024')],
    f: ['footer', p(r('VAT ID: DE811907980')) + p('IBAN: DE02 1203 0000 0000 2020 51')],
  },
});

it('values that stand in the header or footer of a letter are found, and cited from there', async () => {
  const string = { type: 'string' };
  const properties = { invoice_number: string, vat_id: string, iban: string };
  const { value, citations } = extract(await documentBy(openDocx, letter), { type: 'object', properties });
  expect(value).to.deep.equal({
    invoice_number: 'PW-2031',
    vat_id: 'DE811907980',
    iban: 'DE02120300000000202051',
  });
  expect(citations.map(({ path }) => path)).to.have.members(['/invoice_number', '/vat_id', '/iban']);
  expect(citations.map(({ page }) => page)).to.deep.equal([1, 1, 1]);
});
