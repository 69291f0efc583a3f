import type { Document } from '../../document/document.ts';
import { markdownOfPage } from '../../document/markdown.ts';
import type { PageContents, RenderForm } from '../../ports/documentParser.ts';

/** What the form asks for of each page; undefined where it asks for nothing. */
export function contentsOf({ pages }: Document, form: RenderForm): readonly PageContents[] | undefined {
  if (form.blocks !== true && form.pageMarkdown !== true) return undefined;
  return pages.map((page) => ({
    page: page.page,
    ...(form.pageMarkdown === true && { markdown: markdownOfPage(page, form) }),
    ...(form.blocks === true && { blocks: page.blocks }),
  }));
}
