/** F1 of a set by the number of examples that taught it. */
export interface Curve {
  readonly set: string;
  /** `seeds`: the least and the highest, as `0.700-0.800`; empty for what was run once. */
  readonly points: readonly {
    readonly at: number;
    readonly F1: string | undefined;
    readonly seeds: string;
  }[];
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [640, 360, 48, 130, 24, 40];
const COLOURS = ['#1a5fb4', '#c64600', '#26a269', '#813d9c', '#a51d2d', '#63452c'];
/** What is below is not drawn. */
const LEAST = 0.3;
const LINES = [0.4, 0.6, 0.8, 1];
/** Names of curves that end at one height are kept so far apart. */
const APART = 14;

const y = (f1: number): number => TOP + ((1 - Math.max(LEAST, f1)) / (1 - LEAST)) * (HEIGHT - TOP - BOTTOM);

const text = ([x, at]: readonly [number, number], said: string, anchor = 'middle'): string =>
  `<text x="${x.toFixed(1)}" y="${at.toFixed(1)}" font-size="11" text-anchor="${anchor}">${said}</text>`;

/** A plot of curves, F1 by examples; a bar shows the runs that were best and worst. */
export function plotOf(curves: readonly Curve[]): string {
  const steps = [...new Set(curves.flatMap(({ points }) => points.map(({ at }) => at)))].sort(
    (a, b) => a - b,
  );
  const x = (at: number): number =>
    LEFT + (steps.indexOf(at) / Math.max(1, steps.length - 1)) * (WIDTH - LEFT - RIGHT);
  const ends: number[] = [];
  const drawn = [...curves]
    .sort((a, b) => Number(b.points.at(-1)?.F1) - Number(a.points.at(-1)?.F1))
    .map(({ set, points }, i) => {
      const colour = COLOURS[i % COLOURS.length] ?? '';
      const line = points.map(({ at, F1 }) => `${x(at).toFixed(1)},${y(Number(F1)).toFixed(1)}`).join(' ');
      const bars = points
        .filter(({ seeds }) => seeds !== '')
        .map(({ at, seeds }) => {
          const [low = '', high = ''] = seeds.split('-');
          return `M${x(at).toFixed(1)} ${y(Number(low)).toFixed(1)}V${y(Number(high)).toFixed(1)}`;
        });
      const last = points.at(-1);
      const end = Math.max(y(Number(last?.F1)) + 4, (ends.at(-1) ?? 0) + APART);
      ends.push(end);
      return [
        `<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        `<path d="${bars.join('')}" stroke="${colour}" stroke-width="6" opacity="0.25"/>`,
        `<g fill="${colour}">${text([x(last?.at ?? 0) + 8, end], `${set} ${last?.F1 ?? ''}`, 'start')}</g>`,
      ].join('\n');
    });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" viewBox="0 0 ${WIDTH} ${HEIGHT}">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    ...LINES.map(
      (f1) =>
        `<path d="M${LEFT} ${y(f1).toFixed(1)}H${WIDTH - RIGHT}" stroke="#ddd"/>` +
        text([LEFT - 6, y(f1) + 4], f1.toFixed(1), 'end'),
    ),
    ...steps.map((at) => text([x(at), HEIGHT - BOTTOM + 18], at === 0 ? 'none' : String(at))),
    text([(LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6], 'examples'),
    text([LEFT, 14], 'F1', 'end'),
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
}
