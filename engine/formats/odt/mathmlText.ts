import { elementsOf, textIn, type XmlElement } from '../office/xmlTree.ts';

type Write = (parts: readonly string[], element: XmlElement) => string;

const text: Write = (_, element) => textIn(element).trim();
const above: Write = ([base = '', upper = '']) => `${base}^${grouped(upper)}`;
const below: Write = ([base = '', lower = '']) => `${base}_${grouped(lower)}`;
const both: Write = ([base = '', lower = '', upper = '']) => `${base}_${grouped(lower)}^${grouped(upper)}`;
const nothing: Write = () => '';

const WRITERS: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['mi', text],
  ['mn', text],
  ['mtext', text],
  ['ms', text],
  ['mo', (_, element) => operator(textIn(element).trim())],
  ['mfrac', ([numerator = '', denominator = '']) => `${grouped(numerator)}/${grouped(denominator)}`],
  ['msup', above],
  ['mover', above],
  ['msub', below],
  ['munder', below],
  ['msubsup', both],
  ['munderover', both],
  ['msqrt', (parts) => `√(${parts.join('')})`],
  ['mroot', ([radicand = '', degree = '']) => `${degree}√(${radicand})`],
  ['mtr', (parts) => `${parts.join(' ')}; `],
  ['annotation', nothing],
  ['annotation-xml', nothing],
]);

/** An equation of MathML on one line: `(a+b)/c`, `x^2`, `√(x)`. */
export function mathmlText(element: XmlElement): string {
  const parts = elementsOf(element).map(mathmlText);
  const write = WRITERS.get(element.name.replace(/^math:/, ''));
  return write === undefined ? parts.join('') : write(parts, element);
}

const operator = (sign: string): string => (/^[=+−<>≤≥≠≈→×·±-]$/.test(sign) ? ` ${sign} ` : sign);
const grouped = (text: string): string => (/^[\p{L}\p{N}.,]*$/u.test(text) ? text : `(${text})`);
