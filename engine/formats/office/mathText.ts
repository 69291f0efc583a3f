import { childAt, elementsOf, textIn, type XmlElement } from './xmlTree.ts';

/** An equation of Office Open XML on one line: `(a+b)/(c)`, `x^2`, `√(x)`. */
export function mathText(element: XmlElement | undefined): string {
  return elementsOf(element).map(mathElement).join('');
}

type Write = (part: (name: string) => string, element: XmlElement) => string;

const scripts: Write = (part) => `${part('m:e')}${below(part('m:sub'))}${above(part('m:sup'))}`;
const limits: Write = (part) => `${part('m:e')}${below(part('m:lim'))} `;
const rows: Write = (_, element) =>
  elementsOf(element)
    .filter(({ name }) => name === 'm:mr' || name === 'm:e')
    .map((row) => (row.name === 'm:mr' ? elementsOf(row, 'm:e').map(mathText).join(' ') : mathText(row)))
    .join('; ');

const WRITERS: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['m:t', (_, element) => textIn(element)],
  ['m:f', (part) => `${grouped(part('m:num'))}/${grouped(part('m:den'))}`],
  ['m:rad', (part) => `${part('m:deg')}√(${part('m:e')})`],
  ['m:d', (_, element) => delimited(element)],
  [
    'm:nary',
    (part, element) =>
      `${signOf(element, 'm:naryPr', '∫')}${below(part('m:sub'))}${above(part('m:sup'))} ${part('m:e')}`,
  ],
  ['m:sSup', scripts],
  ['m:sSub', scripts],
  ['m:sSubSup', scripts],
  ['m:m', rows],
  ['m:eqArr', rows],
  ['m:limLow', limits],
  ['m:limUpp', limits],
  ['m:func', (part) => `${part('m:fName')} ${part('m:e')}`],
]);

function mathElement(element: XmlElement): string {
  const write = WRITERS.get(element.name);
  if (write !== undefined) return write((name) => mathText(childAt(element, name)), element);
  return element.name.endsWith('Pr') ? '' : mathText(element);
}

const signOf = (element: XmlElement, properties: string, otherwise: string): string =>
  childAt(element, properties, 'm:chr')?.attributes['m:val'] ?? otherwise;

function delimited(element: XmlElement): string {
  const properties = childAt(element, 'm:dPr');
  const sign = (name: string, otherwise: string): string =>
    childAt(properties, name)?.attributes['m:val'] ?? otherwise;
  const inner = elementsOf(element, 'm:e').map(mathText).join(sign('m:sepChr', '|'));
  return `${sign('m:begChr', '(')}${inner}${sign('m:endChr', ')')}`;
}

const grouped = (text: string): string => (/^[\p{L}\p{N}.,]*$/u.test(text) ? text : `(${text})`);
const below = (text: string): string => (text === '' ? '' : `_${grouped(text)}`);
const above = (text: string): string => (text === '' ? '' : `^${grouped(text)}`);
