import type { PageContent } from './content.ts';
import type { DocumentLook } from './headings.ts';

/** Half points. */
const rounded = (size: number): number => Math.round(size * 2) / 2;

/** What most of the text of a document looks like. */
export function documentLook(pages: readonly PageContent[]): DocumentLook {
  const bySize = new Map<number, number>();
  const compounds = new Set<string>();
  const characters = { all: 0, bold: 0, italic: 0, mono: 0, recognised: 0 };
  for (const { text, size, bold, italic, mono, confidence } of pages.flatMap(({ words }) => words)) {
    bySize.set(rounded(size), (bySize.get(rounded(size)) ?? 0) + text.length);
    characters.all += text.length;
    if (bold) characters.bold += text.length;
    if (italic) characters.italic += text.length;
    if (mono) characters.mono += text.length;
    if (confidence < 1) characters.recognised += text.length;
    const [compound] = /^\p{L}{2,}-\p{Ll}{2,}/u.exec(text) ?? [];
    if (compound !== undefined) compounds.add(compound.toLowerCase());
  }
  const most = (count: number): boolean => count > 0.5 * characters.all;
  const [bodySize = 10] = [...bySize].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([size]) => size);
  return {
    bodySize: Math.max(1, bodySize),
    bodyBold: most(characters.bold),
    bodyItalic: most(characters.italic),
    bodyMono: most(characters.mono),
    larger: most(characters.recognised) ? 1.35 : 1.14,
    compounds,
  };
}
