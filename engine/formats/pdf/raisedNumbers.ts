import type { ParsedPage } from '../../recognition/liteparse.ts';
import { heightOf, widthOf, type PlacedWord, type RaisedNumber } from '../../layout/content.ts';
import type { RunsAt } from './inside/insideOf.ts';
import type { DrawnRun } from './inside/operators.ts';

/** A number alone, or at an end of a word; marks of a sentence may follow it. */
const LEADING = /^\d{1,3}(?!\d|[.,]\d)/;
const TRAILING = /(?<![\d.,])\d{1,3}(?=\p{P}{0,2}$)/u;
/** A raised sign is lower than this share of the text beside it, and its foot stands higher by this one. */
const LOWER = 0.8;
const HIGHER = 0.08;
/** Points that are looked at beside a word, for what it is raised from. */
const BESIDE = 4;

/** Whether some text of a page may have such a number, so that it is worth looking at how it was drawn. */
export const mayHaveRaised = ({ textItems }: ParsedPage): boolean =>
  textItems.some(({ text }) => /\p{L}\p{P}{0,2}\d{1,3}(?![\p{L}\d])|^\d{1,3}\p{L}/u.test(text));

/** The number in a word that was drawn small and raised, as the marks of notes are, and exponents. */
export function raisedNumber(
  { text, box }: Pick<PlacedWord, 'text' | 'box'>,
  runsAt: RunsAt,
): RaisedNumber | undefined {
  if (!endsInDigit(text)) return undefined;
  const leading = LEADING.exec(text);
  const trailing = TRAILING.exec(text);
  if (leading === null && trailing === null) return undefined;
  const runs = runsAt([box[0] - BESIDE, box[1], box[2] + BESIDE, box[3]]);
  const raised = raisedOf(runs).filter((run) => run.box[0] < box[2] && box[0] < run.box[2]);
  const found = [leading, trailing].find(
    (group) => group !== null && raised.some(isDrawnAs(group, { text, box })),
  );
  return found == null ? undefined : { from: found.index, to: found.index + found[0].length };
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** Whether a digit stands first, or among the last three signs: other words have no such number. */
function endsInDigit(text: string): boolean {
  if (isDigit(text.charCodeAt(0))) return true;
  // A mark of a sentence may take two units.
  for (let at = Math.max(0, text.length - 5); at < text.length; at += 1)
    if (isDigit(text.charCodeAt(at))) return true;
  return false;
}

function raisedOf(runs: readonly DrawnRun[]): readonly DrawnRun[] {
  const [host] = [...runs].sort((a, b) => heightOf(b.box) - heightOf(a.box));
  if (host === undefined) return [];
  const height = heightOf(host.box);
  return runs.filter(({ box }) => heightOf(box) < LOWER * height && host.box[3] - box[3] > HIGHER * height);
}

/** A run of as many signs, in that part of the word. */
const isDrawnAs =
  (group: RegExpExecArray, { text, box }: Pick<PlacedWord, 'text' | 'box'>) =>
  (run: DrawnRun): boolean => {
    if (run.signs !== group[0].length) return false;
    if (group[0].length === text.length) return true;
    const middle = (run.box[0] + run.box[2]) / 2 - box[0];
    return group.index === 0 ? middle < widthOf(box) / 2 : middle > widthOf(box) / 2;
  };
