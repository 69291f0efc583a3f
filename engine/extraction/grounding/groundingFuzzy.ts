export interface Fitted {
  /** Letters that differ, lack or are too many. */
  readonly amiss: number;
  /** Range in the text. */
  readonly from: number;
  readonly to: number;
}

/** A row of the table of distances: what it costs to come to each diagonal, and where that way begins. */
interface Cells {
  readonly amiss: Int32Array;
  readonly from: Int32Array;
}

/**
 * The part of a text that is most like the wanted one; undefined when more than `amissMax` letters are amiss.
 * Only parts that begin within 2 × `amissMax` of the text's start count: wanted × amissMax steps, fewer when
 * too much is amiss from the start. Cell `d` of row `i` ends before letter `i + d - amissMax` of the text.
 */
export function fitted(wanted: string, text: string, amissMax: number): Fitted | undefined {
  const width = 4 * amissMax + 1;
  const cells: Cells = { amiss: new Int32Array(width), from: new Int32Array(width) };
  for (let d = 0; d < width; d += 1) {
    cells.amiss[d] = d < amissMax ? NEVER : 0;
    cells.from[d] = Math.max(0, d - amissMax);
  }
  for (let i = 0; i < wanted.length; i += 1)
    if (advance(cells, { letter: wanted.charCodeAt(i), text, at: i - amissMax }) > amissMax) return undefined;
  return bestOf(cells, { length: wanted.length, text, amissMax });
}

const NEVER = 1_000_000;

interface Step {
  readonly letter: number;
  readonly text: string;
  /** The text's letter of the first cell. */
  readonly at: number;
}

/** Goes on by one letter of the wanted text, in place; gives the least that is amiss now. */
function advance({ amiss, from }: Cells, { letter, text, at }: Step): number {
  let least = NEVER;
  for (let d = 0; d < amiss.length; d += 1) {
    const place = at + d;
    const isInside = place >= 0 && place < text.length;
    let cost = isInside ? cell(amiss, d) + (text.charCodeAt(place) === letter ? 0 : 1) : NEVER;
    let begin = cell(from, d);
    if (cell(amiss, d + 1) + 1 < cost) {
      cost = cell(amiss, d + 1) + 1;
      begin = cell(from, d + 1);
    }
    if (d > 0 && cell(amiss, d - 1) + 1 < cost) {
      cost = cell(amiss, d - 1) + 1;
      begin = cell(from, d - 1);
    }
    amiss[d] = cost;
    from[d] = begin;
    if (cost < least) least = cost;
  }
  return least;
}

const cell = (cells: Int32Array, d: number): number => cells[d] ?? NEVER;

function bestOf(
  { amiss, from }: Cells,
  { length, text, amissMax }: { readonly length: number; readonly text: string; readonly amissMax: number },
): Fitted | undefined {
  let best: Fitted | undefined;
  for (const [d, cost] of amiss.entries()) {
    const fit = { amiss: cost, from: from[d] ?? 0, to: length + d - amissMax };
    const isInside = fit.to > fit.from && fit.to <= text.length;
    if (isInside && cost <= amissMax && cost < (best?.amiss ?? NEVER)) best = fit;
  }
  return best;
}
