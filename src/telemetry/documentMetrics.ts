import type { Registry } from 'prom-client';
import type { PageSummary } from '@quire/engine/document/document';
import type { DocumentParser, ParseResult, ReadResult } from '@quire/engine/ports/documentParser';
import type { ExtractionEngine } from '@quire/engine/ports/extractionEngine';
import type { Tracer } from '../../domain/ports/log.ts';
import { metersOn } from './meters.ts';

/** Ports of work on documents that are watched. */
interface WatchedWork {
  readonly parser: DocumentParser;
  readonly localEngine: ExtractionEngine;
}

/** One piece of work that has ended; `pages` is empty where it failed or only counted. */
interface Ended {
  readonly work: 'inspect' | 'parse' | 'render' | 'extract';
  readonly outcome: string;
  readonly seconds: number;
  readonly pages: readonly PageSummary[];
}

const SOURCES = ['text_layer', 'ocr', 'model', 'markup'] as const;
const BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

const measures = (register: Registry): ((ended: Ended) => void) => {
  const { counter, histogram } = metersOn(register);
  const seconds = histogram(
    'quire_document_seconds',
    'Time of work on a document, including the wait for a free process.',
    { buckets: BUCKETS, labelNames: ['work', 'outcome'] },
  );
  const pages = counter(
    'quire_document_pages_total',
    'Pages read, by where their text came from; ocr: recognised here.',
    'source',
  );
  const ocr = histogram(
    'quire_ocr_seconds',
    'Time to read documents with at least one recognised page, including the wait for a process.',
    { buckets: BUCKETS },
  );
  for (const source of SOURCES) pages.inc({ source }, 0);
  return (ended) => {
    seconds.observe({ work: ended.work, outcome: ended.outcome }, ended.seconds);
    for (const { source } of ended.pages) pages.inc({ source });
    if (ended.pages.some(({ source }) => source === 'ocr')) ocr.observe(ended.seconds);
  };
};

type Answer = { readonly kind: string };

const noPages = (): readonly PageSummary[] => [];
const pagesOfDocument = (answer: ParseResult | ReadResult): readonly PageSummary[] =>
  answer.kind === 'ok' ? answer.document.pages : [];

/** Measures and traces work on documents: how long it took, and where its pages' text came from. */
export const watchedDocuments = (
  { parser, localEngine }: WatchedWork,
  { register, tracer }: { readonly register: Registry; readonly tracer: Tracer },
): WatchedWork => {
  const measure = measures(register);
  const watched = async <A extends Answer>(
    work: Ended['work'],
    run: () => Promise<A>,
    pagesOf: (answer: A) => readonly PageSummary[],
  ): Promise<A> => {
    const span = tracer.begin(`document ${work}`);
    const began = performance.now();
    const ended = (outcome: string, pages: readonly PageSummary[]) => {
      measure({ work, outcome, pages, seconds: (performance.now() - began) / 1000 });
      const ocr_pages = pages.filter(({ source }) => source === 'ocr').length;
      span.end({ 'quire.outcome': outcome, 'quire.pages': pages.length, 'quire.ocr_pages': ocr_pages });
    };
    try {
      const answer = await run();
      ended(answer.kind, pagesOf(answer));
      return answer;
    } catch (error) {
      ended('error', []);
      throw error;
    }
  };
  return {
    parser: {
      inspect: (request) => watched('inspect', () => parser.inspect(request), noPages),
      parse: (request) => watched('parse', () => parser.parse(request), pagesOfDocument),
      read: (request) => watched('parse', () => parser.read(request), pagesOfDocument),
      render: (request) =>
        watched(
          'render',
          () => parser.render(request),
          (a) => (a.kind === 'ok' ? a.rendition.pages : []),
        ),
      close: () => parser.close(),
    },
    localEngine: {
      name: localEngine.name,
      extract: (request) =>
        watched(
          'extract',
          () => localEngine.extract(request),
          (a) => (a.kind === 'ok' ? a.extraction.pages : []),
        ),
    },
  };
};
