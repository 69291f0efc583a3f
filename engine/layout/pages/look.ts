import type { PageContent } from '../content.ts';
import type { DocumentLook } from './headings.ts';

/** A heading is larger than the text by this factor; recognised sizes vary more. */
const LARGER = 1.14;
const LARGER_RECOGNISED = 1.35;

/** Half points. */
const rounded = (size: number): number => Math.round(size * 2) / 2;

type Trait = 'bold' | 'italic' | 'mono' | 'recognised';

/** What most of the text of a document looks like. */
export function documentLook(pages: readonly PageContent[]): DocumentLook {
  const words = pages.flatMap((page) => page.words);
  const bySize = new Map<number, number>();
  const compounds = new Set<string>();
  const characters: Record<Trait | 'all', number> = { all: 0, bold: 0, italic: 0, mono: 0, recognised: 0 };
  for (const word of words) {
    const { length } = word.text;
    const size = rounded(word.size);
    bySize.set(size, (bySize.get(size) ?? 0) + length);
    characters.all += length;
    if (word.bold) characters.bold += length;
    if (word.italic) characters.italic += length;
    if (word.mono) characters.mono += length;
    if (word.confidence < 1) characters.recognised += length;
    const compound = compoundOf(word.text);
    if (compound !== undefined) compounds.add(compound);
  }
  const most = (trait: Trait): boolean => characters[trait] > 0.5 * characters.all;
  const [bodySize = 10] = [...bySize].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([size]) => size);
  return {
    bodySize: Math.max(1, bodySize),
    bodyBold: most('bold'),
    bodyItalic: most('italic'),
    bodyMono: most('mono'),
    larger: most('recognised') ? LARGER_RECOGNISED : LARGER,
    compounds,
  };
}

const compoundOf = (text: string): string | undefined =>
  text.includes('-') ? /^\p{L}{2,}-\p{Ll}{2,}/u.exec(text)?.[0].toLowerCase() : undefined;
