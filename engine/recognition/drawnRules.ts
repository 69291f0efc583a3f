import { around, type Pixels, type Rule } from '../layout/content.ts';

const DARK = 150;
/** A hairline is blurred to grey by a scanner: it is darker by so much than what lies this far to both sides. */
const FAINT = 225;
const STEP = 25;
const ASIDE = 3;
/** Dark pixels in a row that no letter of usual size has, as a share of the picture's width. */
const RUN_SHARE = 0.03;
/** A rule is at least so long, as a share of the picture's width. */
const RULE_SHARE = 0.06;
/** Thicker is a bar or a picture. */
const THICK_MAX = 9;
/** Pixels that a rule may drift to the side over its length, for paper lies askew. */
const DRIFT_SHARE = 0.02;
/** Light pixels that do not break a run. */
const DUST = 2;
const RULES_MAX = 400;

interface Run {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/** The straight lines of a picture, along its width and its height, in pixels. */
export function drawnRules(pixels: Pixels): readonly Rule[] {
  const { width, height, data } = pixels;
  const run = Math.max(30, RUN_SHARE * width);
  const least = Math.max(60, RULE_SHARE * width);
  const across = linesOf(
    runsIn({
      lines: height,
      length: width,
      isDark: (y, x) => isInked(data, y * width + x, ASIDE * width),
      least: run,
    }),
    least,
  ).map(({ at, end, from, to }): Rule => [from, (at + end) / 2, to, (at + end) / 2]);
  const down = linesOf(
    runsIn({
      lines: width,
      length: height,
      isDark: (x, y) => isInked(data, y * width + x, ASIDE),
      least: run,
    }),
    Math.max(run, 0.5 * least),
  ).map(({ at, end, from, to }): Rule => [(at + end) / 2, from, (at + end) / 2, to]);
  return [...longest(across), ...longest(down)];
}

/** Dark, or darker than what lies to both sides of the line that may run here. */
function isInked(data: Uint8Array, at: number, aside: number): boolean {
  const value = data[at] ?? 255;
  if (value < DARK) return true;
  if (value >= FAINT) return false;
  return value + STEP < (data[at - aside] ?? 255) && value + STEP < (data[at + aside] ?? 255);
}

const longest = (rules: readonly Rule[]): readonly Rule[] =>
  [...rules].sort((a, b) => lengthOf(b) - lengthOf(a)).slice(0, RULES_MAX);

const lengthOf = (rule: Rule): number => {
  const [x0, y0, x1, y1] = around([rule]);
  return x1 - x0 + y1 - y0;
};

interface Scan {
  readonly lines: number;
  readonly length: number;
  readonly isDark: (line: number, at: number) => boolean;
  readonly least: number;
}

/** Unbroken dark pixels along each line, from so many on; single light pixels are dust. */
function runsIn(scan: Scan): readonly Run[] {
  const runs: Run[] = [];
  for (let line = 0; line < scan.lines; line += 1) addRuns(runs, line, scan);
  return runs;
}

function addRuns(runs: Run[], line: number, { length, isDark, least }: Scan): void {
  let from = -1;
  let last = -1;
  for (let at = 0; at <= length; at += 1) {
    if (at < length && isDark(line, at)) {
      from = from < 0 ? at : from;
      last = at;
    } else if (from >= 0 && at - last > DUST) {
      if (last - from + 1 >= least) runs.push({ at: line, from, to: last + 1 });
      from = -1;
    }
  }
  if (from >= 0 && last - from + 1 >= least) runs.push({ at: line, from, to: last + 1 });
}

interface DrawnLine {
  readonly at: number;
  end: number;
  from: number;
  to: number;
}

/** Runs that touch those of the line before are one line, also where they shift a little from line to line. */
function linesOf(runs: readonly Run[], least: number): readonly DrawnLine[] {
  const done: DrawnLine[] = [];
  let open: DrawnLine[] = [];
  for (const run of runs) {
    const [near, past] = parted(open, (line) => run.at - line.end <= 2);
    done.push(...past);
    open = [...near];
    const line = near.find((one) => run.from <= one.to + 4 && run.to >= one.from - 4);
    if (line === undefined) open.push({ at: run.at, end: run.at, from: run.from, to: run.to });
    else {
      line.end = run.at;
      line.from = Math.min(line.from, run.from);
      line.to = Math.max(line.to, run.to);
    }
  }
  return [...done, ...open].filter(({ at, end, from, to }) => {
    const length = to - from;
    return length >= least && end - at <= Math.max(THICK_MAX, DRIFT_SHARE * length);
  });
}

function parted<T>(items: readonly T[], test: (item: T) => boolean): readonly [T[], T[]] {
  const yes: T[] = [];
  const no: T[] = [];
  for (const item of items) (test(item) ? yes : no).push(item);
  return [yes, no];
}

/** Less contrast than this all over (deviation of grey values) is a blank page. */
const BLANK_DEVIATION = 1.5;
const SAMPLE = 3;

/** Whether nothing stands out in a picture. */
export function isBlank({ data }: Pixels): boolean {
  let sum = 0;
  let squares = 0;
  let count = 0;
  for (let at = 0; at < data.length; at += SAMPLE) {
    const value = data[at] ?? 0;
    sum += value;
    squares += value * value;
    count += 1;
  }
  const mean = sum / Math.max(1, count);
  return Math.sqrt(Math.max(0, squares / Math.max(1, count) - mean * mean)) < BLANK_DEVIATION;
}
