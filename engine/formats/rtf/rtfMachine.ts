import type { Piece } from '../pieces/blocks.ts';
import type { RtfHead } from './rtfHead.ts';
import { FIRST_PARAGRAPH, type RtfParagraph, type RtfState } from './rtfState.ts';
import { endParagraph, endTable, rtfStory, type RtfStory } from './rtfStory.ts';
import type { Section } from '../pieces/letterheads.ts';
import { sameLook } from '../pieces/runs.ts';
import { shiftedText } from '../office/symbols.ts';

/** What a group gives back when it ends. */
interface Group {
  readonly state: RtfState;
  readonly paragraph: RtfParagraph;
  readonly end: (() => void) | null;
}

/** The state of a check box or list of an old form, which no result holds. */
export interface RtfForm {
  result: number;
  standard: number;
  readonly entries: string[];
}

export const rtfForm = (): RtfForm => ({ result: STANDARD_RESULT, standard: 0, entries: [] });

/** Stands for the standard value. */
const STANDARD_RESULT = 25;

/** What a field of an old form shows; '' where its result does. */
export function textOfForm(instruction: string, { result, standard, entries }: RtfForm): string {
  const value = result === STANDARD_RESULT ? standard : result;
  if (/^\s*FORMCHECKBOX/i.test(instruction)) return value === 1 ? '☒' : '☐';
  return /^\s*FORMDROPDOWN/i.test(instruction) ? (entries[value] ?? '') : '';
}

/** Headers and footers of a section by the words that begin them. */
export interface RtfSection {
  hasFirstPage: boolean;
  readonly letterheads: Map<string, readonly Piece[]>;
}

export const rtfSection = (): RtfSection => ({ hasFirstPage: false, letterheads: new Map() });

/** Ends the section that is being read with what the text has by then. */
export function endSection(machine: RtfMachine): void {
  const { section, story, hasFacingPages } = machine;
  const shown = (name: string): readonly (readonly Piece[])[] =>
    [...(section.hasFirstPage ? ['f'] : []), '', ...(hasFacingPages ? ['r', 'l'] : [])].flatMap((side) => {
      const pieces = section.letterheads.get(name + side);
      return pieces === undefined ? [] : [pieces];
    });
  machine.sections.push({ body: story.pieces.splice(0), headers: shown('header'), footers: shown('footer') });
  machine.section = rtfSection();
}

/** What reading a file remembers from token to token. */
export interface RtfMachine {
  readonly head: RtfHead;
  readonly groups: Group[];
  readonly notes: (readonly Piece[])[];
  story: RtfStory;
  state: RtfState;
  paragraph: RtfParagraph;
  /** Bytes of a code page that are not decoded yet, for a character may have two. */
  bytes: number[];
  /** Characters left to skip, for they stand for a Unicode character before them. */
  toSkip: number;
  /** Whether a group has just begun, and whether with `\*`. */
  begins: 'no' | 'plain' | 'starred';
  /** Of the last field. */
  instruction: string;
  /** Of the last field that is a part of a form. */
  form: RtfForm;
  /** The sections that have ended, and the one that goes on. */
  readonly sections: Section[];
  section: RtfSection;
  /** Pages on the left and on the right have headers and footers of their own. */
  hasFacingPages: boolean;
  hasHidden: boolean;
  /** The pages have a colour or a picture behind their text. */
  hasFilledPages: boolean;
}

/** Text of the group that is being read, to where that goes. */
export function addText(machine: RtfMachine, text: string): void {
  const { destination, isDeleted } = machine.state;
  if (destination === 'label') machine.story.label += text;
  else if (destination === 'instruction') machine.instruction += text;
  else if (destination === 'entry') addEntry(machine.form, text);
  else if (destination === 'fonts' || destination === 'styles' || destination === 'colours')
    machine.head.name(destination, text);
  else if (destination === 'body' && !isDeleted) addRun(machine, text);
}

const ENTRIES_MAX = 1000;

function addEntry({ entries }: RtfForm, text: string): void {
  if (entries.length < ENTRIES_MAX) entries.push(text.trim());
}

/** Text of one look is one run, for a file may say the same look before each word. */
function addRun(machine: RtfMachine, text: string): void {
  const { look, shift, isHidden, isTiny } = machine.state;
  const { runs } = machine.story;
  if (isHidden || isTiny || isWhiteOnWhite(machine)) {
    machine.hasHidden ||= text.trim() !== '';
    return;
  }
  const shown = shift === null ? text : shiftedText(text, shift);
  const last = runs.at(-1);
  if (last?.note === null && sameLook(last, look))
    runs[runs.length - 1] = { ...last, text: last.text + shown };
  else runs.push({ ...look, note: null, text: shown });
}

/** White text on pages, paragraphs and cells without a colour; of frames nobody knows what is behind them. */
function isWhiteOnWhite({ head, state, paragraph, story, hasFilledPages }: RtfMachine): boolean {
  if (!head.isWhite(state.colour) || story.isInset || hasFilledPages) return false;
  if (paragraph.inTable && story.declared.isFilled) return false;
  return [state.behind, paragraph.behind].every((colour) => colour === 0 || head.isWhite(colour));
}

/** Decodes what is left; to be called before anything that is not such a byte. */
export function flushBytes(machine: RtfMachine): void {
  const { bytes, state, head } = machine;
  if (bytes.length === 0) return;
  machine.bytes = [];
  addText(machine, head.decode(bytes, state.font));
}

export function closeParagraph({ story, paragraph, head }: RtfMachine): void {
  endParagraph(story, paragraph, head.roleOf(paragraph.style));
}

/** Ends what is open of a story and gives what it holds. */
export function endStory(machine: RtfMachine): readonly Piece[] {
  const { story } = machine;
  machine.paragraph = { ...machine.paragraph, inTable: false };
  if (story.runs.length > 0) closeParagraph(machine);
  endTable(story);
  return story.pieces;
}

/** Begins a note or frame; what is returned ends it. */
export function beginStory(machine: RtfMachine, take: (pieces: readonly Piece[]) => void): () => void {
  const outer = machine.story;
  machine.story = rtfStory({ isInset: true });
  machine.paragraph = FIRST_PARAGRAPH;
  return () => {
    const pieces = endStory(machine);
    machine.story = outer;
    take(pieces);
  };
}
