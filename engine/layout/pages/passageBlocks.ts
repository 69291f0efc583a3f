import type { Block } from '../../document/document.ts';
import { escapeText } from '../../document/inline.ts';
import type { PlacedWord } from '../content.ts';
import type { BaseLook } from '../emphasis.ts';
import type { HeadingLevel } from './headingLevels.ts';
import type { DocumentLook } from './headings.ts';
import type { Marker } from '../listMarkers.ts';
import type { Passage, TextLine } from '../paragraphs.ts';
import { joinLines, lineText, LOUD, type Inline } from '../textOf.ts';

/** What the whole document says of a passage. */
interface Told {
  readonly look: DocumentLook;
  /** Of a heading. */
  readonly level: HeadingLevel | undefined;
}

/** A passage as a heading, code, an item of a list or a paragraph, with emphasis where it stands out of its text. */
export function passageBlock(passage: Passage, { look, level }: Told): Block {
  const { box, marker } = passage;
  const isCompound = (word: string): boolean => look.compounds.has(word);
  if (passage.mono && !look.bodyMono && level === undefined) return codeBlock(passage);
  const lines = emphasisedLines(passage, baseOf(passage, { look, level }));
  const joined = (): Inline => joinLines([...lines.values()], isCompound);
  if (level !== undefined) {
    const { text, markdown } = joined();
    return { kind: 'heading', level, text, markdown, box };
  }
  if (passage.note !== undefined) return noteBlock(passage.note, joined(), box);
  if (marker !== undefined && marker.length > 0) return itemBlock(marker, joined(), box);
  return paragraph(passage, lines, isCompound);
}

/** A heading is strong by itself. */
function baseOf({ italic }: Passage, { look, level }: Told): BaseLook {
  if (level === undefined) return { bold: look.bodyBold, italic: look.bodyItalic };
  return italic ? LOUD : { bold: true, italic: look.bodyItalic };
}

function itemBlock({ ordered, number, length }: Marker, item: Inline, box: Passage['box']): Block {
  const text = item.text.slice(length);
  const markdown = afterMarker(item.markdown, item.text.slice(0, length));
  return { kind: 'list_item', ordered, number, depth: 0, text, markdown, box };
}

/** A note as markdown writes it; its text has the same label as the mark in the text. */
const noteBlock = (label: string, { text, markdown }: Inline, box: Passage['box']): Block => ({
  kind: 'paragraph',
  text: `[${label}] ${text}`,
  markdown: `[^${label}]: ${markdown}`,
  box,
});

/** The lines of a passage with emphasis, by what the text around it looks like. */
function emphasisedLines({ lines }: Passage, base: BaseLook): ReadonlyMap<TextLine, Inline> {
  const isLoud = ({ bold, italic }: PlacedWord): boolean => (bold && !base.bold) || (italic && !base.italic);
  return new Map(
    lines.map((line, index) => [
      line,
      line.words.some(isLoud)
        ? lineText(line.words, { base, plain: index === 0 ? (line.marker?.length ?? 0) : 0 })
        : line,
    ]),
  );
}

/** Markdown escapes marks, so the marker may be longer there. */
const afterMarker = (markdown: string, marker: string): string => {
  const length = marker.trimEnd().length;
  let seen = 0;
  let at = 0;
  while (at < markdown.length && seen < length) {
    if (markdown.charAt(at) === '\\') at += 1;
    at += 1;
    seen += 1;
  }
  return markdown.slice(at).trimStart();
};

/** Lines that were ended on purpose stay lines. */
function paragraph(
  { lines, breaks, box }: Passage,
  inlines: ReadonlyMap<TextLine, Inline>,
  isCompound: (word: string) => boolean,
): Block {
  const parts: Inline[][] = [[]];
  for (const line of lines) {
    parts.at(-1)?.push(inlines.get(line) ?? line);
    if (breaks.has(line)) parts.push([]);
  }
  const joined = parts.filter((part) => part.length > 0).map((part) => joinLines(part, isCompound));
  return {
    kind: 'paragraph',
    text: joined.map(({ text }) => text).join('\n'),
    markdown: joined.map(({ markdown }) => escapeStarts(markdown)).join('\n'),
    box,
  };
}

/** Inline marks were escaped word by word; what would begin a block at a line's start still has to be. */
const escapeStarts = (markdown: string): string =>
  /^(?:#{1,6}\s|>|[-+]\s|[-=]{2,}\s*$|~~~|\||\d{1,9}[.)]\s)/.test(markdown)
    ? escapeText(markdown.slice(0, 12)) + markdown.slice(12)
    : markdown;

/** Code keeps its indents, by where its lines begin. */
function codeBlock({ lines, box }: Passage): Block {
  const widths = lines.map(({ text, box: [x0, , x1] }) => (x1 - x0) / Math.max(1, text.length));
  const width = Math.max(1, [...widths].sort((a, b) => a - b)[Math.floor(widths.length / 2)] ?? 1);
  const text = lines
    .map((line) => ' '.repeat(Math.max(0, Math.round((line.box[0] - box[0]) / width))) + line.text)
    .join('\n');
  return { kind: 'code', language: null, text, box };
}
