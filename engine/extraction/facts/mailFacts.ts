import type { Field } from '../fields/fields.ts';
import { folded } from '../../kernel/text.ts';
import type { Finding } from '../finding.ts';
import { linesOnPages } from '../../document/wholeBlocks.ts';
import { type Cell, plainWords } from '../grids/grid.ts';
import type { Source } from '../source.ts';
import { datesIn } from '../values/dates.ts';
import type { Document, DocumentPage, Line } from '../../document/document.ts';
import { lexicon } from '../words/lexicon.ts';

const { address, email, name } = lexicon.asks;
const isAddress = (word: string): boolean => address.has(word) || email.has(word);

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
    const words = phrase.filter((word) => !isAddress(word) && !name.has(word) && word !== 'e');
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
  if (kind === 'email' || words.some(isAddress)) return 'address';
  return words.some((word) => name.has(word)) ? 'name' : 'both';
}

/** A mailbox is written "Name (address)", or is one of the two. */
function mailboxPart(text: string, shape: Shape): string | undefined {
  if (shape === 'both') return text;
  const at = text.lastIndexOf(' (');
  const [name, address] = at < 0 ? [text, text] : [text.slice(0, at), text.slice(at + 2, -1)];
  if (shape === 'address') return address.includes('@') ? address : undefined;
  return name.includes('@') ? undefined : name;
}

type MailPart = keyof typeof lexicon.mail;

/** The header of a message, by its parts. */
type MailHeader = ReadonlyMap<MailPart, Cell>;

const PARTS: ReadonlyMap<string, MailPart> = new Map(
  (Object.keys(lexicon.mail) as MailPart[]).flatMap((part) =>
    lexicon.mail[part].words.map((phrase): [string, MailPart] => [phrase, part]),
  ),
);

/** The part of a header that some words name; undefined for others. */
const partNamed = (words: readonly string[]): MailPart | undefined => PARTS.get(words.join(' '));

const MAILS: ReadonlySet<string> = new Set(['message/rfc822', 'application/vnd.ms-outlook']);

/** The header of a document that is a message; undefined for all others. */
function mailHeader({ mimeType, pages: [page] }: Document): MailHeader | undefined {
  if (!MAILS.has(mimeType) || page === undefined) return undefined;
  const header = new Map<MailPart, Cell>();
  for (const [part, text, on = page.page] of partsOf(page))
    if (part !== undefined && !header.has(part)) header.set(part, cellOf(text.trim(), on));
  return header;
}

function partsOf({ blocks: [first, second], lines }: DocumentPage): readonly HeaderLine[] {
  const isTitled = first?.kind === 'heading';
  const shown = isTitled ? second : first;
  const shownLines = shown?.kind === 'paragraph' ? linesOnPages(shown) : [];
  const before = linesBefore(lines).map((text) => ({ text }));
  const parts = [...before, ...shownLines].map((line: { text: string; on?: number }): HeaderLine => {
    const [, label = '', text = ''] = HEADER_LINE.exec(line.text) ?? [];
    return [partNamed(folded(label).split('-')), text, line.on];
  });
  return isTitled ? [['subject', first.text, undefined], ...parts] : parts;
}

/** A part of a header, its text, and the page that it stands on if that is not the first. */
type HeaderLine = readonly [part: MailPart | undefined, text: string, on: number | undefined];

/** As the reader of mails writes them. */
const HEADER_LINE = /^(From|To|Cc|Date|Message-ID|Attachments): (.*)/;

/** The lines that stand before what is shown of a message. */
function linesBefore(lines: readonly Line[]): readonly string[] {
  const end = lines.findIndex(({ text }) => !/^(?:Message-ID|Attachments): /.test(text));
  return lines.slice(0, Math.max(0, end)).map(({ text }) => text);
}

const cellOf = (text: string, page: number): Cell => ({
  text,
  page,
  columnSpan: 1,
  words: plainWords(text, null),
});
