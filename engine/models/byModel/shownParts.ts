import type { ShownPart } from '../prompts/extraction.v2.ts';
import { sectionsOf, tokensOf, type Section } from './sections.ts';
import type { ShownAttachment, ShownDocument } from './shownDocument.ts';

/** What a model is shown in one request. */
export interface Showable {
  readonly text: string | undefined;
  readonly attachments: readonly ShownAttachment[];
  /** undefined: it is the whole document. */
  readonly part: ShownPart | undefined;
}

/** Pictures of pages in one request: most providers take no more. */
const PICTURES_AT_ONCE = 20;

/** The document as it is shown: at once where that can be, else in parts that overlap. */
export function partsOf(shown: ShownDocument, tokensMax: number): readonly Showable[] {
  const { text, attachments } = shown;
  if (text === undefined) return partsOfPictures(attachments);
  if (tokensOf(text) <= tokensMax) return [{ text, attachments, part: undefined }];
  const sections = sectionsOf(text, tokensMax);
  return sections.map((section, at) => ({
    text: section.text,
    attachments: attachments.filter(({ page }) => page === null || isIn(page, section)),
    part: partAt(sections, at),
  }));
}

const isIn = (page: number, { firstPage, lastPage }: Omit<Section, 'text'>): boolean =>
  page >= firstPage && page <= lastPage;

const partAt = (sections: readonly Omit<Section, 'text'>[], at: number): ShownPart | undefined => {
  const section = sections[at];
  if (sections.length < 2 || section === undefined) return undefined;
  const { firstPage, lastPage } = section;
  return { number: at + 1, of: sections.length, firstPage, lastPage };
};

/** Pages in order, each part with the last page of the one before; a PDF is one attachment. */
function partsOfPictures(attachments: readonly ShownAttachment[]): readonly Showable[] {
  const groups: (readonly ShownAttachment[])[] = [];
  for (let start = 0; start + 1 < attachments.length || groups.length === 0; start += PICTURES_AT_ONCE - 1)
    groups.push(attachments.slice(start, start + PICTURES_AT_ONCE));
  const sections = groups.map((group) => ({
    firstPage: group[0]?.page ?? 1,
    lastPage: group.at(-1)?.page ?? 1,
  }));
  return groups.map((group, at) => ({ text: undefined, attachments: group, part: partAt(sections, at) }));
}
