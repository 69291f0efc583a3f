import { childAt, elementsOf, textIn, type XmlElement } from './xmlTree.ts';

/** An equation of Office Open XML on one line: `(a+b)/(c)`, `x^2`, `√(x)`. */
export function mathText(element: XmlElement | undefined): string {
  return elementsOf(element).map(mathElement).join('');
}

function mathElement(element: XmlElement): string {
  const part = (name: string): string => mathText(childAt(element, name));
  switch (element.name) {
    case 'm:t':
      return textIn(element);
    case 'm:f':
      return `${grouped(part('m:num'))}/${grouped(part('m:den'))}`;
    case 'm:rad':
      return `${part('m:deg')}√(${part('m:e')})`;
    case 'm:d':
      return delimited(element);
    case 'm:nary':
      return `${signOf(element, 'm:naryPr', '∫')}${below(part('m:sub'))}${above(part('m:sup'))} ${part('m:e')}`;
    case 'm:sSup':
    case 'm:sSub':
    case 'm:sSubSup':
      return `${part('m:e')}${below(part('m:sub'))}${above(part('m:sup'))}`;
    case 'm:m':
    case 'm:eqArr':
      return elementsOf(element)
        .filter(({ name }) => name === 'm:mr' || name === 'm:e')
        .map((row) => (row.name === 'm:mr' ? elementsOf(row, 'm:e').map(mathText).join(' ') : mathText(row)))
        .join('; ');
    case 'm:limLow':
    case 'm:limUpp':
      return `${part('m:e')}${below(part('m:lim'))} `;
    case 'm:func':
      return `${part('m:fName')} ${part('m:e')}`;
    default:
      return element.name.endsWith('Pr') ? '' : mathText(element);
  }
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
