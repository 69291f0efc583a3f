import { useEffect, useState, type RefObject } from 'react';

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
