import { transcriptIn, TRANSCRIPTION_SYSTEM_V1, TRANSCRIPTION_TURN_V1 } from '../prompts.ts';
import {
  isOcrOnly,
  nameOfModel,
  type ModelAccess,
  type ModelAttachment,
  type ModelFailure,
} from '../../ports/modelProvider.ts';
import type { PackedDocument } from '../../document/document.ts';
import type { ParseFailure, ParseRequest } from '../../ports/documentParser.ts';
import type { PagePicture, PageReading } from '../../ports/documentTools.ts';
import type { ModelFailed } from '../../ports/modelWork.ts';
import { eachOf, inTime, limitsOf, modelFailed, type Running } from './modelWorkDeps.ts';

/** Pages that are sent to a provider at the same time. */
const PAGES_AT_ONCE = 3;
const PDF = 'application/pdf';

/** A document that a model read. `unpaged`: the format has no pages to look at, and the parser reads it. */
type ModelReading =
  | { readonly kind: 'ok'; readonly document: PackedDocument }
  | { readonly kind: 'unpaged' }
  | ParseFailure
  | ModelFailed;

/** One page's reading, and why there is none. */
interface Tried {
  readonly reading: PageReading;
  readonly failure?: ModelFailure;
}

const BLANK = 'There is nothing on this page.';

const empty = ({ page }: Pick<PagePicture, 'page'>): Tried => ({
  reading: { status: 'empty', number: page, detail: BLANK },
});

const failed = (number: number, detail: string, failure?: ModelFailure): Tried => ({
  reading: { status: 'failed', number, detail },
  ...(failure && { failure }),
});

const detailOf = (failure: ModelFailure): string =>
  'detail' in failure ? failure.detail : 'The work was given up.';

const read = (page: number, markdown: string): Tried => ({
  reading: { status: 'ok', page: { page, markdown, width: null, height: null, words: [] } },
});

const attachmentOf = ({ mimeType, bytes, page }: PagePicture): ModelAttachment => ({
  mimeType,
  bytes,
  fileName: `page-${page}`,
});

/** One page by a language model that is asked to write down what it sees. */
const transcribed = async (running: Running, access: ModelAccess, picture: PagePicture): Promise<Tried> => {
  const answer = await running.deps.providers.ask({
    access,
    system: TRANSCRIPTION_SYSTEM_V1,
    turns: [{ role: 'user', text: TRANSCRIPTION_TURN_V1, attachments: [attachmentOf(picture)] }],
    output: { kind: 'text' },
    ...inTime(running),
  });
  running.models.onCall({ ref: access.ref, owner: access.owner, step: 'ocr', usage: answer.usage });
  if (answer.kind === 'failed') return failed(picture.page, detailOf(answer.failure), answer.failure);
  if (answer.finish === 'length')
    return failed(picture.page, 'The model stopped before the end of the page.');
  if (answer.finish === 'refused') return failed(picture.page, 'The model refused to read the page.');
  return read(picture.page, transcriptIn(answer.text));
};

interface PagesOf {
  readonly file: ModelAttachment;
  /** Of the pages that are read, in the document. */
  readonly numbers: readonly number[];
  /** The same, where they are a part of the file. An answer numbers them so, or by their order. */
  readonly pages?: readonly number[] | undefined;
}

/** A file, or one picture of it, by a model that only reads pages. */
const recognised = async (
  running: Running,
  access: ModelAccess,
  { file, numbers, pages }: PagesOf,
): Promise<Tried[]> => {
  const answer = await running.deps.providers.readPages({
    access,
    file,
    ...(pages && { pages }),
    ...inTime(running),
  });
  running.models.onCall({ ref: access.ref, owner: access.owner, step: 'ocr', usage: answer.usage });
  if (answer.kind === 'failed')
    return numbers.map((number) => failed(number, detailOf(answer.failure), answer.failure));
  const isNumbered = pages !== undefined && answer.pages.every(({ page }) => pages.includes(page));
  return numbers.map((number, index) => {
    const page = answer.pages.find((one) => one.page === (isNumbered ? number : index + 1));
    return page === undefined
      ? failed(number, 'The provider gave no answer for this page.')
      : { reading: { status: 'ok', page: { ...page, page: number } } };
  });
};

const byPicture =
  (running: Running, access: ModelAccess) =>
  async (picture: PagePicture): Promise<Tried> => {
    if (picture.blank) return empty(picture);
    if (running.deadline.isOver())
      return failed(picture.page, 'There was no time left for this page.', OUT_OF_TIME(access));
    if (!isOcrOnly(access.ref)) return transcribed(running, access, picture);
    const [tried] = await recognised(running, access, {
      file: attachmentOf(picture),
      numbers: [picture.page],
    });
    return tried ?? failed(picture.page, 'The provider gave no answer for this page.');
  };

const OUT_OF_TIME = ({ ref }: ModelAccess): ModelFailure => ({
  kind: 'timed_out',
  provider: ref.provider,
  detail: `The pages were not read in time by ${nameOfModel(ref)}.`,
});

/**
 * A PDF goes to an OCR service as the file that it is, for it reads that better than pictures. The service is
 * told which pages have something on them: it reads and bills no other, and is not asked where there is none.
 */
const wholeFile = async (
  { running, access }: { readonly running: Running; readonly access: ModelAccess },
  { path, fileName, pages: choice }: ParseRequest,
  pages: readonly PagePicture[],
): Promise<Tried[]> => {
  const numbers = pages.flatMap(({ page, blank }) => (blank ? [] : [page]));
  if (numbers.length === 0) return pages.map(empty);
  const file = { mimeType: PDF, bytes: await running.deps.readFile(path), fileName };
  const some = numbers.length === pages.length && choice === undefined ? undefined : numbers;
  const tried = await recognised(running, access, { file, numbers, pages: some });
  return pages.map((one) => (one.blank ? empty(one) : (tried[numbers.indexOf(one.page)] ?? empty(one))));
};

/** Why nothing at all could be read: what stopped every page that was tried. */
const failureOfAll = (tried: readonly Tried[]): ModelFailure | undefined => {
  const attempted = tried.filter(({ reading }) => reading.status !== 'empty');
  const aborted = attempted.find(({ failure }) => failure?.kind === 'aborted')?.failure;
  if (aborted !== undefined) return aborted;
  if (attempted.length === 0 || attempted.some(({ reading }) => reading.status === 'ok')) return undefined;
  return attempted.find(({ failure }) => failure !== undefined)?.failure;
};

const cannotLook = ({ ref }: ModelAccess): ModelFailure => ({
  kind: 'provider_error',
  provider: ref.provider,
  provider_status: null,
  detail: `${nameOfModel(ref)} cannot be shown pages. Name a model that takes pictures for the OCR channel.`,
});

/**
 * Has the OCR channel's model read a document. A page that fails leaves the others alone; when all fail,
 * so does the reading, with what stopped the first.
 */
export const readByModel = async (
  running: Running,
  access: ModelAccess,
  request: ParseRequest,
): Promise<ModelReading> => {
  const { deps } = running;
  const shown = await deps.tools.pictures({ ...request, ...limitsOf(running) });
  if (shown.kind !== 'ok') return shown;
  const { mimeType, pages } = shown;
  if (pages.length === 0) return { kind: 'unpaged' };
  if (!deps.providers.abilitiesOf(access.ref).images) return modelFailed(cannotLook(access));
  // The provider could not open it.
  const opensAnywhere = request.password === undefined;
  const whole = mimeType === PDF && isOcrOnly(access.ref) && opensAnywhere;
  const tried = whole
    ? await wholeFile({ running, access }, request, pages)
    : await eachOf(pages, PAGES_AT_ONCE, byPicture(running, access));
  const failure = failureOfAll(tried);
  if (failure !== undefined) return modelFailed(failure);
  return deps.tools.documentOf({ mimeType, pages: tried.map(({ reading }) => reading) }, limitsOf(running));
};
