import { lazy, Suspense, useEffect, useRef, useState, type RefObject } from 'react';
import { playground as texts } from '../../../texts/playground.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import type { Conversion } from '../results/conversion.tsx';
import type { ValueRow } from '../values.ts';
import { DocumentBar } from './documentBar.tsx';
import { PageStrip } from './pageStrip.tsx';
import { PictureView } from './pictureView.tsx';
import { previewKind } from './preview/kinds.ts';
import { PlainView, ReadableView } from './readableView.tsx';
import type { Opened, ViewProps } from './viewProps.ts';

const PdfView = lazy(() => import('./pdfView.tsx'));

const isPdf = ({ type, name }: File): boolean => type === 'application/pdf' || /\.pdf$/i.test(name);
const isPicture = ({ type }: File): boolean => type.startsWith('image/');
/** Plain text is shown as it is; what has a form is shown in it. */
const isPlain = (file: File): boolean =>
  previewKind(file) === undefined && (file.type.startsWith('text/') || /\.(txt|json|xml)$/i.test(file.name));

type Reading = Pick<DocumentViewProps, 'rows' | 'conversion'>;

function Shown({ rows, conversion, ...props }: ViewProps & Reading) {
  const { file, chosen } = props;
  if (isPicture(file)) return <PictureView {...props} />;
  if (!isPdf(file)) {
    const given = { file, rows, chosen, conversion };
    return isPlain(file) ? <PlainView {...given} /> : <ReadableView {...given} />;
  }
  return (
    <Suspense fallback={<Skeleton className="h-96" />}>
      <PdfView {...props} />
    </Suspense>
  );
}

/** Moves what is seen of the document alone: the page around it stays where it is. */
const scrollTo = (place: HTMLElement | null, selector: string, ahead: number): void => {
  const target = place?.querySelector(selector);
  if (place === null || target == null) return;
  const by =
    target.getBoundingClientRect().top - place.getBoundingClientRect().top - ahead * place.clientHeight;
  place.scrollTo({ top: place.scrollTop + by });
};

/** Scrolls the box of the chosen value into what is seen. */
const useScrollTo = (chosen: string | undefined) => {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (chosen !== undefined) scrollTo(place.current, `[data-box="${CSS.escape(chosen)}"]`, 0.4);
  }, [chosen]);
  return place;
};

/** The page that one went to while it is whole in what is seen; else the first whose middle is. */
const pageSeen = (place: HTMLElement, asked: number): number => {
  const { top, bottom } = place.getBoundingClientRect();
  const pages = [...place.querySelectorAll<HTMLElement>('[data-page]')];
  const gone = pages.find((page) => Number(page.dataset['page']) === asked)?.getBoundingClientRect();
  // a pixel is lost to rounding
  if (gone !== undefined && gone.top >= top - 1 && gone.bottom <= bottom + 1) return asked;
  const seen = pages.find((page) => {
    const frame = page.getBoundingClientRect();
    return frame.top + frame.bottom > 2 * top;
  });
  return Number(seen?.dataset['page'] ?? 1);
};

/** The page that is looked at, and a way to another. */
const useCurrentPage = (place: RefObject<HTMLElement | null>): readonly [number, (page: number) => void] => {
  const [current, tell] = useState(1);
  const asked = useRef(1);
  useEffect(() => {
    const scrolled = place.current;
    if (scrolled === null) return;
    let frame = 0;
    const look = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => tell(pageSeen(scrolled, asked.current)));
    };
    scrolled.addEventListener('scroll', look, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      scrolled.removeEventListener('scroll', look);
    };
  }, [place]);
  const goTo = (page: number): void => {
    asked.current = page;
    tell(page);
    scrollTo(place.current, `[data-page="${String(page)}"]`, 0);
  };
  return [current, goTo];
};

interface DocumentViewProps extends Omit<ViewProps, 'zoom' | 'onOpened'> {
  readonly rows: readonly ValueRow[];
  readonly conversion: Conversion;
  readonly onPages: (count: number) => void;
}

/** A strip takes too much of a narrow window; one page needs none. */
const beginsWithStrip = ({ pages }: Opened): boolean =>
  pages > 1 && window.matchMedia('(min-width: 40rem)').matches;

/** The document as it looks, with the boxes of its values and its pages in small. */
export function DocumentView(props: DocumentViewProps) {
  const { file, chosen, onPages } = props;
  const [zoom, keep] = useState(1);
  const [opened, open] = useState<Opened>();
  const [hasStrip, show] = useState(false);
  const place = useScrollTo(chosen);
  const [current, goTo] = useCurrentPage(place);
  const given: ViewProps & Reading = {
    ...props,
    zoom,
    onOpened: (one) => {
      open(one);
      show(beginsWithStrip(one));
      onPages(one.pages);
    },
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-2">
      {(isPdf(file) || isPicture(file)) && (
        <DocumentBar
          zoom={zoom}
          onZoom={keep}
          pages={opened?.pages ?? 0}
          onGo={goTo}
          hasStrip={hasStrip}
          onStrip={show}
        />
      )}
      <div className="flex min-w-0 flex-col gap-2 sm:flex-row">
        {hasStrip && opened !== undefined && <PageStrip opened={opened} current={current} onGo={goTo} />}
        <div
          ref={place}
          data-scrolls
          role="region"
          aria-label={texts.pages}
          tabIndex={0}
          className="max-h-[75vh] min-h-60 min-w-0 flex-1 overflow-auto rounded-md bg-sunken p-3"
        >
          <Shown {...given} />
        </div>
      </div>
    </div>
  );
}
