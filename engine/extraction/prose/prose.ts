import { textFinding, type Evidence, type Finding } from '../finding.ts';
import type { Layout, Segment } from '../places/layout.ts';
import type { Source } from '../source.ts';
import { once } from '../../kernel/once.ts';

/** Where a segment's text lies in the running text. */
interface Piece {
  readonly segment: Segment;
  readonly from: number;
  readonly to: number;
}

/** A range of the running text, in characters. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Sentence extends Span {
  readonly text: string;
}

/** A document as running text: wrapped lines joined, hyphens at their ends undone, `\n` between blocks. */
export interface Prose {
  readonly text: string;
  readonly pieces: readonly Piece[];
  readonly sentences: readonly Sentence[];
}

const SENTENCE_WORDS_MIN = 12;
/** Longer text is read up to here only, so that time stays bounded. */
const CHARACTERS_MAX = 400_000;

/** The running text of a document that has sentences rather than forms; undefined of a form. */
export const proseOf = once(({ layout }: Source): Prose | undefined => {
  const prose = running(layout);
  return isMostlySentences(prose) ? prose : undefined;
});

const wordCount = (text: string): number =>
  text.split(/\s+/).filter((word) => /\p{L}{2,}/u.test(word)).length;

/** A sentence has many words, and most of them are no names: small letters begin them. */
function isMostlySentences({ text, sentences }: Prose): boolean {
  const inSentences = sentences.reduce((sum, { text: one }) => {
    const words = wordCount(one);
    const small = one.match(/(?<!\p{L})\p{Ll}{2,}/gu)?.length ?? 0;
    return words >= SENTENCE_WORDS_MIN && small * 2 >= words ? sum + words : sum;
  }, 0);
  return inSentences >= SENTENCE_WORDS_MIN * 2 && inSentences * 2 >= wordCount(text);
}

function running({ rows }: Layout): Prose {
  const pieces: Piece[] = [];
  let text = '';
  let width = 0;
  let previous: Segment | undefined;
  for (const segment of rows.flatMap(({ segments }) => segments)) {
    if (text.length > CHARACTERS_MAX) break;
    width = Math.max(width, segment.x1);
    const joint = previous === undefined ? '' : jointOf(previous, segment, width);
    const last = pieces.at(-1);
    if (joint === '' && last !== undefined) {
      text = text.slice(0, -1);
      pieces[pieces.length - 1] = { ...last, to: text.length };
    }
    text += joint;
    pieces.push({ segment, from: text.length, to: text.length + segment.text.length });
    text += segment.text;
    previous = segment;
  }
  return { text, pieces, sentences: sentencesOf(text) };
}

const SHORT_LINE = 0.72;
const OPENS_BLOCK = /^(?:\(?[\p{L}\d]{1,3}[.)]|§|[-•–*])\s/u;

/** What parts two neighbours: nothing after a hyphen, a space in a paragraph, a line's end elsewhere. */
function jointOf(before: Segment, after: Segment, width: number): '' | ' ' | '\n' {
  const height = Math.max(1, before.y1 - before.y0);
  if (before.row === after.row) return after.x0 - before.x1 > 3 * height ? '\n' : ' ';
  if (/\p{Ll}-$/u.test(before.text) && /^\p{Ll}/u.test(after.text)) return '';
  if (/^\p{Ll}/u.test(after.text) || /[,(]$/.test(before.text)) return ' ';
  return opensBlock(before, after) || before.x1 < SHORT_LINE * width ? '\n' : ' ';
}

/** A gap above it, or a number or bullet at its start. */
const opensBlock = (before: Segment, after: Segment): boolean =>
  OPENS_BLOCK.test(after.text) ||
  (before.page === after.page && after.y0 - before.y1 > 1.2 * Math.max(1, before.y1 - before.y0));

const SHORTENED = new RegExp(
  String.raw`(?:^|[\s("“])(?:\p{Lu}|Inc|Ltd|Corp|Co|No|Nr|Mr|Mrs|Ms|Dr|Prof|St|Art|Sec|Abs|bzw|z\.B` +
    String.raw`|ca|vs|M|Mme|Sr|Sra|Sig|Dhr|Mevr|S\.A|S\.L|S\.p\.A|S\.r\.l|B\.V|N\.V|L\.P|P\.C|U\.S|art` +
    String.raw`|nº|n)$`,
  'u',
);

function sentencesOf(text: string): readonly Sentence[] {
  const sentences: Sentence[] = [];
  let from = 0;
  const end = (to: number): void => {
    const part = text.slice(from, to);
    if (part.trim() !== '') sentences.push({ from, to, text: part });
    from = to;
  };
  for (const match of text.matchAll(/\n|[.;?!]["”»)]?\s(?=[\p{Lu}\d("“„«§])/gu)) {
    const before = text.slice(Math.max(from, match.index - 12), match.index);
    const isStop = match[0].startsWith('.');
    if (isStop && (SHORTENED.test(before) || (/\d$/.test(before) && /^\d/.test(text.slice(match.index + 2)))))
      continue;
    end(match.index + match[0].length);
  }
  end(text.length);
  return sentences;
}

/** The sentence that holds a place of the text. */
export const sentenceAt = ({ sentences, text }: Prose, at: number): Sentence =>
  sentences.find(({ from, to }) => from <= at && at < to) ?? { from: 0, to: text.length, text };

/** A range as a finding: its value is the text without line ends, cited by its words. */
export function spanFinding(prose: Prose, { from, to }: Span, evidence: Evidence): Finding | undefined {
  const parts = prose.pieces
    .filter((piece) => piece.from < to && piece.to > from)
    .map((piece) => ({
      segment: piece.segment,
      from: Math.max(0, from - piece.from),
      to: Math.min(piece.segment.text.length, to - piece.from),
    }));
  const onePage = parts.filter(({ segment }) => segment.page === parts[0]?.segment.page);
  const finding = textFinding(onePage, { ...evidence, kind: 'prose' });
  const value = prose.text.slice(from, to).replace(/\s+/g, ' ').trim();
  return finding === undefined || value === '' ? undefined : { ...finding, value };
}
