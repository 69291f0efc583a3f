import { useLayoutEffect, useRef, type ReactNode, type RefObject } from 'react';
import { classes } from './style.ts';

interface CardProps {
  readonly title?: ReactNode;
  /** Beside the title, at the right. */
  readonly actions?: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A part of a page with a frame and, mostly, a title. */
export function Card({ title, actions, className, children }: CardProps) {
  return (
    <section className={classes('min-w-0 rounded-lg border border-line bg-surface p-4', className)}>
      {(title !== undefined || actions !== undefined) && (
        <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
          <h2 className="font-semibold">{title}</h2>
          {actions}
        </div>
      )}
      {children}
    </section>
  );
}

/** Pixels of the letters of a figure, and the fewest that it gets smaller to. */
const FIGURE_PX = 24;
const FIGURE_PX_LEAST = 11;

/** Makes the letters of a figure smaller until it fits its card. */
const useFitting = (): RefObject<HTMLDivElement | null> => {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const figure = place.current;
    if (figure === null) return undefined;
    const fit = (): void => {
      figure.style.fontSize = '';
      const share = figure.clientWidth / figure.scrollWidth;
      if (share < 1)
        figure.style.fontSize = `${String(Math.max(FIGURE_PX_LEAST, Math.floor(FIGURE_PX * share)))}px`;
    };
    fit();
    const watch = new ResizeObserver(fit);
    watch.observe(figure);
    return () => watch.disconnect();
  });
  return place;
};

/** One figure with its name, and a line that explains it. */
export function Stat({ name, value, say }: { name: string; value: ReactNode; say?: ReactNode }) {
  const place = useFitting();
  return (
    <div className="min-w-0 rounded-lg border border-line bg-surface p-4">
      <div className="text-[13px] text-soft">{name}</div>
      <div
        ref={place}
        data-whole
        className="mt-1 h-8 overflow-hidden text-2xl leading-8 font-semibold whitespace-nowrap"
      >
        {value}
      </div>
      {say !== undefined && <div className="text-[13px] text-soft">{say}</div>}
    </div>
  );
}

const TONES = {
  neutral: 'bg-sunken text-soft',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
} as const;

export type Tone = keyof typeof TONES;

/** A state in a word. */
export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={classes(
        'inline-flex items-center gap-1 rounded px-1.5 text-xs leading-5 font-medium whitespace-nowrap',
        TONES[tone],
      )}
    >
      {children}
    </span>
  );
}

/** Title of a page, one line that says what it is for, and what can be done on it. */
export function PageHeader({ title, say, children }: { title: string; say?: string; children?: ReactNode }) {
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-4">
      <div className="min-w-0">
        <h1 className="text-xl leading-7 font-semibold wrap-anywhere">{title}</h1>
        {say !== undefined && <p className="text-soft">{say}</p>}
      </div>
      {children !== undefined && <div className="flex flex-wrap items-center gap-2">{children}</div>}
    </header>
  );
}
