import type { Document } from '../../document/document.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { TrainingExample } from '../../learning/train.ts';
import { laidOut, type Placed } from '../support/laidOut.ts';
import { seededRandom, type Random } from '../support/random.ts';

/** What the forms are asked for; none of their labels is in any dictionary. */
export const FORM_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    voucher: { type: 'string' },
    opened_on: { type: 'string', format: 'date' },
    closed_on: { type: 'string', format: 'date' },
    fee: { type: 'number' },
    keeper: { type: 'string' },
    site: { type: 'string' },
    sealed: { type: 'boolean' },
    marks: { type: 'array', items: { type: 'string' } },
    parts: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          thing: { type: 'string' },
          count: { type: 'number' },
          charge: { type: 'number' },
        },
      },
    },
  },
};

interface Form {
  readonly voucher: string;
  readonly opened: string;
  readonly closed: string;
  readonly other: string;
  readonly fee: number;
  readonly second: number;
  readonly keeper: string;
  readonly site: readonly [string, string];
  readonly sealed: boolean;
  readonly marks: readonly string[];
  readonly parts: readonly { readonly thing: string; readonly count: number; readonly charge: number }[];
}

const SYLLABLES = 'bra dol fen gri hul jam kep lor mis nod pul ras tev wug yor zim'.split(' ');
const wordBy = (random: Random, syllables = 2): string =>
  Array.from({ length: syllables }, () => random.pick(SYLLABLES)).join('');
const nameBy = (random: Random): string => {
  const word = wordBy(random);
  return word.charAt(0).toUpperCase() + word.slice(1);
};
const dayBy = (random: Random): string =>
  `20${random.between(30, 39)}-${String(random.between(1, 12)).padStart(2, '0')}` +
  `-${String(random.between(1, 28)).padStart(2, '0')}`;
const amountBy = (random: Random): number => random.between(1_000, 99_999) / 100;

function formBy(random: Random): Form {
  const things = Array.from({ length: random.between(2, 5) }, () => ({
    thing: `${nameBy(random)} ${wordBy(random)}`,
    count: random.between(2, 40),
    charge: amountBy(random),
  }));
  return {
    voucher: `${random.pick(['KX', 'QA', 'WD'])}-${random.between(1000, 9999)}`,
    opened: dayBy(random),
    closed: dayBy(random),
    other: dayBy(random),
    fee: amountBy(random),
    second: amountBy(random),
    keeper: `${nameBy(random)} ${nameBy(random)}`,
    site: [`${nameBy(random)} ${random.between(1, 99)}`, `${random.between(10000, 99999)} ${nameBy(random)}`],
    sealed: random.between(0, 1) === 1,
    marks: Array.from({ length: random.between(2, 4) }, () => wordBy(random)),
    parts: things,
  };
}

const expectedOf = (form: Form): JsonObject => ({
  voucher: form.voucher,
  opened_on: form.opened,
  closed_on: form.closed,
  fee: form.fee,
  keeper: form.keeper,
  site: form.site.join(', '),
  sealed: form.sealed,
  marks: [...form.marks],
  parts: form.parts.map((part) => ({ ...part })),
});

const local = (iso: string): string => iso.split('-').reverse().join('.');
const yes = (sealed: boolean): string => (sealed ? 'yes' : 'no');

/** Labels in made-up words, at the left of their values. */
const ledger = (form: Form): readonly Placed[] => {
  const parts = form.parts.flatMap(({ thing, count, charge }, i): readonly Placed[] => [
    [60, 440 + 16 * i, thing],
    [330, 440 + 16 * i, String(count), 'right'],
    [520, 440 + 16 * i, charge.toFixed(2), 'right'],
  ]);
  const end = 440 + 16 * form.parts.length + 20;
  return [
    [60, 40, 'Zorvik blatt'],
    [60, 100, 'Plimtar'],
    [200, 100, form.voucher],
    [60, 120, 'Quendrel'],
    [200, 120, local(form.opened)],
    [60, 140, 'Vostrel'],
    [200, 140, local(form.other)],
    [60, 160, 'Hubrem'],
    [200, 160, local(form.closed)],
    [60, 200, 'Grontab'],
    [200, 200, form.keeper],
    [60, 240, 'Wexolin'],
    [200, 240, form.site[0]],
    [200, 252, form.site[1]],
    [60, 300, 'Snivvel'],
    [200, 300, yes(form.sealed)],
    [60, 330, 'Dwimmer'],
    [200, 330, form.marks.join(', ')],
    [60, 410, 'Fropsel'],
    [300, 410, 'Yuntig'],
    [470, 410, 'Kardunk'],
    ...parts,
    [380, end, 'Obbeltrix'],
    [520, end, form.second.toFixed(2), 'right'],
    [380, end + 16, 'Mirrowak'],
    [520, end + 16, form.fee.toFixed(2), 'right'],
  ];
};

/** Labels above their values, in two columns, with other words. */
const card = (form: Form): readonly Placed[] => [
  [60, 40, 'Tarbolin hixel'],
  [60, 90, 'Jexamund'],
  [60, 104, form.keeper],
  [320, 90, 'Brillop'],
  [320, 104, form.voucher],
  [60, 150, 'Crundle'],
  [60, 164, local(form.other)],
  [200, 150, 'Effadol'],
  [200, 164, local(form.closed)],
  [320, 150, 'Nimbrak'],
  [320, 164, local(form.opened)],
  [60, 210, 'Ostrivan'],
  [60, 224, form.fee.toFixed(2)],
  [200, 210, 'Pellucar'],
  [200, 224, form.second.toFixed(2)],
  [320, 210, 'Rundovek'],
  [320, 224, yes(form.sealed)],
];

/** A form whose labels are the names of the schema: the rules know it. */
const plain = (form: Form): readonly Placed[] => [
  [60, 40, 'Entry sheet'],
  [60, 100, `Voucher: ${form.voucher}`],
  [60, 120, `Opened on: ${local(form.opened)}`],
  [60, 140, `Closed on: ${local(form.closed)}`],
  [60, 160, `Keeper: ${form.keeper}`],
  [60, 180, `Fee: ${form.fee.toFixed(2)}`],
  [60, 200, `Sealed: ${yes(form.sealed)}`],
  [60, 220, `Marks: ${form.marks.join(', ')}`],
];

const LAYOUTS = { ledger, card, plain };
/** What a layout does not show is not expected. */
const SHOWN: Readonly<Record<keyof typeof LAYOUTS, readonly string[]>> = {
  ledger: Object.keys(FORM_SCHEMA['properties'] as JsonObject),
  card: ['voucher', 'opened_on', 'closed_on', 'fee', 'keeper', 'sealed'],
  plain: ['voucher', 'opened_on', 'closed_on', 'fee', 'keeper', 'sealed', 'marks'],
};

export type FormLayout = keyof typeof LAYOUTS;

const documentOf = (form: Form, layout: FormLayout): Document => laidOut([LAYOUTS[layout](form)]);

/** Moves a form to the right: its labels stay, their places do not. */
export const movedForms = (count: number, seed: number, by: number): readonly TrainingExample[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const form = formBy(random);
    const placed = card(form).map(([x, y, text]): Placed => [x + by, y, text]);
    const expected = Object.entries(expectedOf(form)).filter(([name]) => SHOWN.card.includes(name));
    return { document: laidOut([placed]), expected: Object.fromEntries(expected) };
  });
};

/** Forms of one layout with what they say; the same seed gives the same forms. */
export const madeUpForms = (layout: FormLayout, count: number, seed: number): readonly TrainingExample[] => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => {
    const form = formBy(random);
    const expected = Object.entries(expectedOf(form)).filter(([name]) => SHOWN[layout].includes(name));
    return { document: documentOf(form, layout), expected: Object.fromEntries(expected) };
  });
};
