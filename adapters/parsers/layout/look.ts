import type { PageContent, PlacedWord } from './content.ts';
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
    bySize.set(rounded(word.size), (bySize.get(rounded(word.size)) ?? 0) + length);
    characters.all += length;
    for (const trait of traitsOf(word)) characters[trait] += length;
    const [compound] = /^\p{L}{2,}-\p{Ll}{2,}/u.exec(word.text) ?? [];
    if (compound !== undefined) compounds.add(compound.toLowerCase());
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

function traitsOf({ bold, italic, mono, confidence }: PlacedWord): readonly Trait[] {
  const traits: readonly [Trait, boolean][] = [
    ['bold', bold],
    ['italic', italic],
    ['mono', mono],
    ['recognised', confidence < 1],
  ];
  return traits.flatMap(([trait, has]) => (has ? [trait] : []));
}
