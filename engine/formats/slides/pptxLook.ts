import { childAt, findAll, type XmlElement } from '../office/xmlTree.ts';

/** What a slide takes over from its layout and its master. */
export interface PptxLook {
  /** The text properties of a level (from 0) of a placeholder, the nearest first. */
  readonly levelsOf: (shape: XmlElement, level: number) => readonly XmlElement[];
  /** Where a shape lies: x and y in EMU; undefined where nothing says so. */
  readonly placeOf: (shape: XmlElement) => Place | undefined;
}

export interface Place {
  readonly x: number;
  readonly y: number;
}

/** What kind of place a shape fills: `title`, `body`, `dt` …; undefined of a shape of its own. */
export const placeholderOf = (shape: XmlElement): XmlElement | undefined =>
  ['p:nvSpPr', 'p:nvPicPr', 'p:nvGraphicFramePr']
    .map((name) => childAt(shape, name, 'p:nvPr', 'p:ph'))
    .find((found) => found !== undefined);

/** The kind that a placeholder without one has. */
export const kindOf = (placeholder: XmlElement): string => placeholder.attributes['type'] ?? 'obj';

interface Above {
  readonly layout: XmlElement | undefined;
  readonly master: XmlElement | undefined;
}

/** Master styles by kind; all other kinds have the style of bodies. */
const TITLES = new Set(['title', 'ctrTitle']);

/** What the layout and the master say of the shapes of a slide. */
export function pptxLook({ layout, master }: Above): PptxLook {
  const above = [layout, master].map((part) => (part === undefined ? [] : findAll(part, 'p:sp')));
  const styles = childAt(master, 'p:txStyles');
  const chainOf = (shape: XmlElement): readonly XmlElement[] => {
    const placeholder = placeholderOf(shape);
    if (placeholder === undefined) return [shape];
    return [
      shape,
      ...above.flatMap((shapes) => shapes.find((other) => isSamePlace(placeholder, other)) ?? []),
    ];
  };
  return {
    levelsOf: (shape, level) => {
      const name = `a:lvl${String(level + 1)}pPr`;
      const own = chainOf(shape).map((one) => childAt(one, 'p:txBody', 'a:lstStyle', name));
      const placeholder = placeholderOf(shape);
      const style =
        placeholder === undefined
          ? 'p:otherStyle'
          : TITLES.has(kindOf(placeholder))
            ? 'p:titleStyle'
            : 'p:bodyStyle';
      return [...own, childAt(styles, style, name)].filter((found) => found !== undefined);
    },
    placeOf: (shape) =>
      chainOf(shape)
        .map(ownPlace)
        .find((place) => place !== undefined),
  };
}

/** A placeholder is the layout's of the same index or, without one, of the same kind. */
function isSamePlace(placeholder: XmlElement, other: XmlElement): boolean {
  const found = placeholderOf(other);
  if (found === undefined) return false;
  const { idx } = placeholder.attributes;
  if (idx !== undefined && found.attributes['idx'] === idx) return true;
  const [kind, otherKind] = [kindOf(placeholder), kindOf(found)];
  return kind === otherKind || (TITLES.has(kind) && TITLES.has(otherKind));
}

function ownPlace(shape: XmlElement): Place | undefined {
  const offset =
    childAt(shape, 'p:spPr', 'a:xfrm', 'a:off') ??
    childAt(shape, 'p:grpSpPr', 'a:xfrm', 'a:off') ??
    childAt(shape, 'p:xfrm', 'a:off');
  const [x, y] = [Number(offset?.attributes['x']), Number(offset?.attributes['y'])];
  return Number.isFinite(x) && Number.isFinite(y) ? { x, y } : undefined;
}
