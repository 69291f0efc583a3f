export interface Fitted {
  /** Letters that differ, lack or are too many. */
  readonly amiss: number;
  /** Range in the text. */
  readonly from: number;
  readonly to: number;
}

interface Cell {
  readonly amiss: number;
  readonly from: number;
}

/**
 * The part of a text that is most like the wanted one; undefined when more than `amissMax` letters are amiss.
 * Only parts that begin within 2 × `amissMax` of the text's start count: wanted × amissMax steps.
 */
export function fitted(wanted: string, text: string, amissMax: number): Fitted | undefined {
  const width = 4 * amissMax + 1;
  let row: readonly Cell[] = Array.from({ length: width }, (_, d) => ({
    amiss: d - amissMax < 0 ? NEVER : 0,
    from: Math.max(0, d - amissMax),
  }));
  for (let i = 0; i < wanted.length; i += 1) row = nextRow(row, { letter: wanted[i], text, i, amissMax });
  let best: Fitted | undefined;
  for (const [d, { amiss, from }] of row.entries()) {
    const to = wanted.length + d - amissMax;
    if (amiss <= amissMax && to > from && to <= text.length && amiss < (best?.amiss ?? NEVER))
      best = { amiss, from, to };
  }
  return best;
}

const NEVER = 1_000_000;

interface Step {
  readonly letter: string | undefined;
  readonly text: string;
  readonly i: number;
  readonly amissMax: number;
}

/** Cells lie along diagonals: cell `d` of row `i` ends before letter `i + d - amissMax` of the text. */
function nextRow(row: readonly Cell[], { letter, text, i, amissMax }: Step): readonly Cell[] {
  const next: Cell[] = [];
  for (let d = 0; d < row.length; d += 1) {
    const at = i + d - amissMax;
    const same = row[d] ?? OUT;
    const lacking = row[d + 1] ?? OUT;
    const extra = next[d - 1] ?? OUT;
    const costs = at >= 0 && at < text.length ? same.amiss + (text[at] === letter ? 0 : 1) : NEVER;
    next.push(
      least(
        { amiss: costs, from: same.from },
        { ...lacking, amiss: lacking.amiss + 1 },
        { ...extra, amiss: extra.amiss + 1 },
      ),
    );
  }
  return next;
}

const OUT: Cell = { amiss: NEVER, from: 0 };

function least(a: Cell, b: Cell, c: Cell): Cell {
  const best = a.amiss <= b.amiss ? a : b;
  return best.amiss <= c.amiss ? best : c;
}
