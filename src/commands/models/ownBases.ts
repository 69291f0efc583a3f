import type { ModelProviders } from '@quire/engine/ports/modelProvider';
import type { ModelWork } from '@quire/engine/ports/modelWork';
import type { ChosenModels } from './models.ts';
import { workProblem, type WorkProblem } from '../work/workProblem.ts';

/** What work needs in which models take part. */
export interface ModelDeps {
  readonly modelWork: ModelWork;
  readonly checkBase: ModelProviders['checkBase'];
}

/** Addresses that callers named are checked before anything is done for them, or held. */
export const checkBases = async (
  { checkBase }: Pick<ModelDeps, 'checkBase'>,
  { llm, ocr }: ChosenModels,
): Promise<WorkProblem | undefined> => {
  const bases = [llm, ocr].flatMap((access) => (access?.owner === 'caller' ? [access.apiBase] : []));
  for (const base of new Set(bases)) {
    if (base === undefined) continue;
    const checked = await checkBase(base);
    if (checked.kind !== 'ok') return workProblem('unsafe_api_base', checked.detail);
  }
  return undefined;
};
