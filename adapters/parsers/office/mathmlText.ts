import { elementsOf, textIn, type XmlElement } from './xmlTree.ts';

/** An equation of MathML on one line: `(a+b)/c`, `x^2`, `√(x)`. */
export function mathmlText(element: XmlElement): string {
  const parts = elementsOf(element).map(mathmlText);
  const [first = '', second = '', third = ''] = parts;
  switch (element.name.replace(/^math:/, '')) {
    case 'mi':
    case 'mn':
    case 'mtext':
    case 'ms':
      return textIn(element).trim();
    case 'mo':
      return operator(textIn(element).trim());
    case 'mfrac':
      return `${grouped(first)}/${grouped(second)}`;
    case 'msup':
    case 'mover':
      return `${first}^${grouped(second)}`;
    case 'msub':
    case 'munder':
      return `${first}_${grouped(second)}`;
    case 'msubsup':
    case 'munderover':
      return `${first}_${grouped(second)}^${grouped(third)}`;
    case 'msqrt':
      return `√(${parts.join('')})`;
    case 'mroot':
      return `${second}√(${first})`;
    case 'mtr':
      return `${parts.join(' ')}; `;
    case 'annotation':
    case 'annotation-xml':
      return '';
    default:
      return parts.join('');
  }
}

const operator = (sign: string): string => (/^[=+−<>≤≥≠≈→×·±-]$/.test(sign) ? ` ${sign} ` : sign);
const grouped = (text: string): string => (/^[\p{L}\p{N}.,]*$/u.test(text) ? text : `(${text})`);
