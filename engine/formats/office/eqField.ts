/** What the switches of an `EQ` field show of their arguments (ECMA-376, part 1, 17.16.5.16). */
const SHOWN: Readonly<Record<string, (parts: readonly string[], options: string) => string>> = {
  a: (parts) => parts.join('; '),
  b: ([part = ''], options) => {
    const [, left = '('] = /\\[lb]c\\(.)/i.exec(options) ?? [];
    const [, right = CLOSED[left] ?? left] = /\\rc\\(.)/i.exec(options) ?? [];
    return `${left}${part}${right}`;
  },
  d: () => '',
  f: ([above = '', under = '']) => `${grouped(above)}/${grouped(under)}`,
  i: ([low = '', high = '', part = ''], options) => {
    const sign = /\\su/i.test(options) ? '∑' : /\\pr/i.test(options) ? '∏' : '∫';
    return `${sign}${low === '' ? '' : `_${grouped(low)}`}${high === '' ? '' : `^${grouped(high)}`} ${part}`;
  },
  l: (parts) => parts.join(', '),
  o: (parts) => parts.join(''),
  r: (parts) => (parts.length > 1 ? `${parts[0] ?? ''}√(${parts[1] ?? ''})` : `√(${parts[0] ?? ''})`),
  s: (parts, options) => parts.map((part) => scripted(part, options)).join(' '),
  x: ([part = '']) => part,
};
const CLOSED: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' };

const grouped = (text: string): string => (/^[\p{L}\p{N}.,]*$/u.test(text) ? text : `(${text})`);

function scripted(part: string, options: string): string {
  if (part === '') return '';
  if (/\\up/i.test(options)) return `^${grouped(part)}`;
  return /\\do/i.test(options) ? `_${grouped(part)}` : part;
}

/** Deeper ones and longer ones are damage. */
const DEPTH_MAX = 32;
const CHARACTERS_MAX = 10_000;

/**
 * An equation of Word's old form as a text: `EQ \f(1;2)` is `1/2`. It is the instruction of a field that has no
 * result; null where the instruction is another one.
 */
export function eqText(instruction: string): string | null {
  const [whole] = /^\s*EQ(?=[\s\\])\s*/i.exec(instruction) ?? [];
  if (whole === undefined || instruction.length > CHARACTERS_MAX) return null;
  const reader = { source: instruction.slice(whole.length).replace(/\\\*\s*\w+\s*$/, ''), at: 0 };
  return partsUntil(reader, 0).join('').trim();
}

interface Reader {
  readonly source: string;
  at: number;
}

/** The arguments up to the closing parenthesis or, outside of any, up to the end. */
function partsUntil(reader: Reader, depth: number): readonly string[] {
  const parts = [''];
  const add = (text: string): void => {
    parts.push(`${parts.pop() ?? ''}${text}`);
  };
  while (reader.at < reader.source.length) {
    const sign = reader.source.charAt(reader.at);
    if (sign === '\\') add(switchText(reader, depth));
    else {
      reader.at += 1;
      if (depth > 0 && sign === ')') break;
      if (depth > 0 && (sign === ',' || sign === ';')) parts.push('');
      else if (sign === '(' && depth < DEPTH_MAX) add(`(${partsUntil(reader, depth + 1).join(',')})`);
      else add(sign);
    }
  }
  return parts.map((part) => part.trim());
}

/** A backslash before a sign that is none of a switch only takes its meaning away. */
function switchText(reader: Reader, depth: number): string {
  const found = /\\([a-z])((?:\s*\\[a-z]{2}(?:\\[^\sa-z]|[+-]?\d+)?|\s*\\[a-z]{2}\s)*)\s*\(/iy;
  found.lastIndex = reader.at;
  const match = found.exec(reader.source);
  const show = SHOWN[(match?.[1] ?? '').toLowerCase()];
  if (match === null || show === undefined || depth >= DEPTH_MAX) {
    const sign = reader.source.charAt(reader.at + 1);
    reader.at += 2;
    return /[a-z]/i.test(sign) ? '' : sign;
  }
  reader.at = found.lastIndex;
  return show(partsUntil(reader, depth + 1), match[2] ?? '');
}
