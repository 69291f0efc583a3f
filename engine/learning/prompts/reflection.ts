import { objectInAnswer } from '../../kernel/jsonAnswer.ts';
import {
  REFLECTION_SCHEMA_V1,
  REFLECTION_SYSTEM_V1,
  reflectionTurnV1,
  type Mistaken,
} from '../../models/prompts.ts';
import { INSTRUCTION_CHARACTERS_MAX } from './llmArtifact.ts';
import { asked, type Training } from './asking.ts';

/** Asks the model for better notes; undefined where its answer has none that can be used. */
export const reflected = async (
  training: Training,
  notes: string,
  mistaken: readonly Mistaken[],
): Promise<string | undefined> => {
  const text = await asked(training, {
    system: REFLECTION_SYSTEM_V1,
    turns: [{ role: 'user', text: reflectionTurnV1(notes, mistaken) }],
    output: { kind: 'json', schema: REFLECTION_SCHEMA_V1 },
  });
  const answer = objectInAnswer(text)?.['notes'];
  const better = typeof answer === 'string' ? answer.trim() : '';
  const usable = better !== '' && better !== notes && better.length <= INSTRUCTION_CHARACTERS_MAX;
  return usable ? better : undefined;
};
