import { z } from 'zod';
import type { ModelAttachment, ReadPage } from '../../ports/modelProvider.ts';
import type { Attempt } from '../attempts.ts';
import { base64, usageOfPages, type OcrCall, type Read } from './read.ts';

const mistralPage = z.object({
  index: z.int().min(0),
  markdown: z.string(),
  dimensions: z.object({ dpi: z.number().positive(), width: z.number(), height: z.number() }).nullish(),
});

const ocrAnswer = z.object({
  pages: z.array(mistralPage),
  usage_info: z.object({ pages_processed: z.int().min(0) }).nullish(),
});

/** Mistral's OCR: markdown of each page, without the places of its words. */
export async function readWithMistral({ base, http, request }: OcrCall): Promise<Attempt<Read>> {
  const { access, file } = request;
  const exchange = await http({
    method: 'POST',
    url: `${base.href.replace(/\/$/u, '')}/ocr`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${access.apiKey ?? ''}` },
    body: JSON.stringify({
      model: access.ref.model,
      document: documentOf(file),
      ...(request.pages && { pages: request.pages.map((page) => page - 1) }),
      include_image_base64: false,
    }),
  });
  if (exchange.kind === 'fault') return exchange;
  const { status, text } = exchange.answer;
  const answer = ocrAnswer.safeParse(text === '' ? undefined : JSON.parse(text));
  if (!answer.success) return { kind: 'fault', fault: { kind: 'malformed', status } };
  const pages = answer.data.pages.map(pageOfMistral).sort((one, other) => one.page - other.page);
  const usage = usageOfPages(answer.data.usage_info?.pages_processed ?? pages.length);
  return { kind: 'ok', value: { pages, usage } };
}

const documentOf = ({ mimeType, bytes }: ModelAttachment) => {
  const url = `data:${mimeType};base64,${base64(bytes)}`;
  return mimeType.startsWith('image/')
    ? { type: 'image_url', image_url: url }
    : { type: 'document_url', document_url: url };
};

const pageOfMistral = ({ index, markdown, dimensions }: z.output<typeof mistralPage>): ReadPage => {
  const size = dimensions ?? null;
  const points = (pixels: number, dpi: number): number => (pixels * 72) / dpi;
  return {
    page: index + 1,
    markdown,
    width: size === null ? null : points(size.width, size.dpi),
    height: size === null ? null : points(size.height, size.dpi),
    words: [],
  };
};
