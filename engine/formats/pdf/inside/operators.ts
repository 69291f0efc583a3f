import type { Box } from '../../../document/document.ts';
import type { InnerFont } from './fonts.ts';
import { boxIn, moved, SAME, times, type Matrix } from './matrices.ts';
import type { PdfObjects } from './objects.ts';
import type { PdfDict, PdfValue } from './syntax.ts';

/** Text that was drawn at once: in one font, from one place on. */
export interface DrawnRun {
  /** In points from the top left of the page as it is shown. */
  readonly box: Box;
  /** The name of its font. */
  readonly font: string;
  /** Drawn without ink: a machine reads it, a person does not. */
  readonly isInvisible: boolean;
}

/** The mode of text without ink. */
const INVISIBLE = 3;
const STATES_MAX = 200;

/** What `q` keeps and `Q` brings back. */
interface State {
  matrix: Matrix;
  font: InnerFont | undefined;
  size: number;
  mode: number;
  letterGap: number;
  wordGap: number;
  stretch: number;
  leading: number;
  rise: number;
}

/** What may still be followed of a whole document: contents of people have far less. */
export interface Budget {
  operators: number;
  forms: number;
  runs: number;
}

/** A page while its operators are followed. */
export interface Drawing {
  readonly objects: PdfObjects;
  readonly fonts: Map<PdfDict, InnerFont>;
  readonly toPage: Matrix;
  readonly runs: DrawnRun[];
  readonly budget: Budget;
  state: State;
  readonly kept: State[];
  line: Matrix;
  text: Matrix;
}

const numbers = (values: readonly PdfValue[]): readonly number[] =>
  values.filter((value) => typeof value === 'number' && Number.isFinite(value)) as number[];

function nextLine(drawing: Drawing, x: number, y: number): void {
  drawing.line = times(moved(x, y), drawing.line);
  drawing.text = drawing.line;
}

type Operator = (drawing: Drawing, operands: readonly PdfValue[]) => void;

const setting =
  (key: 'mode' | 'letterGap' | 'wordGap' | 'leading' | 'rise'): Operator =>
  ({ state }, operands) => {
    state[key] = numbers(operands)[0] ?? 0;
  };

/** What each operator of text does. */
export const OPERATORS: Readonly<Record<string, Operator | undefined>> = {
  q: ({ kept, state }) => {
    if (kept.length < STATES_MAX) kept.push({ ...state });
  },
  Q: (drawing) => {
    drawing.state = drawing.kept.pop() ?? drawing.state;
  },
  cm: ({ state }, operands) => {
    state.matrix = times(matrixOf(operands), state.matrix);
  },
  BT: (drawing) => {
    drawing.line = SAME;
    drawing.text = SAME;
  },
  Td: (drawing, operands) => {
    const [x = 0, y = 0] = numbers(operands);
    nextLine(drawing, x, y);
  },
  TD: (drawing, operands) => {
    const [x = 0, y = 0] = numbers(operands);
    drawing.state.leading = -y;
    nextLine(drawing, x, y);
  },
  Tm: (drawing, operands) => {
    drawing.line = matrixOf(operands);
    drawing.text = drawing.line;
  },
  'T*': (drawing) => {
    nextLine(drawing, 0, -drawing.state.leading);
  },
  Tc: setting('letterGap'),
  Tw: setting('wordGap'),
  TL: setting('leading'),
  Tr: setting('mode'),
  Ts: setting('rise'),
  Tz: ({ state }, operands) => {
    state.stretch = (numbers(operands)[0] ?? 100) / 100;
  },
  Tj: (drawing, operands) => {
    show(drawing, operands);
  },
  TJ: (drawing, [list]) => {
    show(drawing, typeof list === 'object' && list?.kind === 'list' ? list.items : []);
  },
  "'": (drawing, operands) => {
    nextLine(drawing, 0, -drawing.state.leading);
    show(drawing, operands);
  },
  '"': (drawing, [wordGap, letterGap, text]) => {
    if (typeof wordGap === 'number') drawing.state.wordGap = wordGap;
    if (typeof letterGap === 'number') drawing.state.letterGap = letterGap;
    nextLine(drawing, 0, -drawing.state.leading);
    show(drawing, text === undefined ? [] : [text]);
  },
};

/** The six numbers of a matrix. */
export function matrixOf(operands: readonly PdfValue[]): Matrix {
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = numbers(operands);
  return [a, b, c, d, e, f];
}

/** Texts and, between them, thousandths of the size to go back. */
function show(drawing: Drawing, parts: readonly PdfValue[]): void {
  const { state, text, toPage, runs } = drawing;
  const { font, size, stretch } = state;
  if (font === undefined) return;
  let along = 0;
  for (const part of parts) {
    if (typeof part === 'number') along -= (part / 1000) * size * stretch;
    else if (typeof part === 'object' && part?.kind === 'text') {
      const { width, signs, spaces } = font.measure(part.bytes);
      along += ((width / 1000) * size + signs * state.letterGap + spaces * state.wordGap) * stretch;
    }
  }
  const whole = times(times(text, state.matrix), toPage);
  drawing.budget.runs -= 1;
  runs.push({
    box: boxIn(whole, [0, state.rise, along, state.rise + size]),
    font: font.name,
    isInvisible: state.mode === INVISIBLE,
  });
  drawing.text = times(moved(along, 0), text);
}
