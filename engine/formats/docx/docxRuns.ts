import { ownMember } from '../../kernel/json.ts';
import { imagePieces, type Piece } from '../pieces/blocks.ts';
import {
  FIELDS_MAX,
  isUnfilled,
  noteNumber,
  preferred,
  type DocxReader,
  type Field,
  type NoteKind,
} from './docxReader.ts';
import { lookOfRun } from './docxLook.ts';
import { valueOf, toggle, type DocxStyle } from './docxStyles.ts';
import { mathText } from '../office/mathText.ts';
import { chartsIn } from '../office/charts.ts';
import { diagramPieces } from '../office/diagrams.ts';
import { eqText } from '../office/eqField.ts';
import { countsPages, PAGE_MARK } from '../pieces/letterheads.ts';
import { linkOf, linkOfField, noteRun, PLAIN, plainRun, type Look, type Run } from '../pieces/runs.ts';
import { shiftedText, symbolSign } from '../office/symbols.ts';
import { childAt, elementsOf, findAll, textIn, type XmlElement } from '../office/xmlTree.ts';

/** Where runs stand: their paragraph's properties and styles, and the link around them. */
export interface Around {
  readonly properties: XmlElement | undefined;
  readonly chain: readonly DocxStyle[];
  readonly link: string | null;
}

/** Containers that only wrap what they hold. Deleted text (`w:del`, `w:moveFrom`) is none of them. */
const TRANSPARENT = new Set([
  'w:ins',
  'w:moveTo',
  'w:smartTag',
  'w:customXml',
  'w:sdt',
  'w:sdtContent',
  'w:dir',
  'w:bdo',
]);

/** The visible runs of a paragraph or of what it holds. */
export const runsIn = (element: XmlElement, around: Around, reader: DocxReader): readonly Run[] =>
  elementsOf(element).flatMap((child) => runsOfChild(child, around, reader));

function runsOfChild(child: XmlElement, around: Around, reader: DocxReader): readonly Run[] {
  if (isUnfilled(child)) return [];
  if (TRANSPARENT.has(child.name)) return runsIn(child, around, reader);
  const linked = (link: string | null): Around => ({ ...around, link: link ?? around.link });
  switch (child.name) {
    case 'w:r':
      return runsOfRun(child, around, reader);
    case 'w:hyperlink':
      return runsIn(child, linked(linkOfElement(child, reader)), reader);
    case 'w:fldSimple':
      return runsOfSimpleField(child, around, reader);
    case 'mc:AlternateContent':
      return elementsOf(preferred(child)).flatMap((inner) => runsOfChild(inner, around, reader));
    case 'm:oMath':
    case 'm:oMathPara':
      return [plainRun(mathText(child))];
    default:
      return [];
  }
}

/** A field whose instruction stands in an attribute. */
function runsOfSimpleField(child: XmlElement, around: Around, reader: DocxReader): readonly Run[] {
  const instruction = child.attributes['w:instr'] ?? '';
  if (reader.isLetterhead && countsPages(instruction)) return [plainRun(PAGE_MARK)];
  const runs = runsIn(child, { ...around, link: linkOfField(instruction) ?? around.link }, reader);
  const equation = runs.length === 0 ? eqText(instruction) : null;
  return equation === null ? runs : [plainRun(equation)];
}

function linkOfElement({ attributes }: XmlElement, reader: DocxReader): string | null {
  const target = reader.links.get(attributes['r:id'] ?? '');
  return target === undefined ? null : linkOf(target);
}

function runsOfRun(run: XmlElement, around: Around, reader: DocxReader): readonly Run[] {
  const properties = childAt(run, 'w:rPr');
  const look = lookOfRun(properties, around, reader);
  const shift = /^(super|sub)script$/.exec(valueOf(properties, 'w:vertAlign') ?? '')?.[1];
  const place = { around, reader, look: look ?? PLAIN, isHidden: look === null };
  return elementsOf(run).flatMap((child) => {
    const runs = runsOfPart(child, place);
    if (shift !== 'super' && shift !== 'sub') return runs;
    return runs.map((part) => ({ ...part, text: shiftedText(part.text, shift) }));
  });
}

interface RunSurroundings {
  readonly around: Around;
  readonly reader: DocxReader;
  readonly look: Look;
  readonly isHidden: boolean;
}

/** What stands inside a run: text, its special signs, fields, notes and drawings. */
function runsOfPart(part: XmlElement, place: RunSurroundings): readonly Run[] {
  if (part.name === 'w:fldChar') return fieldMark(part, place);
  if (part.name === 'w:instrText') return instruct(part, place.reader);
  if (place.reader.fields.some(({ isShown }) => !isShown)) return [];
  const text = signOfPart(part);
  if (text !== undefined) return textRuns(text, place);
  return place.isHidden ? [] : runsOfInset(part, place);
}

const NOTES: Readonly<Record<string, NoteKind>> = {
  'w:footnoteReference': 'footnotes',
  'w:endnoteReference': 'endnotes',
};

function runsOfInset(part: XmlElement, place: RunSurroundings): readonly Run[] {
  const { reader, around } = place;
  const kind = ownMember(NOTES, part.name);
  if (kind !== undefined) return [noteRun(noteNumber(reader, kind, part.attributes['w:id'] ?? ''))];
  switch (part.name) {
    case 'w:ruby':
      return elementsOf(part, 'w:rubyBase').flatMap((base) => runsIn(base, around, reader));
    case 'mc:AlternateContent':
      return elementsOf(preferred(part)).flatMap((child) => runsOfPart(child, place));
    case 'w:drawing':
    case 'w:pict':
    case 'w:object':
      readDrawing(part, reader);
      return [];
    default:
      return [];
  }
}

function signOfPart(part: XmlElement): string | undefined {
  switch (part.name) {
    case 'w:t':
      return textIn(part);
    case 'w:tab':
    case 'w:ptab':
      return '\t';
    case 'w:br':
    case 'w:cr':
      return '\n';
    case 'w:noBreakHyphen':
      return '-';
    case 'w:sym':
      return symbolSign(
        part.attributes['w:font'] ?? '',
        Number.parseInt(part.attributes['w:char'] ?? '0', 16),
      );
    default:
      return undefined;
  }
}

function textRuns(text: string, { around, reader, look, isHidden }: RunSurroundings): readonly Run[] {
  if (isHidden) {
    if (text.trim() !== '') reader.hasHidden = true;
    return [];
  }
  for (const field of reader.fields) field.hasText ||= text.trim() !== '';
  if (reader.isLetterhead && reader.fields.some(({ instruction }) => countsPages(instruction)))
    return [plainRun(PAGE_MARK)];
  const field = reader.fields.findLast(({ link }) => link !== null);
  return [{ ...look, text, note: null, link: field?.link ?? around.link }];
}

function fieldMark(mark: XmlElement, { reader }: RunSurroundings): readonly Run[] {
  switch (mark.attributes['w:fldCharType']) {
    case 'begin':
      if (reader.fields.length < FIELDS_MAX)
        reader.fields.push({ instruction: '', isShown: false, link: null, hasText: false });
      return boxOf(childAt(mark, 'w:ffData'));
    case 'separate': {
      const field: Field | undefined = reader.fields.at(-1);
      if (field === undefined) return [];
      field.isShown = true;
      field.link = linkOfField(field.instruction);
      return [];
    }
    case 'end':
      return endField(reader);
    default:
      return [];
  }
}

/** An equation of the old form has no result: its instruction is what is seen. */
function endField(reader: DocxReader): readonly Run[] {
  const field = reader.fields.pop();
  if (field === undefined || field.hasText || reader.fields.some(({ isShown }) => !isShown)) return [];
  if (reader.isLetterhead && countsPages(field.instruction)) return [plainRun(PAGE_MARK)];
  const equation = eqText(field.instruction);
  return equation === null ? [] : [plainRun(equation)];
}

function instruct(part: XmlElement, reader: DocxReader): readonly Run[] {
  const field = reader.fields.at(-1);
  if (field !== undefined && !field.isShown) field.instruction += textIn(part);
  return [];
}

/** A check box or list of an old form shows its state, which no run holds. */
function boxOf(form: XmlElement | undefined): readonly Run[] {
  const box = childAt(form, 'w:checkBox');
  if (box !== undefined) {
    const isChecked = toggle(box, 'w:checked') ?? toggle(box, 'w:default') ?? false;
    return [plainRun(isChecked ? '☒' : '☐')];
  }
  const list = childAt(form, 'w:ddList');
  const chosen = elementsOf(list, 'w:listEntry')[Number(valueOf(list, 'w:result') ?? '0')];
  return chosen === undefined ? [] : [plainRun(chosen.attributes['w:val'] ?? '')];
}

/** What a drawing says follows its paragraph: the text of its frames, or else its description. */
function readDrawing(drawing: XmlElement, reader: DocxReader): void {
  const frames = findAll(drawing, 'w:txbxContent');
  reader.aside.push(...wordArt(drawing));
  if (frames.length === 0) {
    const shown = shownIn(drawing, reader);
    reader.aside.push(...shown);
    if (shown.length > 0) return;
    const described = findAll(drawing, 'wp:docPr')[0] ?? findAll(drawing, 'v:shape')[0];
    reader.aside.push(...imagePieces(described?.attributes['descr'] ?? described?.attributes['alt']));
    return;
  }
  const { aside, carried } = reader;
  const pieces = frames.flatMap((frame) => {
    Object.assign(reader, { aside: [], carried: [], boxes: reader.boxes + 1 });
    const inside = reader.readPieces(frame);
    reader.boxes -= 1;
    return inside;
  });
  Object.assign(reader, { carried, aside: [...aside, ...pieces] });
}

/** The charts and diagrams that a drawing shows. */
function shownIn(drawing: XmlElement, { drawn }: DocxReader): readonly Piece[] {
  const data = findAll(drawing, 'a:graphicData')[0];
  const charts = data === undefined ? [] : chartsIn(data, drawn);
  return [...charts.map((block): Piece => ({ kind: 'block', block })), ...diagramPieces(data, drawn)];
}

/** Text that is drawn as a picture; a watermark is no text of the document. */
const wordArt = (drawing: XmlElement): readonly Piece[] =>
  findAll(drawing, 'v:shape').flatMap((shape) => {
    const text = childAt(shape, 'v:textpath')?.attributes['string'] ?? '';
    return text.trim() === '' || /watermark/i.test(shape.attributes['id'] ?? '')
      ? []
      : [{ kind: 'text', role: { kind: 'paragraph' }, label: null, runs: [plainRun(text)] }];
  });
