import { withLearned } from '../../models/learnedPrompt.ts';
import type { LearnedPrompt } from '../../ports/artifacts.ts';
import { extractionTurnV1 } from '../../models/prompts.ts';
import type { ScoredAnswer } from '../../ports/documentTools.ts';
import { asked, type Training } from './asking.ts';
import { SearchEnded } from './failures.ts';
import { remembered } from '../../kernel/once.ts';

/** Scores of prompts on examples. Each reading of a document is one metric call, and is made once. */
export interface Scoreboard {
  /** Scores of the examples at these places, in their order. Throws `SearchEnded` beyond the budget. */
  readonly score: (prompt: LearnedPrompt, places: readonly number[]) => Promise<readonly ScoredAnswer[]>;
  readonly used: () => number;
  /** Metric calls that are left. */
  readonly left: () => number;
}

const read = async (training: Training, prompt: LearnedPrompt, place: number): Promise<ScoredAnswer> => {
  const { schema, examples } = training.work;
  const example = examples[place];
  if (example === undefined) throw new Error(`There is no example ${place}.`);
  const answer = await asked(training, {
    ...withLearned(prompt, [
      { role: 'user', text: extractionTurnV1({ text: example.text, pictures: false }) },
    ]),
    output: { kind: 'json', schema },
  });
  return training.deps.score({ expected: example.expected, answer }, training.context);
};

/** Opens the scoreboard of one training; its budget is `max_metric_calls`. */
export const openScoreboard = (training: Training): Scoreboard => {
  const { max_metric_calls } = training.work;
  const prompts = new Map<string, Map<number, ScoredAnswer>>();
  let used = 0;
  const knownOf = ({ instruction, demos }: LearnedPrompt): Map<number, ScoredAnswer> =>
    remembered(prompts, JSON.stringify([instruction, demos]), () => new Map<number, ScoredAnswer>());
  // one after the other, so that equal seeds ask the same things in the same order
  const score: Scoreboard['score'] = async (prompt, places) => {
    const known = knownOf(prompt);
    const fresh = [...new Set(places)].filter((place) => !known.has(place));
    if (fresh.length > max_metric_calls - used) throw new SearchEnded('The budget is used.');
    for (const place of fresh) {
      used += 1;
      known.set(place, await read(training, prompt, place));
      training.context.onProgress({ metric_calls: used, max_metric_calls });
    }
    return places.flatMap((place) => known.get(place) ?? []);
  };
  return { score, used: () => used, left: () => max_metric_calls - used };
};
