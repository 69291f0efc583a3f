import { useEffect, useRef, type ReactNode } from 'react';
import './cited.css';
import { lettersOf, placeOf, type Letters, type Wanted } from './preview.ts';

const HIGHLIGHT = 'cited';

interface Drawn {
  readonly nodes: readonly Text[];
  readonly letters: Letters;
}

const drawnIn = (place: HTMLElement): Drawn => {
  const nodes: Text[] = [];
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() !== null) nodes.push(walker.currentNode as Text);
  return { nodes, letters: lettersOf(nodes.map(({ data }) => data)) };
};

const rangeOf = ({ nodes, letters }: Drawn, [from, to]: readonly [number, number]): Range | undefined => {
  const [first, last] = [letters.origins[from], letters.origins[to - 1]];
  const [begin, end] = [nodes[first?.[0] ?? -1], nodes[last?.[0] ?? -1]];
  if (first === undefined || last === undefined || begin === undefined || end === undefined) return undefined;
  const range = new Range();
  range.setStart(begin, first[1]);
  range.setEnd(end, last[1] + 1);
  return range;
};

/** Moves what is seen of the document alone. */
const scrollToRange = (place: HTMLElement, range: Range): void => {
  const scrolled = place.closest('[data-scrolls]');
  if (scrolled === null) return;
  const [outer, inner] = [scrolled.getBoundingClientRect(), range.getBoundingClientRect()];
  scrolled.scrollBy({ top: inner.top - outer.top - outer.height * 0.4 });
};

interface CitedProps {
  readonly wanted: Wanted | undefined;
  /** What is drawn: where it changes, the words are looked for anew. */
  readonly text: string;
  readonly children: ReactNode;
}

/** A text in which the words of the chosen value are marked, without an element more. */
export function Cited({ wanted, text, children }: CitedProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (place.current === null || wanted === undefined) return;
    const drawn = drawnIn(place.current);
    const found = placeOf(drawn.letters, wanted);
    const range = found && rangeOf(drawn, found);
    if (range === undefined) return;
    scrollToRange(place.current, range);
    // a browser that knows no highlights still scrolls there
    if (!('highlights' in CSS)) return;
    CSS.highlights.set(HIGHLIGHT, new Highlight(range));
    return () => void CSS.highlights.delete(HIGHLIGHT);
  }, [text, wanted]);
  return <div ref={place}>{children}</div>;
}
