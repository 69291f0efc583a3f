import type { PageContent } from './content.ts';
import type { DocumentLook } from './headings.ts';

/** Half points. */
const rounded = (size: number): number => Math.round(size * 2) / 2;

/** What most of the text of a document looks like. */
export function documentLook(pages: readonly PageContent[]): DocumentLook {
  const bySize = new Map<number, number>();
  const compounds = new Set<string>();
  let bold = 0;
  let all = 0;
  let recognised = 0;
  for (const { text, size, bold: isBold, confidence } of pages.flatMap(({ words }) => words)) {
    bySize.set(rounded(size), (bySize.get(rounded(size)) ?? 0) + text.length);
    all += text.length;
    if (isBold) bold += text.length;
    if (confidence < 1) recognised += text.length;
    const [compound] = /^\p{L}{2,}-\p{Ll}{2,}/u.exec(text) ?? [];
    if (compound !== undefined) compounds.add(compound.toLowerCase());
  }
  const [bodySize = 10] = [...bySize].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([size]) => size);
  return {
    bodySize: Math.max(1, bodySize),
    bodyBold: bold > 0.5 * all,
    larger: recognised > 0.5 * all ? 1.35 : 1.14,
    compounds,
  };
}
