import { Minus, PanelLeft, Plus } from '../ui/icons/icons.tsx';
import { useEffect, useRef, useState, lazy, Suspense, type KeyboardEvent, type RefObject } from 'react';
import { playground as texts } from '../texts/playground.ts';
import { Button } from '../ui/button.tsx';
import { Select } from '../ui/select.tsx';
import { classes } from '../ui/style.ts';
import { letGo, useNear, Overlay, type Opened, type DrawSmall, type ViewProps } from './overlay.tsx';
import { Skeleton } from '../ui/states.tsx';
import type { Conversion } from './conversion.tsx';
import type { ValueRow } from './values.ts';
import { previewKind } from './preview.ts';
import { PlainView, ReadableView } from './readableView.tsx';

interface DocumentBarProps {
  readonly zoom: number;
  readonly onZoom: (zoom: number) => void;
  readonly pages: number;
  readonly onGo: (page: number) => void;
  readonly hasStrip: boolean;
  readonly onStrip: (isShown: boolean) => void;
}

/** Shows the pages in small, makes the page smaller or larger, goes to one. */
function DocumentBar({ zoom, onZoom, pages, onGo, hasStrip, onStrip }: DocumentBarProps) {
  return (
    <div className="flex items-center gap-1">
      <Button
        size="icon"
        look="quiet"
        aria-label={texts.strip}
        aria-pressed={hasStrip}
        disabled={pages === 0}
        onClick={() => onStrip(!hasStrip)}
      >
        <PanelLeft aria-hidden className="size-4" />
      </Button>
      <Button
        size="icon"
        look="quiet"
        aria-label={texts.smaller}
        onClick={() => onZoom(Math.max(0.5, zoom - 0.25))}
      >
        <Minus aria-hidden className="size-4" />
      </Button>
      <span className="w-12 text-center text-soft">{Math.round(zoom * 100)} %</span>
      <Button
        size="icon"
        look="quiet"
        aria-label={texts.larger}
        onClick={() => onZoom(Math.min(3, zoom + 0.25))}
      >
        <Plus aria-hidden className="size-4" />
      </Button>
      {pages > 1 && (
        <div className="w-32">
          <Select
            label={texts.goToPage}
            placeholder={texts.goToPage}
            value=""
            onChange={(page) => onGo(Number(page))}
            choices={Array.from({ length: pages }, (_, at) => ({
              value: String(at + 1),
              name: texts.page(at + 1),
            }))}
          />
        </div>
      )}
    </div>
  );
}

interface PageStripProps {
  readonly opened: Opened;
  readonly current: number;
  readonly onGo: (page: number) => void;
}

interface SmallPageProps extends PageStripProps {
  readonly page: number;
}

/** One page in small, drawn while it is near to what is seen of the strip. */
function SmallPage({ opened, current, onGo, page }: SmallPageProps) {
  const place = useRef<HTMLButtonElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const isNear = useNear(place, '300px');
  const isCurrent = page === current;
  const { drawSmall } = opened;
  useEffect(() => {
    const drawn = canvas.current;
    if (drawn === null || !isNear) return;
    const stop = drawSmall(page, drawn);
    return () => {
      stop();
      letGo(drawn);
    };
  }, [drawSmall, page, isNear]);
  return (
    <button
      ref={place}
      type="button"
      data-small={page}
      aria-label={texts.page(page)}
      aria-current={isCurrent ? 'page' : undefined}
      tabIndex={isCurrent ? 0 : -1}
      onClick={() => onGo(page)}
      className={classes(
        'flex w-20 shrink-0 flex-col items-center gap-0.5 rounded-md p-1 text-[13px] hover:bg-line/60',
        isCurrent ? 'bg-accent-soft font-medium text-accent' : 'text-soft',
      )}
    >
      <span
        className={classes(
          'flex h-20 w-full items-center justify-center overflow-hidden rounded-sm border bg-white',
          isCurrent ? 'border-accent' : 'border-line',
        )}
      >
        <canvas ref={canvas} width={0} height={0} className="max-h-full max-w-full" />
      </span>
      {page}
    </button>
  );
}

const STEPS: Readonly<Record<string, (page: number, pages: number) => number>> = {
  ArrowDown: (page) => page + 1,
  ArrowRight: (page) => page + 1,
  ArrowUp: (page) => page - 1,
  ArrowLeft: (page) => page - 1,
  Home: () => 1,
  End: (_, pages) => pages,
};

const focusPage = (strip: Element | null, page: number): void =>
  strip?.querySelector<HTMLElement>(`[data-small="${String(page)}"]`)?.focus();

/** Brings the small page into what is seen of the strip; what is around the strip stays where it is. */
const useFollow = (current: number) => {
  const strip = useRef<HTMLElement>(null);
  useEffect(() => {
    const place = strip.current;
    const small = place?.querySelector<HTMLElement>(`[data-small="${String(current)}"]`);
    if (place === null || small == null) return;
    const [outer, inner] = [place.getBoundingClientRect(), small.getBoundingClientRect()];
    const down = Math.min(0, inner.top - outer.top) + Math.max(0, inner.bottom - outer.bottom);
    const right = Math.min(0, inner.left - outer.left) + Math.max(0, inner.right - outer.right);
    place.scrollBy(right, down);
  }, [current]);
  return strip;
};

/** The pages in small: a click or an arrow key goes to one. One stop for the tab key. */
function PageStrip(props: PageStripProps) {
  const { opened, current, onGo } = props;
  const strip = useFollow(current);
  const walk = (event: KeyboardEvent): void => {
    const from = Number((event.target as HTMLElement).dataset['small'] ?? current);
    const next = STEPS[event.key]?.(from, opened.pages);
    if (next === undefined || next < 1 || next > opened.pages) return;
    event.preventDefault();
    onGo(next);
    focusPage(strip.current, next);
  };
  return (
    <nav
      ref={strip}
      data-scrolls
      aria-label={texts.strip}
      onKeyDown={walk}
      className="flex gap-1 overflow-auto rounded-md bg-sunken p-1 sm:max-h-[75vh] sm:w-23 sm:shrink-0 sm:flex-col"
    >
      {Array.from({ length: opened.pages }, (_, at) => (
        <SmallPage key={at} {...props} page={at + 1} />
      ))}
    </nav>
  );
}

const SMALL_WIDTH = 160;

const drawPicture =
  (file: File): DrawSmall =>
  (_, canvas) => {
    let isGone = false;
    createImageBitmap(file, { resizeWidth: SMALL_WIDTH, resizeQuality: 'medium' }).then(
      (bitmap) => {
        if (!isGone) {
          canvas.width = bitmap.width;
          canvas.height = bitmap.height;
          canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
        }
        bitmap.close();
      },
      () => undefined,
    );
    return () => {
      isGone = true;
    };
  };

/** A picture is one page. */
function PictureView({ file, zoom, marks, chosen, onChoose, onOpened, onFault }: ViewProps) {
  const [address, keep] = useState<string>();
  const [size, measure] = useState({ width: 0, height: 0 });
  const tell = useRef(onOpened);
  useEffect(() => {
    const made = URL.createObjectURL(file);
    keep(made);
    tell.current({ pages: 1, drawSmall: drawPicture(file) });
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return (
    <div data-page={1} className="relative mx-auto" style={{ width: `${String(zoom * 100)}%` }}>
      <img
        src={address}
        alt={file.name}
        className="w-full"
        onError={onFault}
        onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
          measure({ width, height })
        }
      />
      {size.width > 0 && <Overlay {...size} marks={marks} chosen={chosen} onChoose={onChoose} />}
    </div>
  );
}

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
    const given = { file, rows, chosen, ...(conversion && { conversion }) };
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

interface DocumentViewProps extends Omit<ViewProps, 'zoom' | 'onOpened' | 'onFault'> {
  readonly rows: readonly ValueRow[];
  /** Left out: what the browser cannot show is not shown. */
  readonly conversion?: Conversion;
  readonly onPages?: (count: number) => void;
  readonly onFault?: () => void;
}

/** A strip takes too much of a narrow window; one page needs none. */
const beginsWithStrip = ({ pages }: Opened): boolean =>
  pages > 1 && window.matchMedia('(min-width: 40rem)').matches;

/** The document as it looks, with the boxes of its values and its pages in small. */
export function DocumentView(props: DocumentViewProps) {
  const { file, chosen, onPages, onFault } = props;
  const [zoom, keep] = useState(1);
  const [opened, open] = useState<Opened>();
  const [hasStrip, show] = useState(false);
  const place = useScrollTo(chosen);
  const [current, goTo] = useCurrentPage(place);
  const given: ViewProps & Reading = {
    ...props,
    zoom,
    onFault: () => onFault?.(),
    onOpened: (one) => {
      open(one);
      show(beginsWithStrip(one));
      onPages?.(one.pages);
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
          className="max-h-(--document-height,75vh) min-h-60 min-w-0 flex-1 overflow-auto rounded-md bg-sunken p-3"
        >
          <Shown {...given} />
        </div>
      </div>
    </div>
  );
}
