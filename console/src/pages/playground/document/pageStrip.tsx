import { useEffect, useRef, type KeyboardEvent } from 'react';
import { playground as texts } from '../../../texts/playground.ts';
import { classes } from '../../../ui/classes.ts';
import { letGo, useNear } from './useNear.ts';
import type { Opened } from './viewProps.ts';

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
export function PageStrip(props: PageStripProps) {
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
