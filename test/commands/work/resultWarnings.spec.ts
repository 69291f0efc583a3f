import { expect } from 'chai';
import { resultWarnings } from '../../../src/rules/resultWarnings.ts';

const SCHEMA = { type: 'object', properties: { total: {}, seller: {}, lines: {} } };

describe('the warnings of a result', () => {
  const codes = (given: Partial<Parameters<typeof resultWarnings>[0]>) =>
    resultWarnings({
      schema: SCHEMA,
      value: { total: 1 },
      mimeType: 'application/pdf',
      file_name: 'a.pdf',
      pages: 2,
      hasText: true,
      ...given,
    }).map(({ code }) => code);

  it('tell that nothing was found, however deep nothing lies, and of what document', () => {
    for (const value of [{}, { total: null }, { seller: { name: null }, lines: [] }, { lines: [{}] }])
      expect(codes({ value }), JSON.stringify(value)).to.deep.equal(['nothing_found']);
    for (const value of [{ total: 0 }, { total: '' }, { seller: { name: null, isKnown: false } }])
      expect(codes({ value }), JSON.stringify(value)).to.deep.equal([]);
    const [one] = resultWarnings({
      schema: SCHEMA,
      value: {},
      mimeType: 'text/plain',
      file_name: null,
      pages: 1,
      hasText: false,
    });
    expect(one?.message)
      .to.include('3 fields')
      .and.to.include('text/plain of 1 page')
      .and.to.include('no text');
  });

  it('tell that a file is not what its name says, and nothing of names that say nothing', () => {
    expect(codes({ mimeType: 'text/plain' })).to.deep.equal(['other_type']);
    expect(codes({ mimeType: 'image/png', file_name: 'A.PNG' })).to.deep.equal([]);
    for (const file_name of [null, 'a', 'a.txt', 'a.constructor', '.pdf/x'])
      expect(codes({ mimeType: 'text/plain', file_name }), String(file_name)).to.deep.equal([]);
  });
});
