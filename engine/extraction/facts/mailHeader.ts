import type { Document, DocumentPage, Line } from '../../document/document.ts';
import { folded } from '../fields/words.ts';
import { plainWords, type Cell } from '../grids/grid.ts';
import mail from '../lexicon/mail.json' with { type: 'json' };

export type MailPart = keyof typeof mail.parts;

/** The header of a message, by its parts. */
export type MailHeader = ReadonlyMap<MailPart, Cell>;

const PARTS: ReadonlyMap<string, MailPart> = new Map(
  (Object.keys(mail.parts) as MailPart[]).flatMap((part) =>
    mail.parts[part].map((phrase): [string, MailPart] => [phrase, part]),
  ),
);

/** The part of a header that some words name; undefined for others. */
export const partNamed = (words: readonly string[]): MailPart | undefined => PARTS.get(words.join(' '));

const MAILS: ReadonlySet<string> = new Set(['message/rfc822', 'application/vnd.ms-outlook']);

/** The header of a document that is a message; undefined for all others. */
export function mailHeader({ mimeType, pages: [page] }: Document): MailHeader | undefined {
  if (!MAILS.has(mimeType) || page === undefined) return undefined;
  const header = new Map<MailPart, Cell>();
  for (const [part, text] of partsOf(page))
    if (part !== undefined && !header.has(part)) header.set(part, cellOf(text.trim(), page.page));
  return header;
}

function partsOf({
  blocks: [first, second],
  lines,
}: DocumentPage): readonly (readonly [MailPart | undefined, string])[] {
  const isTitled = first?.kind === 'heading';
  const shown = isTitled ? second : first;
  const texts = shown?.kind === 'paragraph' ? shown.text.split('\n') : [];
  const parts = [...linesBefore(lines), ...texts].map((line): readonly [MailPart | undefined, string] => {
    const [, label = '', text = ''] = HEADER_LINE.exec(line) ?? [];
    return [partNamed(folded(label).split('-')), text];
  });
  return isTitled ? [['subject', first.text], ...parts] : parts;
}

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
