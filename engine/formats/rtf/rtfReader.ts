import type { Piece } from '../pieces/blocks.ts';
import { rtfHead } from './rtfHead.ts';
import {
  addText,
  beginStory,
  closeParagraph,
  endSection,
  endStory,
  flushBytes,
  rtfForm,
  rtfSection,
  textOfForm,
  type RtfForm,
  type RtfMachine,
} from './rtfMachine.ts';
import {
  destinationOf,
  FIRST_PARAGRAPH,
  FIRST_STATE,
  LOOKS,
  PARAGRAPHS,
  SIGNS,
  type RtfState,
} from './rtfState.ts';
import { declareRow, endCell, endRow, rtfStory } from './rtfStory.ts';
import type { RtfToken } from './rtfTokens.ts';
import { eqText } from '../office/eqField.ts';
import { countsPages, PAGE_MARK, withLetterheads } from '../pieces/letterheads.ts';
import { linkOfField, noteRun } from '../pieces/runs.ts';

/** What an RTF file says, in reading order. */
export interface RtfText {
  readonly pieces: readonly Piece[];
  readonly notes: readonly (readonly Piece[])[];
  readonly hasHidden: boolean;
}

/** Reads an RTF file token by token. */
export function readRtf(tokens: Iterable<RtfToken>): RtfText {
  const machine: RtfMachine = {
    head: rtfHead(),
    groups: [],
    notes: [],
    story: rtfStory({ isInset: false }),
    state: FIRST_STATE,
    paragraph: FIRST_PARAGRAPH,
    bytes: [],
    toSkip: 0,
    begins: 'no',
    instruction: '',
    form: rtfForm(),
    sections: [],
    section: rtfSection(),
    hasFacingPages: false,
    hasHidden: false,
    hasFilledPages: false,
  };
  for (const token of tokens) take(machine, token);
  flushBytes(machine);
  while (machine.groups.length > 0) endGroup(machine);
  endStory(machine);
  endSection(machine);
  return {
    pieces: withLetterheads(machine.sections),
    notes: machine.notes,
    hasHidden: machine.hasHidden,
  };
}

function take(machine: RtfMachine, token: RtfToken): void {
  if (token.kind === 'byte') takeByte(machine, token.code);
  else if (token.kind === 'text') takeText(machine, token.text);
  else {
    flushBytes(machine);
    takeControl(machine, token);
  }
}

function takeControl(machine: RtfMachine, token: Exclude<RtfToken, { kind: 'byte' | 'text' }>): void {
  if (token.kind === 'close') endGroup(machine);
  else if (token.kind === 'word') takeWord(machine, token.word, token.value);
  else {
    machine.groups.push({ state: machine.state, paragraph: machine.paragraph, end: null });
    machine.begins = 'plain';
    machine.toSkip = 0;
  }
}

function endGroup(machine: RtfMachine): void {
  const group = machine.groups.pop();
  machine.toSkip = 0;
  machine.begins = 'no';
  if (group === undefined) return;
  group.end?.();
  machine.state = group.state;
  machine.paragraph = group.paragraph;
}

function takeByte(machine: RtfMachine, code: number): void {
  machine.begins = 'no';
  if (machine.toSkip > 0) machine.toSkip -= 1;
  else machine.bytes.push(code);
}

/** Bytes above 127 may stand as they are, though they should not. */
function takeText(machine: RtfMachine, text: string): void {
  machine.begins = 'no';
  const rest = text.slice(machine.toSkip);
  machine.toSkip = Math.max(0, machine.toSkip - text.length);
  if (rest === '') return;
  if (/[\u0080-\u00ff]/.test(rest) || machine.bytes.length > 0)
    for (const byte of Buffer.from(rest, 'latin1')) machine.bytes.push(byte);
  else addText(machine, rest);
}

function takeWord(machine: RtfMachine, word: string, value: number | null): void {
  if (word === '*') {
    if (machine.begins === 'plain') machine.begins = 'starred';
    return;
  }
  const { begins } = machine;
  machine.begins = 'no';
  if (begins !== 'no' && beginsGroup(machine, word, begins === 'starred')) return;
  if (machine.state.destination === 'skip') return;
  if (word === 'u') {
    machine.toSkip = machine.state.skips;
    const code = ((value ?? 0) + 0x10000) % 0x10000;
    addText(machine, machine.head.character(code, machine.state.font));
  } else if (machine.toSkip > 0) machine.toSkip -= 1;
  else apply(machine, word, value);
}

const LETTERHEADS = new Set(
  ['header', 'footer'].flatMap((name) => ['', 'f', 'l', 'r'].map((side) => name + side)),
);
const STORIES = new Set(['fldrslt', 'footnote', 'shptxt', 'dptxbxtext', ...LETTERHEADS]);

/** Whether the first word of a group says what the group is. */
function beginsGroup(machine: RtfMachine, word: string, isStarred: boolean): boolean {
  const { state } = machine;
  const destination = state.destination === 'skip' ? 'skip' : destinationOf(word, isStarred);
  if (destination !== undefined) {
    machine.state = { ...state, destination };
    if (destination === 'instruction') beginInstruction(machine, state);
    return true;
  }
  if (word === 'fldrslt') beginResult(machine);
  else if (STORIES.has(word)) beginNested(machine, word);
  return STORIES.has(word);
}

/** An equation or a field of an old form is seen by its instruction, which may have no result beside it. */
function beginInstruction(machine: RtfMachine, around: RtfState): void {
  machine.instruction = '';
  machine.form = rtfForm();
  const group = machine.groups.pop();
  if (group === undefined) return;
  const end = (): void => {
    machine.state = around;
    const text = eqText(machine.instruction) ?? textOfForm(machine.instruction, machine.form);
    if (text !== '') addText(machine, text);
  };
  machine.groups.push({ ...group, end });
}

function beginResult(machine: RtfMachine): void {
  const { state, instruction, form, story } = machine;
  const isSaid = eqText(instruction) !== null || textOfForm(instruction, form) !== '';
  const isCount = story.isLetterhead && countsPages(instruction);
  if (isCount) addText(machine, PAGE_MARK);
  machine.state =
    isSaid || isCount
      ? { ...state, destination: 'skip' }
      : { ...state, look: { ...state.look, link: linkOfField(instruction) } };
}

function beginNested(machine: RtfMachine, word: string): void {
  const group = machine.groups.pop();
  if (group === undefined) return;
  const end = endOf(machine, word);
  machine.groups.push({ ...group, end });
}

/** Begins the story that a word begins; what is returned ends it. */
function endOf(machine: RtfMachine, word: string): () => void {
  const { story, notes, section } = machine;
  if (word === 'footnote') return beginNote(machine, notes.push([]) - 1);
  if (!LETTERHEADS.has(word)) return beginStory(machine, (pieces) => story.aside.push(...pieces));
  const end = beginStory(machine, (pieces) => section.letterheads.set(word, pieces));
  machine.story.isLetterhead = true;
  return end;
}

function beginNote(machine: RtfMachine, index: number): () => void {
  machine.story.runs.push(noteRun(index + 1));
  return beginStory(machine, (pieces: readonly Piece[]) => {
    machine.notes[index] = pieces;
  });
}

function apply(machine: RtfMachine, word: string, value: number | null): void {
  if (applyToDocument(machine, word, value)) return;
  const { state } = machine;
  if (LOOKS.has(word)) machine.state = LOOKS.get(word)?.(state, value) ?? state;
  else if (Object.hasOwn(SIGNS, word)) addText(machine, SIGNS[word] ?? '');
  else if (state.destination === 'body') applyToParagraph(machine, word, value);
}

/** Takes in a word of the document's head; false where it is none. */
function applyToDocument(machine: RtfMachine, word: string, value: number | null): boolean {
  const { state, head } = machine;
  const { destination } = state;
  if (head.codePage(word, value)) return true;
  if (destination === 'fonts' || destination === 'styles' || destination === 'colours') {
    head.word(destination, word, value);
    return true;
  }
  if (word === 'viewbksp') machine.hasFilledPages = value === 1;
  else if (word === 'facingp') machine.hasFacingPages = value !== 0;
  else if (word === 'titlepg') machine.section.hasFirstPage = true;
  else return destination === 'form' && applyToForm(machine.form, word, value);
  return true;
}

function applyToForm(form: RtfForm, word: string, value: number | null): boolean {
  if (word === 'ffres') form.result = value ?? 0;
  else if (word === 'ffdefres') form.standard = value ?? 0;
  return true;
}

function applyToParagraph(machine: RtfMachine, word: string, value: number | null): void {
  if (declareRow(machine.story, word, value) || structure(machine, word)) return;
  machine.paragraph = PARAGRAPHS.get(word)?.(machine.paragraph, value) ?? machine.paragraph;
}

/** Ends paragraphs, cells and rows; false where the word ends none. */
function structure(machine: RtfMachine, word: string): boolean {
  switch (word) {
    case 'par':
    case 'nestcell':
      closeParagraph(machine);
      return true;
    case 'sect':
      closeParagraph(machine);
      if (!machine.story.isInset) endSection(machine);
      return true;
    case 'chpgn':
      if (machine.story.isLetterhead) addText(machine, PAGE_MARK);
      return true;
    case 'cell':
      machine.paragraph = { ...machine.paragraph, inTable: true };
      closeParagraph(machine);
      endCell(machine.story);
      return true;
    case 'row':
      endRow(machine.story);
      return true;
    default:
      return false;
  }
}
