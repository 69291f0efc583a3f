import type { Code, ParsedCode } from '../../document/codes.ts';
import type { Field } from '../fields/fields.ts';
import type { Finding } from '../finding.ts';
import type { Source } from '../source.ts';
import type { Fact } from './mailFacts.ts';

/** Codes carry their own correction of errors, and were checked by their digits. */
const CONFIDENCE = 0.99;

/** The members of a parsed code by the concepts that they say. */
type Says = Readonly<Record<string, string>>;

/** No reference: fields for one mostly ask for a project, a file or a letter, and a code has that of the payment. */
const PAYMENT: Says = {
  iban: 'iban',
  bic: 'bic',
  payee: 'payee',
  amount_due: 'amount',
  currency: 'currency',
};

const PERSON: Says = {
  first_name: 'first_name',
  last_name: 'last_name',
  birth_date: 'birth_date',
  nationality: 'nationality',
  gender: 'sex',
  end_date: 'expiry_date',
};

const SAID: Readonly<Record<string, (parsed: ParsedCode) => Says>> = {
  epc_payment: () => PAYMENT,
  swiss_qr_bill: () => PAYMENT,
  mrz: ({ document_code: code }) => ({
    ...PERSON,
    [typeof code === 'string' && code.startsWith('P') ? 'passport_number' : 'id_card_number']:
      'document_number',
  }),
};

/** Concepts for whose sake the pictures of pages are looked through for codes. */
const WORTH_A_LOOK: ReadonlySet<string> = new Set(['iban', 'bic', 'payee']);

/** Whether fields ask for what payment codes say. */
export const asksPayment = (fields: readonly Field[]): boolean =>
  fields.some(({ concept }) => concept !== undefined && WORTH_A_LOOK.has(concept.id));

/** Members of several parts say no concept. */
function valueIn({ parsed }: Code, concept: string): string | number | null {
  if (parsed === undefined) return null;
  const value = parsed[SAID[parsed.kind]?.(parsed)[concept] ?? ''];
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

/** What the codes of a document say of a field; undefined where they say nothing, or several say several things. */
export function codeFact(field: Field, { document: { codes = [] } }: Source): Fact | undefined {
  const { concept, role, inRow, choices } = field;
  if (concept === undefined || inRow || role === 'buyer' || choices.length > 0) return undefined;
  const said = codes.flatMap((code): readonly Finding[] => {
    const value = valueIn(code, concept.id);
    if (value === null) return [];
    const text = String(value);
    const word = { text, box: code.box, confidence: 1, fontSize: null, bold: false };
    return [{ value, text, page: code.page, words: [word], confidence: CONFIDENCE }];
  });
  const [first, ...others] = said;
  if (first === undefined || others.some(({ value }) => value !== first.value)) return undefined;
  return { findings: [first] };
}
