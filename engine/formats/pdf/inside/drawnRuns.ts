import { ownMember } from '../../../kernel/json.ts';
import { SAME, shownMatrix, times } from './matrices.ts';
import { matrixOf, OPERATORS, type Budget, type DrawnRun, type Drawing } from './operators.ts';
import { innerFont } from './fonts.ts';
import { isRef, nameIn, type PdfObjects } from './objects.ts';
import type { InnerPage } from './pageTree.ts';
import { readValue, type PdfDict, type PdfRef, type PdfValue, type PdfWord } from './syntax.ts';
import type { Cursor } from './texts.ts';

const FORMS_DEEP_MAX = 8;
const OPERANDS_MAX = 64;

/** The texts that a page draws, in the order in which it draws them. */
export function drawnRuns(page: InnerPage, objects: PdfObjects, budget: Budget): readonly DrawnRun[] {
  const drawing: Drawing = {
    objects,
    fonts: new Map(),
    toPage: shownMatrix(page),
    runs: [],
    budget,
    state: {
      matrix: SAME, font: undefined, size: 0, mode: 0, letterGap: 0, wordGap: 0, stretch: 1, leading: 0, rise: 0,
    }, // prettier-ignore
    kept: [],
    line: SAME,
    text: SAME,
  };
  draw(drawing, { bytes: contentsOf(page, objects), resources: page.resources, depth: 0 });
  return drawing.runs;
}

/** What a page draws, unpacked. */
export function contentsOf({ dict }: Pick<InnerPage, 'dict'>, objects: PdfObjects): Uint8Array {
  const contents = dict.entries.get('Contents');
  const parts = (objects.list(contents)?.items ?? [contents]).filter(isRef);
  const bytes = parts.map((part) => objects.stream(part)?.bytes ?? new Uint8Array());
  return bytes.length === 1
    ? (bytes[0] ?? new Uint8Array())
    : Buffer.concat(bytes.flatMap((one) => [one, GAP]));
}

const GAP = Buffer.from('\n');

/** Contents with what they call by name, and how many forms they lie in. */
interface Contents {
  readonly bytes: Uint8Array;
  readonly resources: PdfDict | undefined;
  readonly depth: number;
}

function draw(drawing: Drawing, contents: Contents): void {
  const { bytes } = contents;
  const { budget } = drawing;
  const cursor: Cursor = { bytes, at: 0 };
  let operands: PdfValue[] = [];
  while (cursor.at < bytes.length && budget.operators > 0 && budget.runs > 0) {
    const value = readValue(cursor);
    if (value === undefined) cursor.at += 1;
    else if (!isOperator(value)) {
      if (operands.length < OPERANDS_MAX) operands.push(value);
    } else {
      budget.operators -= 1;
      if (value.word === 'BI') skipPicture(cursor);
      else operate(drawing, { word: value.word, operands, contents });
      operands = [];
    }
  }
}

const isOperator = (value: PdfValue): value is PdfWord => typeof value === 'object' && value?.kind === 'word';

interface Operation {
  readonly word: string;
  readonly operands: readonly PdfValue[];
  readonly contents: Contents;
}

function operate(drawing: Drawing, { word, operands, contents }: Operation): void {
  if (word === 'Do') drawForm(drawing, operands, contents);
  else if (word === 'Tf') setFont(drawing, operands, contents.resources);
  else ownMember(OPERATORS, word)?.(drawing, operands);
}

/** The bytes of a picture among the operators are not for reading. */
function skipPicture(cursor: Cursor): void {
  const { buffer, byteOffset, length } = cursor.bytes;
  const bytes = Buffer.from(buffer, byteOffset, length);
  const end = bytes.indexOf('\nEI', cursor.at);
  const other = end < 0 ? bytes.indexOf(' EI', cursor.at) : end;
  cursor.at = other < 0 ? length : other + 3;
}

function drawForm(drawing: Drawing, [name]: readonly PdfValue[], { resources, depth }: Contents): void {
  const { objects, budget } = drawing;
  const ref = objects.dict(resources?.entries.get('XObject'))?.entries.get(nameIn(name));
  if (!isRef(ref) || depth >= FORMS_DEEP_MAX || budget.forms <= 0 || !isForm(ref, objects)) return;
  budget.forms -= 1;
  const stream = objects.stream(ref);
  if (stream !== undefined) drawInside(drawing, stream, { resources, depth: depth + 1 });
}

function drawInside(
  drawing: Drawing,
  { bytes, dict }: { readonly bytes: Uint8Array; readonly dict: PdfDict },
  { resources, depth }: Omit<Contents, 'bytes'>,
): void {
  const { objects } = drawing;
  const before = { ...drawing.state };
  drawing.state.matrix = times(
    matrixOf(objects.list(dict.entries.get('Matrix'))?.items ?? []),
    drawing.state.matrix,
  );
  const own = objects.dict(dict.entries.get('Resources')) ?? resources;
  draw(drawing, { bytes, resources: own, depth });
  drawing.state = before;
}

const isForm = (ref: PdfRef, objects: PdfObjects): boolean =>
  nameIn(objects.get(objects.dict(ref)?.entries.get('Subtype'))) === 'Form';

function setFont(drawing: Drawing, [name, size]: readonly PdfValue[], resources: PdfDict | undefined): void {
  const { objects, fonts, state } = drawing;
  const dict = objects.dict(objects.dict(resources?.entries.get('Font'))?.entries.get(nameIn(name)));
  const known = dict === undefined ? undefined : (fonts.get(dict) ?? innerFont(dict, objects));
  if (dict !== undefined && known !== undefined) fonts.set(dict, known);
  state.font = known;
  state.size = typeof size === 'number' ? size : 0;
}
