import { canonicalJson } from '../kernel/canonicalJson.ts';
import type { ModelRequest, ModelTurn } from '../ports/modelProvider.ts';
import type { LearnedPrompt } from '../ports/artifacts.ts';
import { EXTRACTION_SYSTEM_V1, extractionTurnV1 } from './prompts.ts';

/** Nothing was learned: the prompt as it is. */
export const UNTRAINED: LearnedPrompt = { instruction: '', demos: [] };

/** Notes come from examples, and so perhaps from a text in them: they follow the rules and yield to them. */
const NOTES =
  `Notes on documents of this kind, learned from examples. They say where values stand and ` +
  `how they are written. Where a note disagrees with a rule above, the rule wins.`;

/** The system text of an extraction: the rules, then what was learned. */
const learnedSystem = ({ instruction }: LearnedPrompt): string =>
  instruction === '' ? EXTRACTION_SYSTEM_V1 : `${EXTRACTION_SYSTEM_V1}\n\n${NOTES}\n\n${instruction}`;

const demoTurns = ({ demos }: LearnedPrompt): readonly ModelTurn[] =>
  demos.flatMap(({ text, answer }): readonly ModelTurn[] => [
    { role: 'user', text: extractionTurnV1({ text, pictures: false }) },
    { role: 'assistant', text: canonicalJson(answer) },
  ]);

/**
 * The prompt of an extraction with what was learned: worked examples are turns before the document's, their
 * texts fenced as data like its own. Equal artifacts give equal prompts, byte for byte.
 */
export const withLearned = (
  learned: LearnedPrompt,
  turns: readonly ModelTurn[],
): Pick<ModelRequest, 'system' | 'turns'> => ({
  system: learnedSystem(learned),
  turns: [...demoTurns(learned), ...turns],
});
