import type { Role } from '../pieces/blocks.ts';
import type { DocFile } from './docFile.ts';
import { modifiersIn, numberOf, type Modifier } from './docProperties.ts';
import { roleOfName } from '../office/styleNames.ts';

/** A paragraph style as the file numbers it. */
interface DocStyle {
  readonly name: string;
  /** The number of a built-in style, the same in every language. */
  readonly builtIn: number;
  readonly base: number;
  readonly modifiers: readonly Modifier[];
}

export interface DocStyles {
  /** What the style and those that it is based on say that a paragraph is. */
  roleOf(style: number): Role;
  /** What the nearest style says of a property. */
  numberOf(style: number, code: number): number | undefined;
}

const STYLES = 1;
const OUTLINE_LEVEL = 0x2640;
const TITLE = 62;
const SUBTITLE = 74;
const CHAIN_MAX = 32;

/** The style sheet of a Word 97 file. */
export function docStyles({ tableAt }: DocFile): DocStyles {
  const styles = readStyles(tableAt(STYLES));
  const chainOf = (from: number): readonly DocStyle[] => {
    const chain: DocStyle[] = [];
    let style = styles[from];
    while (style !== undefined && chain.length < CHAIN_MAX) {
      chain.push(style);
      style = styles[style.base];
    }
    return chain;
  };
  const first = <T>(from: number, say: (style: DocStyle) => T | undefined): T | undefined =>
    chainOf(from)
      .map(say)
      .find((said) => said !== undefined);
  return {
    roleOf: (style) => first(style, roleOfStyle) ?? { kind: 'paragraph' },
    numberOf: (style, code) => first(style, ({ modifiers }) => numberOf(modifiers, code)),
  };
}

function roleOfStyle({ name, builtIn, modifiers }: DocStyle): Role | undefined {
  if (builtIn === TITLE) return { kind: 'title' };
  if (builtIn === SUBTITLE) return { kind: 'subtitle' };
  if (builtIn >= 1 && builtIn <= 9) return { kind: 'heading', level: builtIn };
  const outline = numberOf(modifiers, OUTLINE_LEVEL);
  if (outline !== undefined) return outline < 9 ? { kind: 'heading', level: outline + 1 } : undefined;
  return roleOfName(name);
}

function readStyles(sheet: Buffer): readonly (DocStyle | undefined)[] {
  if (sheet.length < 6) return [];
  const header = sheet.readUInt16LE(0);
  const count = sheet.readUInt16LE(2);
  const baseBytes = sheet.readUInt16LE(4);
  const styles: (DocStyle | undefined)[] = [];
  let at = 2 + header;
  while (styles.length < count && at + 2 <= sheet.length) {
    const length = sheet.readUInt16LE(at);
    styles.push(readStyle(sheet.subarray(at + 2, at + 2 + length), baseBytes));
    at += 2 + length;
  }
  return styles;
}

function readStyle(bytes: Buffer, baseBytes: number): DocStyle | undefined {
  if (bytes.length < baseBytes + 2 || baseBytes < 10) return undefined;
  const kind = bytes.readUInt16LE(2) & 0xf;
  const nameLength = bytes.readUInt16LE(baseBytes);
  const nameEnd = baseBytes + 2 + nameLength * 2;
  return {
    name: bytes.toString('utf16le', baseBytes + 2, nameEnd),
    builtIn: bytes.readUInt16LE(0) & 0xfff,
    base: bytes.readUInt16LE(2) >> 4,
    modifiers: kind === 1 ? paragraphModifiers(bytes, nameEnd + 2) : [],
  };
}

/** A length, the number of the style itself, and its modifiers. */
function paragraphModifiers(bytes: Buffer, at: number): readonly Modifier[] {
  if (at + 4 > bytes.length) return [];
  return modifiersIn(bytes.subarray(at + 4, at + 2 + bytes.readUInt16LE(at)));
}
