import {
  getDocument,
  GlobalWorkerOptions,
  version,
  type PDFDocumentProxy,
  type PDFPageProxy,
} from 'pdfjs-dist';
import workerUrl from 'pdfjs-dist/build/pdf.worker.min.mjs?url';
import { useEffect, useRef, useState } from 'react';
import { Overlay, letGo, useNear, type Box, type DrawSmall, type ViewProps } from './overlay.tsx';
import { Skeleton } from '../ui/states.tsx';

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

/** A smaller box was clicked, not drawn. */
const DRAWN_MIN = 3;

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
    if (right - left >= DRAWN_MIN) return x >= left && x <= right && y >= top && y <= bottom;
    // a click: the words that it is on
    return Math.abs(x - left) <= item.width / 2 && Math.abs(y - top) <= item.height;
  });
  return found
    .map(({ str }) => str.trim())
    .join(' ')
    .trim();
};

interface PageProps extends ViewProps {
  readonly pdf: PDFDocumentProxy;
  readonly number: number;
}

/** Draws a page while it is near; a page that went far away keeps nothing but its place. */
const useDrawn = (page: PDFPageProxy, { zoom, isNear }: { zoom: number; isNear: boolean }) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const drawn = canvas.current;
    if (!isNear || drawn === null) return;
    const viewport = page.getViewport({ scale: zoom * 1.5 * window.devicePixelRatio });
    drawn.width = viewport.width;
    drawn.height = viewport.height;
    const task = page.render({ canvas: drawn, viewport });
    task.promise.catch(() => undefined);
    return () => task.cancel();
  }, [page, isNear, zoom]);
  useEffect(() => {
    if (isNear || canvas.current === null) return;
    letGo(canvas.current);
    page.cleanup();
  }, [page, isNear]);
  return canvas;
};

interface ReadPageProps extends Omit<PageProps, 'pdf'> {
  readonly page: PDFPageProxy;
}

function ReadPage({ page, number, zoom, marks, chosen, onChoose, onDrawn }: ReadPageProps) {
  const place = useRef<HTMLDivElement>(null);
  const canvas = useDrawn(page, { zoom, isNear: useNear(place, '600px') });
  const { width, height } = page.getViewport({ scale: 1 });
  return (
    <div
      ref={place}
      className="relative mx-auto border border-line bg-white shadow-sm"
      style={{ width: `${String(zoom * 100)}%`, aspectRatio: `${String(width)} / ${String(height)}` }}
    >
      <canvas ref={canvas} width={0} height={0} className="size-full" />
      <Overlay
        width={width}
        height={height}
        marks={marks.filter((one) => one.page === number)}
        chosen={chosen}
        onChoose={onChoose}
        onDraw={
          onDrawn === undefined ? undefined : (box) => void wordsIn(page, box).then((words) => onDrawn(words))
        }
      />
    </div>
  );
}

/** It has its place from the start: one may go to it before it is read, and stay there while others are. */
function PdfPage({ pdf, ...props }: PageProps) {
  const { number } = props;
  const [page, keep] = useState<PDFPageProxy>();
  useEffect(() => {
    let isGone = false;
    void pdf.getPage(number).then((one) => {
      if (!isGone) keep(one);
    });
    return () => {
      isGone = true;
    };
  }, [pdf, number]);
  return (
    <div data-page={number}>
      {page === undefined ? <Skeleton className="h-96" /> : <ReadPage {...props} page={page} />}
    </div>
  );
}

/** A PDF, page below page. */
export default function PdfView(props: ViewProps) {
  const { file, onOpened, onFault } = props;
  const [pdf, keep] = useState<PDFDocumentProxy>();
  const tell = useRef({ onOpened, onFault });
  useEffect(() => {
    const opened = openPdf(file);
    let isGone = false;
    opened.then(
      (one) => {
        if (isGone) return;
        keep(one);
        tell.current.onOpened({ pages: one.numPages, drawSmall: smallPages(one) });
      },
      () => !isGone && tell.current.onFault(),
    );
    return () => {
      isGone = true;
      void opened.then((one) => one.destroy()).catch(() => undefined);
    };
  }, [file]);
  if (pdf === undefined) return <Skeleton className="h-96" />;
  return (
    <div className="flex flex-col gap-4">
      {Array.from({ length: pdf.numPages }, (_, at) => (
        <PdfPage key={at} {...props} pdf={pdf} number={at + 1} />
      ))}
    </div>
  );
}
