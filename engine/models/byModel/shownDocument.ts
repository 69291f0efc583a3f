import type { PackedDocument, PageSummary } from '../../document/document.ts';
import type { ParseFailure, ParseRequest } from '../../ports/documentParser.ts';
import type { PagePicture } from '../../ports/documentTools.ts';
import type { ModelAbilities, ModelAttachment } from '../../ports/modelProvider.ts';
import type { ModelFailed } from '../../ports/modelWork.ts';
import { limitsOf, type Running } from './modelWorkDeps.ts';
import { readByModel } from './readByModel.ts';

/** What a model is shown of a document, and the text that its answer is held against. */
export interface ShownDocument {
  readonly kind: 'ok';
  readonly document: PackedDocument;
  /** undefined where the model sees the pages themselves. */
  readonly text: string | undefined;
  readonly attachments: readonly ShownAttachment[];
}

/** A page of the document, or with null the whole. */
export interface ShownAttachment extends ModelAttachment {
  readonly page: number | null;
}

export type Showing = ShownDocument | ParseFailure | ModelFailed;

const PDF = 'application/pdf';
/** Providers take so much inline. */
const PDF_BYTES_MAX = 20 * 1024 * 1024;
/** Pictures beside the text; more cost more than they tell. */
const PICTURES_MAX = 20;

const asAttachments = (pictures: readonly PagePicture[]): ShownAttachment[] =>
  pictures
    .filter(({ blank }) => !blank)
    .map(({ mimeType, bytes, page }) => ({ mimeType, bytes, fileName: `page-${page}`, page }));

/** The pages as pictures, those of `numbers` alone where it is given; none where they cannot be made. */
const picturesOf = async (
  running: Running,
  request: ParseRequest,
  numbers?: ReadonlySet<number>,
): Promise<ShownAttachment[]> => {
  const shown = await running.deps.tools.pictures({ ...request, ...limitsOf(running) });
  if (shown.kind !== 'ok') return [];
  const wanted = shown.pages.filter(({ page }) => numbers?.has(page) ?? true);
  return asAttachments(wanted.slice(0, numbers === undefined ? request.pagesMax : PICTURES_MAX));
};

/** The pages themselves, in the form that the model takes; none for formats without pages. */
const pagesThemselves = async (
  running: Running,
  request: ParseRequest,
  { pdf, images, mimeType }: Pick<ModelAbilities, 'pdf' | 'images'> & { readonly mimeType: string },
): Promise<ShownAttachment[]> => {
  // The file is all pages, and its password stays here.
  const isWhole = request.pages === undefined && request.password === undefined;
  if (pdf && mimeType === PDF && isWhole) {
    const bytes = await running.deps.readFile(request.path);
    if (bytes.length <= PDF_BYTES_MAX) return [{ mimeType, bytes, fileName: request.fileName, page: null }];
  }
  return images ? picturesOf(running, request) : [];
};

/** As the model saw them: every page was looked at. */
const seenByModel = (document: PackedDocument): PackedDocument => ({
  ...document,
  warnings: document.warnings.filter(({ code }) => code !== 'no_text_found'),
  pages: document.pages.map((page) => ({ ...page, source: 'model', status: 'ok', detail: null })),
});

/** `fast`: the model sees the pages, and nothing is recognised before. */
const shownPages = async (
  running: Running,
  request: ParseRequest,
  abilities: ModelAbilities,
): Promise<Showing> => {
  const parsed = await running.deps.parser.read({ ...request, ...limitsOf(running) });
  if (parsed.kind !== 'ok') return parsed;
  const { document } = parsed;
  const attachments = await pagesThemselves(running, request, { ...abilities, mimeType: document.mimeType });
  return attachments.length === 0
    ? { kind: 'ok', document, text: document.markdown, attachments }
    : { kind: 'ok', document: seenByModel(document), text: undefined, attachments };
};

/** The text of the pages, and pictures of those of `look`. */
const shownText = async (
  running: Running,
  request: ParseRequest,
  { document, look, images }: { document: PackedDocument; look: ReadonlySet<number>; images: boolean },
): Promise<ShownDocument> => ({
  kind: 'ok',
  document,
  text: document.markdown,
  attachments: images && look.size > 0 ? await picturesOf(running, request, look) : [],
});

const pagesWhere = ({ pages }: PackedDocument, isSo: (page: PageSummary) => boolean): ReadonlySet<number> =>
  new Set(pages.filter(isSo).map(({ page }) => page));

/** `robust`: the OCR channel reads the document first, and the model sees text and pages. */
const readFirst = async (
  running: Running,
  request: ParseRequest,
): Promise<Exclude<Showing, ShownDocument> | PackedDocument> => {
  const { deps, models } = running;
  const reading = models.ocr === null ? undefined : await readByModel(running, models.ocr, request);
  if (reading !== undefined && reading.kind !== 'unpaged')
    return reading.kind === 'ok' ? reading.document : reading;
  const parsed = await deps.parser.read({ ...request, ...limitsOf(running) });
  return parsed.kind === 'ok' ? parsed.document : parsed;
};

/**
 * Reads a document by the mode of the request. `abilities` null: no model is shown it, only its text counts.
 */
export const showDocument = async (
  running: Running,
  request: ParseRequest,
  abilities: ModelAbilities | null,
): Promise<Showing> => {
  if (request.effort === 'fast' && abilities !== null) return shownPages(running, request, abilities);
  const read = await readFirst(running, request);
  if ('kind' in read) return read;
  const images = abilities?.images ?? false;
  const look =
    request.effort === 'robust'
      ? pagesWhere(read, ({ source }) => source !== 'markup')
      : pagesWhere(read, ({ source }) => source === 'ocr');
  return shownText(running, request, { document: read, look, images });
};
