import type { Field } from '../fields/fields.ts';
import { folded } from '../fields/words.ts';
import type { Finding } from '../finding.ts';
import type { Cell } from '../grids/grid.ts';
import mail from '../lexicon/mail.json' with { type: 'json' };
import type { Source } from '../source.ts';
import { mailHeader, partNamed, type MailPart } from './mailHeader.ts';
import { datesIn } from '../values/dates.ts';

const ADDRESSES: ReadonlySet<string> = new Set(mail.addresses);
const NAMES: ReadonlySet<string> = new Set(mail.names);

/** Headers are written by programs, and read as such. */
const CONFIDENCE = 0.97;
const MAILBOXES_MAX = 500;

/** What the header of a message says of a field: nothing, where the message does not have that part. */
export interface Fact {
  readonly findings: readonly Finding[];
}

/** What a message's header says of a field that asks for a part of it; undefined for every other field. */
export function mailFact(field: Field, { document }: Source): Fact | undefined {
  const header = mailHeader(document);
  const part = header === undefined ? undefined : partAsked(field);
  if (header === undefined || part === undefined || field.choices.length > 0) return undefined;
  const cell = header.get(part);
  return { findings: cell === undefined ? [] : valuesOf(field, part, cell) };
}

/** `from_email`, `sender`, `recipient_name`: the part without the words that say what of it is meant. */
function partAsked({ phrases }: Field): MailPart | undefined {
  for (const phrase of phrases) {
    const words = phrase.filter((word) => !ADDRESSES.has(word) && !NAMES.has(word) && word !== 'e');
    const part = partNamed(phrase) ?? partNamed(words);
    if (part !== undefined) return part;
  }
  return undefined;
}

function valuesOf(field: Field, part: MailPart, cell: Cell): readonly Finding[] {
  if (part === 'date') return dateOf(cell);
  if (part === 'attachments') return listed(cell, '; ');
  if (part === 'subject' || part === 'message_id') return [whole(cell, cell.text)];
  const shape = shapeOf(field);
  return listed(cell, ', ').flatMap((one) => {
    const value = mailboxPart(one.text, shape);
    return value === undefined ? [] : [{ ...one, value }];
  });
}

const dateOf = (cell: Cell): readonly Finding[] =>
  datesIn(cell.text.split('T', 1)[0] ?? '', true)
    .slice(0, 1)
    .map(({ iso }) => whole(cell, iso));

const listed = (cell: Cell, separator: string): readonly Finding[] =>
  cell.text
    .split(separator)
    .slice(0, MAILBOXES_MAX)
    .map((text) => ({ ...whole(cell, text), text }));

const whole = ({ text, page, words }: Cell, value: string): Finding => ({
  value,
  text,
  page,
  words,
  confidence: CONFIDENCE,
});

type Shape = 'address' | 'name' | 'both';

/** Whether the address, the name or both are asked for, as the schema's words say. */
function shapeOf({ kind, phrases, about }: Field): Shape {
  const words = [...phrases.flat(), ...about.flat().map(folded)];
  if (kind === 'email' || words.some((word) => ADDRESSES.has(word))) return 'address';
  return words.some((word) => NAMES.has(word)) ? 'name' : 'both';
}

/** A mailbox is written "Name (address)", or is one of the two. */
function mailboxPart(text: string, shape: Shape): string | undefined {
  if (shape === 'both') return text;
  const at = text.lastIndexOf(' (');
  const [name, address] = at < 0 ? [text, text] : [text.slice(0, at), text.slice(at + 2, -1)];
  if (shape === 'address') return address.includes('@') ? address : undefined;
  return name.includes('@') ? undefined : name;
}
