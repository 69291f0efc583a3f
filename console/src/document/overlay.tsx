import { useRef, useState, useEffect, type PointerEvent, type RefObject } from 'react';
import { playground as texts } from '../texts/playground.ts';
import { classes } from '../ui/style.ts';

/** Left, top, right, bottom, in the measure of its page. */
export type Box = readonly [number, number, number, number];

export interface Marked {
  readonly path: string;
  readonly page: number;
  readonly box: Box;
}

interface OverlayProps {
  readonly width: number;
  readonly height: number;
  readonly marks: readonly Marked[];
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
  /** Given while a box may be drawn; a click is a box without a size. */
  readonly onDraw?: ((box: Box) => void) | undefined;
}

const share = (part: number, whole: number): string => `${String((100 * part) / whole)}%`;

/** Boxes of values over a page, in the page's own measure; a new one is drawn by dragging. */
export function Overlay({ width, height, marks, chosen, onChoose, onDraw }: OverlayProps) {
  const start = useRef<readonly [number, number]>(undefined);
  const [drawn, draw] = useState<Box>();
  const at = ({ currentTarget, clientX, clientY }: PointerEvent): readonly [number, number] => {
    const frame = currentTarget.getBoundingClientRect();
    return [((clientX - frame.left) * width) / frame.width, ((clientY - frame.top) * height) / frame.height];
  };
  const placed = ([left, top, right, bottom]: Box) => ({
    left: share(left, width),
    top: share(top, height),
    width: share(right - left, width),
    height: share(bottom - top, height),
  });
  return (
    <div
      className={classes(
        'absolute inset-0',
        onDraw !== undefined && 'cursor-crosshair pointer-fine:touch-none',
      )}
      onPointerDown={(event) => {
        if (onDraw !== undefined) start.current = at(event);
      }}
      onPointerMove={(event) => {
        if (start.current === undefined) return;
        const [[x0, y0], [x1, y1]] = [start.current, at(event)];
        draw([Math.min(x0, x1), Math.min(y0, y1), Math.max(x0, x1), Math.max(y0, y1)]);
      }}
      // a finger scrolls what is around, and takes the words that it taps on
      onPointerCancel={() => {
        start.current = undefined;
        draw(undefined);
      }}
      onPointerUp={() => {
        const clicked = start.current;
        start.current = undefined;
        if (drawn !== undefined) onDraw?.(drawn);
        else if (clicked !== undefined) onDraw?.([...clicked, ...clicked]);
        draw(undefined);
      }}
    >
      {marks.map(({ path, box }) => (
        <button
          key={path}
          type="button"
          tabIndex={-1}
          data-box={path}
          aria-label={texts.boxOf(path)}
          onClick={() => onChoose(path)}
          style={placed(box)}
          className={classes(
            'absolute rounded-sm',
            onDraw !== undefined && 'pointer-events-none',
            path === chosen
              ? 'bg-[#3451d1]/15 outline-2 outline-offset-1 outline-[#3451d1]'
              : 'bg-[#3451d1]/10 outline outline-[#3451d1]/40 hover:bg-[#3451d1]/25',
          )}
        />
      ))}
      {drawn !== undefined && (
        <div style={placed(drawn)} className="absolute border-2 border-dashed border-[#b42323]" />
      )}
    </div>
  );
}

/** Draws a page in small, and takes it away again. */
export type DrawSmall = (page: number, canvas: HTMLCanvasElement) => () => void;

/** What is known of a document once it is open. */
export interface Opened {
  readonly pages: number;
  readonly drawSmall: DrawSmall;
}

/** What every way to draw a document is given. */
export interface ViewProps {
  readonly file: File;
  readonly zoom: number;
  readonly marks: readonly Marked[];
  readonly chosen: string | undefined;
  readonly onChoose: (path: string) => void;
  readonly onOpened: (opened: Opened) => void;
  readonly onFault: () => void;
  /** Given while a value is corrected: takes the words of a box that is drawn. */
  readonly onDrawn?: ((words: string) => void) | undefined;
}

/** Whether an element is seen or nearly so: what is far away is not drawn, and what was drawn there is let go. */
export const useNear = (element: RefObject<Element | null>, margin: string): boolean => {
  const [isNear, tell] = useState(false);
  useEffect(() => {
    if (element.current === null) return;
    const watch = new IntersectionObserver((seen) => tell(seen.at(-1)?.isIntersecting === true), {
      // of what scrolls, not of the window: without it the margin would count from the window's edge alone
      root: element.current.closest('[data-scrolls]'),
      rootMargin: margin,
    });
    watch.observe(element.current);
    return () => watch.disconnect();
  }, [element, margin]);
  return isNear;
};

/** Frees what a canvas holds. */
export const letGo = (canvas: HTMLCanvasElement): void => {
  canvas.width = 0;
  canvas.height = 0;
};
