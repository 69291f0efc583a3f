import type { OperationInput, OperationSecrets } from '../../commands/operations/operationInput.ts';
import type { ConvertRequest } from '../../commands/work/convertDocument.ts';
import type { ExtractRequest } from '../../commands/work/extractDocument.ts';
import { learnedFor, trainedBy } from '../../commands/work/extractFields.ts';
import type { Artifacts } from '../../commands/training/artifacts.ts';
import type { Delivered, HandedOver, WorkRequest } from '../../commands/work/work.ts';
import type { WorkProblem } from '../../commands/work/workProblem.ts';

type Answer = Promise<Delivered | HandedOver | WorkProblem>;

/** Begins what an accepted request asked for. */
export type TaskBeginner = (
  input: OperationInput & { readonly secrets: OperationSecrets },
  work: WorkRequest,
) => Answer;

interface BeginDeps {
  readonly artifacts: Pick<Artifacts, 'find' | 'load'>;
  readonly extract: (request: ExtractRequest) => Answer;
  readonly convert: (request: ConvertRequest) => Answer;
}

/** As the synchronous call begins it: the request was completed by its config when it was accepted. */
export const beginTask =
  (deps: BeginDeps): TaskBeginner =>
  async ({ task, secrets }, work) => {
    const ocr = { ...task.ocr, api_key: secrets.ocr };
    if (task.kind === 'to_markdown') return deps.convert({ ...work, mode: task.mode, form: task.form, ocr });
    const { kind: _, artifact_id, ...asked } = task;
    const llm = { ...task.llm, api_key: secrets.llm };
    const trained = artifact_id === null ? undefined : await trainedBy(deps, work.tenant_id, artifact_id);
    if (trained?.kind === 'problem') return trained;
    const { min_confidence, schema } = asked;
    return deps.extract({ ...work, ...asked, ...learnedFor(schema, trained), min_confidence, llm, ocr });
  };
