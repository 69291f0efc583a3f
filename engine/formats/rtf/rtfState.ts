import type { Look } from '../pieces/runs.ts';
import { PLAIN } from '../pieces/runs.ts';

/** What becomes of the text of a group. */
export type Destination =
  | 'body'
  | 'skip'
  | 'fonts'
  | 'styles'
  | 'colours'
  | 'label'
  | 'instruction'
  | 'form'
  | 'entry';

/** How characters look, and how their bytes are read. A group ends with what it began with. */
export interface RtfState {
  readonly destination: Destination;
  readonly look: Look;
  readonly isHidden: boolean;
  readonly isTiny: boolean;
  readonly isDeleted: boolean;
  /** Numbers of the colours of the text and of what is behind it; 0 is what the reader takes. */
  readonly colour: number;
  readonly behind: number;
  readonly shift: 'super' | 'sub' | null;
  readonly font: number | null;
  /** Characters to skip after `\u`, for readers that know no Unicode. */
  readonly skips: number;
}

/** What a paragraph is; `\pard` sets it anew. */
export interface RtfParagraph {
  readonly style: number | null;
  readonly outline: number | null;
  readonly inTable: boolean;
  readonly list: number;
  readonly level: number;
  /** The number of the colour behind it. */
  readonly behind: number;
}

export const FIRST_STATE: RtfState = {
  destination: 'body',
  look: PLAIN,
  isHidden: false,
  isTiny: false,
  isDeleted: false,
  colour: 0,
  behind: 0,
  shift: null,
  font: null,
  skips: 1,
};

export const FIRST_PARAGRAPH: RtfParagraph = {
  style: null,
  outline: null,
  inTable: false,
  list: 0,
  level: 0,
  behind: 0,
};

const TINY_BELOW = 4;
const LEVEL_MAX = 8;
const isOn = (value: number | null): boolean => value !== 0;

type Change = (state: RtfState, value: number | null) => RtfState;

const lookWith =
  (name: 'bold' | 'italic' | 'strike'): Change =>
  (state, value) =>
    state.look[name] === isOn(value) ? state : { ...state, look: { ...state.look, [name]: isOn(value) } };

/** Words that change how characters look. */
export const LOOKS: ReadonlyMap<string, Change> = new Map<string, Change>([
  ['b', lookWith('bold')],
  ['i', lookWith('italic')],
  ['strike', lookWith('strike')],
  ['striked', lookWith('strike')],
  ['v', (state, value) => ({ ...state, isHidden: isOn(value) })],
  ['deleted', (state, value) => ({ ...state, isDeleted: isOn(value) })],
  ['fs', (state, value) => ({ ...state, isTiny: (value ?? TINY_BELOW) < TINY_BELOW })],
  ['cf', (state, value) => ({ ...state, colour: value ?? 0 })],
  ['cb', (state, value) => ({ ...state, behind: value ?? 0 })],
  ['chcbpat', (state, value) => ({ ...state, behind: value ?? 0 })],
  ['highlight', (state, value) => ({ ...state, behind: value ?? 0 })],
  ['f', (state, value) => ({ ...state, font: value })],
  ['uc', (state, value) => ({ ...state, skips: Math.min(16, Math.max(0, value ?? 1)) })],
  ['super', (state) => ({ ...state, shift: 'super' })],
  ['sub', (state) => ({ ...state, shift: 'sub' })],
  ['nosupersub', (state) => ({ ...state, shift: null })],
  [
    'plain',
    (state) => ({
      ...state,
      look: { ...PLAIN, link: state.look.link },
      isHidden: false,
      isTiny: false,
      isDeleted: false,
      colour: 0,
      behind: 0,
      shift: null,
      font: null,
    }),
  ],
]);

type ParagraphChange = (paragraph: RtfParagraph, value: number | null) => RtfParagraph;

/** Words that say what a paragraph is. */
export const PARAGRAPHS: ReadonlyMap<string, ParagraphChange> = new Map<string, ParagraphChange>([
  ['pard', () => FIRST_PARAGRAPH],
  ['s', (paragraph, style) => ({ ...paragraph, style })],
  ['outlinelevel', (paragraph, outline) => ({ ...paragraph, outline })],
  ['intbl', (paragraph) => ({ ...paragraph, inTable: true })],
  ['itap', (paragraph, value) => ({ ...paragraph, inTable: (value ?? 0) > 0 })],
  ['cbpat', (paragraph, behind) => ({ ...paragraph, behind: behind ?? 0 })],
  ['ls', (paragraph, value) => ({ ...paragraph, list: value ?? 0 })],
  ['ilvl', (paragraph, value) => ({ ...paragraph, level: Math.min(LEVEL_MAX, Math.max(0, value ?? 0)) })],
]);

/** Words that are signs. */
export const SIGNS: Readonly<Record<string, string>> = {
  tab: '\t',
  line: '\n',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
  endash: '–',
  emdash: '—',
  enspace: '\u2002',
  emspace: '\u2003',
};

/** Groups that hold nothing of the text that is seen; so does every unknown one that begins with `\*`. */
const SKIPPED = new Set(
  `listtable listoverridetable info generator pict objdata ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn xe
  tc rxe bkmkstart bkmkend annotation atnid atnauthor atntime atnref atrfstart atrfend revtbl rsidtbl
  themedata colorschememapping datastore latentstyles filetbl nonshppict nonesttables nesttableprops pgptbl
  xmlnstbl userprops template sp mctrlPr mmathPict txe pntxta pntxtb fldtype private objclass objname
  shprslt`.split(/\s+/),
);
const DESTINATIONS: Readonly<Record<string, Destination>> = {
  fonttbl: 'fonts',
  stylesheet: 'styles',
  colortbl: 'colours',
  listtext: 'label',
  pntext: 'label',
  fldinst: 'instruction',
  formfield: 'form',
  ffl: 'entry',
};
/** Groups that begin with `\*` and yet hold text. */
const STARRED = new Set(['shpinst', 'moMath', 'moMathPara', 'fldinst', 'do']);

/** Where the text of a group goes that begins with a word; undefined where it stays. */
export function destinationOf(word: string, isStarred: boolean): Destination | undefined {
  const destination = Object.hasOwn(DESTINATIONS, word) ? DESTINATIONS[word] : undefined;
  if (destination !== undefined) return destination;
  if (SKIPPED.has(word)) return 'skip';
  return isStarred && !STARRED.has(word) ? 'skip' : undefined;
}
