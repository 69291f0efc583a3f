import { expect } from 'chai';
import fc from 'fast-check';
import { checkSchema } from '../../extraction/schema/validation.ts';
import { anySchemas, smallDocuments } from '../support/anySchemas.ts';
import { holds } from '../support/properties.ts';
import { misfits, tried } from '../support/schemaTrial.ts';

const DOCUMENTS = smallDocuments();
const document = fc.nat(DOCUMENTS.length - 1).map((at) => DOCUMENTS[at] ?? DOCUMENTS[0]);

describe('any schema and any document', () => {
  holds(
    'have an answer, which keeps to the schema once what does not fit is taken out, or a sentence',
    fc.property(anySchemas({ keepable: false }), document, (schema, one) => {
      if (one === undefined) return;
      const trial = tried(schema, one);
      if (trial.kind === 'refused') expect(trial.detail).to.match(/\.$/);
      else expect(trial.flaws).to.deep.equal([]);
    }),
  );

  holds(
    'have an answer of the types that the schema asks for, where a document can keep to it',
    fc.property(anySchemas({ keepable: true }), document, (schema, one) => {
      if (one === undefined || checkSchema(schema).kind !== 'ok') return;
      expect(misfits(schema, one)).to.deep.equal([]);
    }),
  );
});
