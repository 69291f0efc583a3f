import type { Box } from '../document/document.ts';
import { around, median, widthOf, type PlacedWord, type Row } from './content.ts';
import { markerOf, type Marker } from './listMarkers.ts';
import { lineText, type Inline } from './textOf.ts';

/** A line of running text. */
export interface TextLine extends Inline {
  readonly words: readonly PlacedWord[];
  readonly box: Box;
  readonly size: number;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly mono: boolean;
  /** The font of its last word; empty where it is not known. */
  readonly face: string;
  readonly marker: Marker | undefined;
}

/** Lines that belong together. `breaks` holds the lines that were ended on purpose, not for lack of room. */
export interface Passage {
  readonly lines: readonly TextLine[];
  readonly box: Box;
  readonly size: number;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly mono: boolean;
  readonly marker: Marker | undefined;
  /** The label of the note that it is. */
  readonly note: string | undefined;
  readonly breaks: ReadonlySet<TextLine>;
}

export function textLine({ segments }: Row): TextLine {
  const words = segments.flatMap((segment) => segment.words);
  const { text, markdown, opens, closes } = lineText(words);
  const shown = charactersOf(words);
  const isMost = (characters: number): boolean => characters / Math.max(1, shown.all) > 0.85;
  const box = around(words.map((word) => word.box));
  const size = weightedSize(words);
  const bold = isMost(shown.bold);
  const italic = isMost(shown.italic);
  const mono = isMost(shown.mono);
  const face = words.at(-1)?.face ?? '';
  const marker = markerOf(text);
  // Named one by one, as the words are: a line made by spreading takes three times as long.
  return { text, markdown, opens, closes, words, box, size, bold, italic, mono, face, marker };
}

/** How many characters a line has, in all and by their look. */
function charactersOf(words: readonly PlacedWord[]) {
  const sums = { all: 0, bold: 0, italic: 0, mono: 0 };
  for (const { text, bold, italic, mono } of words) {
    sums.all += text.length;
    if (bold) sums.bold += text.length;
    if (italic) sums.italic += text.length;
    if (mono) sums.mono += text.length;
  }
  return sums;
}

/** A longer word counts as so many characters. */
const WEIGHT_MAX = 40;
const weightOf = ({ text }: PlacedWord): number => Math.min(WEIGHT_MAX, text.length);

/** The size of most characters: the median, each word's size counted by its characters. */
function weightedSize(words: readonly PlacedWord[]): number {
  const [first] = words;
  if (first === undefined) return 0;
  if (words.every(({ size, text }) => size === first.size && text !== '')) return first.size;
  const sorted = [...words].sort((a, b) => a.size - b.size);
  let left = Math.floor(words.reduce((sum, word) => sum + weightOf(word), 0) / 2);
  for (const word of sorted) {
    left -= weightOf(word);
    if (left < 0) return word.size;
  }
  return 0;
}

/** Lines from top to bottom as passages: parted by space, by another look, by indents and by markers. */
export function passagesOf(lines: readonly TextLine[], column: Box): readonly Passage[] {
  const pitch = usualPitch(lines);
  const passages: { lines: TextLine[]; breaks: Set<TextLine> }[] = [];
  lines.forEach((line, index) => {
    const before = lines[index - 1];
    const passage = passages.at(-1);
    if (
      before === undefined ||
      passage === undefined ||
      begins(before, line, { pitch, first: passage.lines[0] ?? line, column })
    )
      passages.push({ lines: [line], breaks: new Set() });
    else {
      if (endsEarly(before, line, column) || hasLeader(before) || areLabelled(before, line))
        passage.breaks.add(before);
      passage.lines.push(line);
    }
  });
  return passages.map(passageOf);
}

function passageOf({ lines, breaks }: { lines: TextLine[]; breaks: Set<TextLine> }): Passage {
  return {
    lines,
    breaks,
    box: around(lines.map(({ box }) => box)),
    size: median(lines.map(({ size }) => size)),
    bold: lines.every(({ bold }) => bold),
    italic: lines.every(({ italic }) => italic),
    mono: lines.every(({ mono }) => mono),
    marker: lines[0]?.marker,
    note: lines[0]?.words[0]?.opensNote,
  };
}

/** From bottom to bottom of neighbouring lines of one size, where most of them agree. */
function usualPitch(lines: readonly TextLine[]): number | undefined {
  const pitches = lines.flatMap((line, index) => {
    const before = lines[index - 1];
    if (before === undefined || !isAlike(before.size, line.size)) return [];
    const pitch = (line.box[3] - before.box[3]) / line.size;
    return pitch > 0.7 && pitch < 2.2 ? [pitch] : [];
  });
  return pitches.length < 3 ? undefined : [...pitches].sort((a, b) => a - b)[Math.floor(pitches.length / 3)];
}

const isAlike = (a: number, b: number): boolean => Math.abs(a - b) <= 0.12 * Math.max(a, b);

/** Sizes of a text layer are exact, so that a little tells; what was recognised varies. */
function areOfOneSize(a: TextLine, b: TextLine): boolean {
  const isRecognised = [...a.words, ...b.words].some(({ confidence }) => confidence < 1);
  return isRecognised
    ? isAlike(a.size, b.size)
    : Math.abs(a.size - b.size) <= 0.05 * Math.max(a.size, b.size);
}

interface Around {
  readonly pitch: number | undefined;
  readonly first: TextLine;
  readonly column: Box;
}

function begins(before: TextLine, line: TextLine, place: Around): boolean {
  if (isApart(before, line, place) || looksOther(before, line, place)) return true;
  if (line.mono) return false;
  const { first } = place;
  if (line.marker !== undefined && !(line.marker.ordered && !isNextNumber(first, line))) return true;
  if (first.marker !== undefined)
    return line.box[0] < first.box[0] - line.size || isBack(first, before, line);
  return isIndented(before, line, place) || endsSentence(before, line, place);
}

/** Farther below than lines usually are, or not below at all, or a note by itself. */
function isApart(before: TextLine, line: TextLine, { pitch }: Around): boolean {
  if (line.words[0]?.opensNote !== undefined) return true;
  const step = (line.box[3] - before.box[3]) / Math.max(line.size, before.size);
  return step > Math.max(1.35 * (pitch ?? 1.35), 1.3) || step < -0.5;
}

/** Emphasis that runs into the next line is no border; a line that was ended early in another look is. */
function looksOther(before: TextLine, line: TextLine, { first, column }: Around): boolean {
  if (!areOfOneSize(before, line) || before.mono !== line.mono) return true;
  const isOther = before.bold !== line.bold || before.italic !== line.italic;
  return isOther && first.marker === undefined && endsEarly(before, line, column);
}

/** The first line of a paragraph stands to the right of the line above. */
function isIndented(before: TextLine, line: TextLine, { first, column }: Around): boolean {
  const indent = line.box[0] - before.box[0];
  if (hangsBehindNumber(before, line)) return false;
  if (indent <= 0.8 * line.size || indent >= 5 * line.size || isCentred([before, line], column)) return false;
  return before === first || endsEarly(before, line, column) || /[.!?:]["”’)]?$/.test(before.text);
}

/** Below what follows a number: the line goes on with it. */
const hangsBehindNumber = ({ words }: TextLine, line: TextLine): boolean =>
  /^[\dIVX]{1,4}(?:\.\d{1,3}){0,4}\.?$/.test(words[0]?.text ?? '') &&
  Math.abs((words[1]?.box[0] ?? 0) - line.box[0]) < 0.3 * line.size;

/** A full line of prose that was ended early, with a sentence, is the last of its paragraph. */
const endsSentence = (before: TextLine, line: TextLine, { column }: Around): boolean =>
  before.text.length > 50 &&
  widthOf(before.box) > 0.3 * widthOf(column) &&
  /[.!?]["”’)]?$/.test(before.text) &&
  endsEarly(before, line, column);

/** A number that begins a line is a marker when it begins a list or goes on with one. */
const isNextNumber = (first: TextLine, line: TextLine): boolean =>
  first.marker?.ordered === true || line.marker?.number === 1 || first.marker === undefined;

/** After an item whose text hangs to the right of its marker, a line at the marker's edge is no part of it. */
function isBack(first: TextLine, before: TextLine, line: TextLine): boolean {
  const hangs = before !== first && before.box[0] > first.box[0] + 0.5 * line.size;
  return hangs && line.box[0] < before.box[0] - 0.5 * line.size;
}

/** Dots that lead to the end of a line: what they lead to is all of it. */
const hasLeader = ({ text }: TextLine): boolean => /(?:[.·…_] ?){5}/.test(text);

/** A line that begins with a label and a colon, above another: each says one thing. */
const areLabelled = (before: TextLine, line: TextLine): boolean => isLabelled(before) && isLabelled(line);

const isLabelled = ({ text }: TextLine): boolean => /^\p{Lu}[^:.,;]{1,40}:\s\S/u.test(text);

const isCentred = (lines: readonly TextLine[], column: Box): boolean =>
  lines.every(({ box }) => Math.abs((box[0] + box[2]) / 2 - (column[0] + column[2]) / 2) < 4);

/** Whether the next line's first word would still have had room: then the line was ended on purpose. */
function endsEarly(before: TextLine, line: TextLine, column: Box): boolean {
  const [word] = line.words;
  if (word === undefined) return false;
  return before.box[2] + 0.4 * line.size + widthOf(word.box) < column[2] - 0.4 * line.size;
}
