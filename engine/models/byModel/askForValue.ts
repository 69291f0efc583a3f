import { randomUUID } from 'node:crypto';
import type { PackedDocument } from '../../document/document.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { sha256 } from '../../kernel/canonicalJson.ts';
import { UNTRAINED, withLearned } from '../learnedPrompt.ts';
import type { ParseFailure } from '../../ports/documentParser.ts';
import type { GroundedValue, NoObject } from '../../ports/documentTools.ts';
import type { ExtractionSettings } from '../../ports/extractionEngine.ts';
import {
  nameOfModel,
  type ModelAccess,
  type ModelAnswer,
  type ModelRequest,
  type ModelTurn,
} from '../../ports/modelProvider.ts';
import type { ModelCall, ModelFailed } from '../../ports/modelWork.ts';
import { repairTurnV1 } from '../prompts.ts';
import { inTime, limitsOf, modelFailed, type Running } from './modelWorkDeps.ts';

/** What is asked of whom, about which pages. */
export interface ModelQuestion {
  readonly running: Running;
  readonly llm: ModelAccess;
  readonly schema: JsonObject;
  readonly settings: ExtractionSettings;
  readonly document: PackedDocument;
  /** The first and the last that the model is shown; undefined: all. */
  readonly pages: readonly [number, number] | undefined;
}

type Answered = Extract<ModelAnswer, { readonly kind: 'answered' }>;

/** What is on the shelf of an answer: which call gave it. */
interface KeptAnswer {
  readonly id: string;
  readonly answer: Answered;
}

/** Where an answer is kept: by all that it depends on. What a page shows is the file's, which stays the same. */
const shelfNameOf = (
  { llm, schema }: ModelQuestion,
  { system, turns }: Pick<ModelRequest, 'system' | 'turns'>,
): string => {
  const said = turns.map(({ role, text, attachments = [] }) => [
    role,
    text,
    attachments.map(({ fileName }) => fileName),
  ]);
  return `asked-v1-${sha256(JSON.stringify([nameOfModel(llm.ref), schema, system, said]))}`;
};

/** The answer that an earlier attempt was given, whose call is told again: it may not have been logged. */
const keptAnswer = async ({ running, llm }: ModelQuestion, name: string, step: ModelCall['step']) => {
  const bytes = await running.keeping?.shelf.find(name);
  if (bytes === undefined) return undefined;
  const { id, answer } = JSON.parse(new TextDecoder().decode(bytes)) as KeptAnswer;
  running.models.onCall({ ref: llm.ref, owner: llm.owner, step, usage: answer.usage, id, again: true });
  return answer;
};

/** Asks the provider, unless an earlier attempt has its answer. */
const ask = async (
  asked: ModelQuestion,
  turns: readonly ModelTurn[],
  step: ModelCall['step'],
): Promise<Answered | ModelFailed> => {
  const { running, llm, schema } = asked;
  const { keeping, models } = running;
  const all = withLearned(models.learned ?? UNTRAINED, turns);
  const name = keeping === undefined ? '' : shelfNameOf(asked, all);
  const earlier = await keptAnswer(asked, name, step);
  if (earlier !== undefined) return earlier;
  const answer = await running.deps.providers.ask({
    access: llm,
    ...all,
    output: { kind: 'json', schema },
    ...inTime(running),
  });
  const id = randomUUID();
  const call = { ref: llm.ref, owner: llm.owner, step, usage: answer.usage };
  models.onCall(keeping === undefined ? call : { ...call, id });
  if (answer.kind === 'failed') return modelFailed(answer.failure);
  const kept = { id, answer } satisfies KeptAnswer;
  await keeping?.shelf.put(name, new TextEncoder().encode(JSON.stringify(kept)));
  return answer;
};

const useless = ({ ref }: ModelAccess, what: string): ModelFailed =>
  modelFailed({
    kind: 'provider_error',
    provider: ref.provider,
    provider_status: null,
    detail: `${nameOfModel(ref)} ${what}`,
  });

/** An answer that was read: what it says, or why that cannot be used. */
interface ReadAnswer {
  readonly kind: 'read';
  readonly grounded: GroundedValue | NoObject;
}

const readAnswer = async (
  { running, schema, settings, document, pages, llm }: ModelQuestion,
  answer: Answered,
): Promise<ReadAnswer | ParseFailure | ModelFailed> => {
  if (answer.finish === 'refused') return useless(llm, 'refused to answer.');
  const grounded = await running.deps.tools.ground(
    { document, schema, settings, answer: answer.text, pages },
    limitsOf(running),
  );
  return grounded.kind === 'ok' || grounded.kind === 'no_object' ? { kind: 'read', grounded } : grounded;
};

const fits = ({ grounded }: ReadAnswer): boolean =>
  grounded.kind === 'ok' && grounded.validationErrors.length === 0;

/** Of two answers the one that fits better; the later one where they are alike. */
const better = (first: ReadAnswer, second: ReadAnswer): ReadAnswer => {
  if (first.grounded.kind === 'no_object') return second;
  if (second.grounded.kind === 'no_object') return first;
  return second.grounded.validationErrors.length <= first.grounded.validationErrors.length ? second : first;
};

/** Shows the model its answer and what is wrong with it, once. What fails now leaves the first answer. */
const repaired = async (
  asked: ModelQuestion,
  turns: readonly ModelTurn[],
  { answer, first }: { readonly answer: Answered; readonly first: ReadAnswer },
): Promise<ReadAnswer | ParseFailure | ModelFailed> => {
  const errors = first.grounded.kind === 'ok' ? first.grounded.validationErrors : [];
  const again = await ask(
    asked,
    [...turns, { role: 'assistant', text: answer.text }, { role: 'user', text: repairTurnV1(errors) }],
    'repair',
  );
  if (again.kind !== 'answered') return again;
  const second = await readAnswer(asked, again);
  return second.kind === 'read' ? better(first, second) : second;
};

/** Asks the model about what it is shown, and has it repair its answer at most once. */
export const askForValue = async (
  asked: ModelQuestion,
  turns: readonly ModelTurn[],
): Promise<GroundedValue | ParseFailure | ModelFailed> => {
  const answer = await ask(asked, turns, 'extraction');
  if (answer.kind !== 'answered') return answer;
  const first = await readAnswer(asked, answer);
  if (first.kind !== 'read') return first;
  const last = fits(first) ? first : await repaired(asked, turns, { answer, first });
  if (last.kind !== 'read') return last;
  const { grounded } = last;
  return grounded.kind === 'ok' ? grounded : useless(asked.llm, `${grounded.detail}, asked twice.`);
};
