import {
  getDocument,
  GlobalWorkerOptions,
  version,
  type PDFDocumentProxy,
  type PDFPageProxy,
} from 'pdfjs-dist';
import type { Box } from './box.ts';
import type { DrawSmall } from './viewProps.ts';
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url';

GlobalWorkerOptions.workerPort = null;
GlobalWorkerOptions.workerSrc = workerUrl;

/** Where the build puts what pdf.js loads when a document needs it. */
const part = (name: string): string =>
  new URL(`${import.meta.env.BASE_URL}assets/pdfjs-${version}/${name}/`, window.location.origin).href;

/** Opens a PDF in the browser; nothing of it is run. */
export const openPdf = async (file: Blob): Promise<PDFDocumentProxy> =>
  getDocument({
    data: new Uint8Array(await file.arrayBuffer()),
    isEvalSupported: false,
    cMapUrl: part('cmaps'),
    standardFontDataUrl: part('standard_fonts'),
    wasmUrl: part('wasm'),
    iccUrl: part('iccs'),
  }).promise;

/** Pages in small are so wide, in the points of the screen. */
const SMALL_WIDTH = 72;

/** Draws the pages of a PDF in small. */
export const smallPages =
  (pdf: PDFDocumentProxy): DrawSmall =>
  (number, canvas) => {
    let stop = (): void => undefined;
    let isGone = false;
    const draw = async (): Promise<void> => {
      const page = await pdf.getPage(number);
      if (isGone) return;
      const { width } = page.getViewport({ scale: 1 });
      const viewport = page.getViewport({ scale: (SMALL_WIDTH / width) * window.devicePixelRatio });
      canvas.width = viewport.width;
      canvas.height = viewport.height;
      const task = page.render({ canvas, viewport });
      stop = () => task.cancel();
      await task.promise;
    };
    draw().catch(() => undefined);
    return () => {
      isGone = true;
      stop();
    };
  };

interface Item {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
}

/** The words of a page whose middle lies in a box, in the order of the file. */
export const wordsIn = async (page: PDFPageProxy, [left, top, right, bottom]: Box): Promise<string> => {
  const { items } = await page.getTextContent();
  const viewport = page.getViewport({ scale: 1 });
  const found = items.filter((item): item is typeof item & Item => {
    if (!('str' in item) || item.str.trim() === '') return false;
    const [x = 0, y = 0] = viewport.convertToViewportPoint(
      Number(item.transform[4]) + item.width / 2,
      Number(item.transform[5]) + item.height / 2,
    ) as number[];
    return x >= left && x <= right && y >= top && y <= bottom;
  });
  return found
    .map(({ str }) => str.trim())
    .join(' ')
    .trim();
};
