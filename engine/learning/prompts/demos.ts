import type { LlmExample } from '../../ports/training.ts';
import { DEMO_CHARACTERS_MAX, DEMOS_MAX } from './llmArtifact.ts';
import { UNTRAINED } from '../../models/learnedPrompt.ts';
import type { LearnedPrompt, LlmDemo } from '../../ports/artifacts.ts';
import type { Scoreboard } from './scoreboard.ts';

/** From so much of a document read rightly on, it shows how to read others. */
const GOOD = 0.8;
/** Documents that are read to find worked examples. */
const TRIED_MAX = 8;

/** A document in the fewest characters that still show its lines. */
const trimmed = (text: string): string =>
  text
    .replaceAll(/[^\S\n]+/gu, ' ')
    .replaceAll(/ ?\n\s*/gu, '\n')
    .trim();

/**
 * The document as a worked example. A cut one would teach answers that its text does not hold, so only those
 * that fit as a whole serve.
 */
const demoOf = ({ text, expected }: LlmExample): LlmDemo | undefined => {
  const short = trimmed(text);
  return short === '' || short.length > DEMO_CHARACTERS_MAX ? undefined : { text: short, answer: expected };
};

interface Bootstrapped {
  readonly prompt: LearnedPrompt;
  /** Places of the examples that the prompt shows. */
  readonly shown: readonly number[];
}

/**
 * Bootstraps worked examples: documents that the prompt as it is reads well are shown to it with what was
 * expected of them. `keep` metric calls are left for what comes after.
 */
export const bootstrapped = async (
  scoreboard: Scoreboard,
  { examples, places }: { readonly examples: readonly LlmExample[]; readonly places: readonly number[] },
  keep: number,
): Promise<Bootstrapped> => {
  const demos: LlmDemo[] = [];
  const shown: number[] = [];
  const fitting = places.flatMap((place) => {
    const example = examples[place];
    const demo = example && demoOf(example);
    return demo === undefined ? [] : [{ place, demo }];
  });
  for (const { place, demo } of fitting.slice(0, TRIED_MAX)) {
    if (demos.length === DEMOS_MAX || scoreboard.left() <= keep) break;
    const [scored] = await scoreboard.score(UNTRAINED, [place]);
    if (scored === undefined || scored.score < GOOD) continue;
    demos.push(demo);
    shown.push(place);
  }
  return { prompt: { instruction: '', demos }, shown };
};
