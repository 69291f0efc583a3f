import type { JsonObject } from '../../../domain/kernel/json.ts';
import type { OperationState } from '../../../domain/operation.ts';
import type { ProjectedEvent } from '../../../projections/engine/ports.ts';
import { operationAsItStands, parsedAnswer } from '../../../src/api/operations.ts';
import { runExtraction, type WorkDeps } from '../../../src/api/work.ts';
import type { ExtractRequest } from '../../../src/commands/extract.ts';
import { keyOfResult, type OperationCommands, operationProblems } from '../../../src/commands/operations.ts';
import type { ReviewCommands } from '../../../src/commands/reviews.ts';
import { heavySlots } from '../../../src/commands/slots.ts';
import { storedBody } from '../../../src/commands/storedResult.ts';
import type { WorkAnswer } from '../../../src/commands/work.ts';
import { Problem } from '../../../src/server/problems.ts';
import type { AnyRequest } from '../../../src/server/routes.ts';
import { metaOf } from '../../../src/writer/commandMeta.ts';
import type { Answer, ProcessEnv } from '../env.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';

/** What calls stand on that wait for their result. */
export interface CallDeps extends Pick<OperationCommands, 'accept' | 'cancel' | 'abandon' | 'streams'> {
  readonly begin: (request: ExtractRequest) => Promise<WorkAnswer>;
  readonly objects: ObjectStore;
  readonly reviews: ReviewCommands;
  readonly resultDays: OperationCommands['resultDays'];
}

/** What the read model of operations has of the bill of one. */
const costIn = (events: readonly ProjectedEvent[], operationId: string) => {
  let work_id: string | undefined;
  for (const event of events) {
    if (event.type === 'OperationAccepted' && event.data.operation_id === operationId)
      ({ work_id } = event.data);
    if (event.type !== 'CreditsBurned' || event.data.operation_id !== work_id) continue;
    const { credits, free_pages, balance_after, created_at } = event.data;
    return { credits_charged: credits, free_pages, balance_after, charged_at: created_at };
  }
  return undefined;
};

const none = () => Promise.reject(new Error('no call asks for this'));

/** The routes' own parts, of which HTTP is not there. */
const routesOn = (env: ProcessEnv, deps: CallDeps) => {
  const { objects, begin: _, reviews, ...commands } = deps;
  return {
    clock: env.clock,
    reviews,
    queries: {
      costOfOperation: (id: string) => env.askLog('cost of an operation', (events) => costIn(events, id)),
      balanceOfTenant: none,
      operationsOfTenant: none,
    },
    // A read model that is late shows the work as running, and is asked again.
    reads: { settle: () => Promise.resolve(undefined) },
    operations: {
      ...commands,
      result: async (state, ends) => {
        const key = keyOfResult(state);
        return key === undefined ? undefined : storedBody(objects, key, ends);
      },
      problem: operationProblems(objects).find,
      waitedResult: none,
      requestOf: none,
    } satisfies OperationCommands,
    waiting: heavySlots(100),
  };
};

/** A call that is answered: for which work, at what cost. */
const answered = (body: JsonObject): Answer => {
  const { extraction_id: id } = body['meta'] as { readonly extraction_id: string };
  const { credits_used, pages } = body['cost'] as { readonly credits_used: number; readonly pages: number };
  return { kind: 'ok', id, body: body['result'], cost: { credits_used, pages } };
};

/**
 * Calls as their route serves them: where no place is free, a worker does the work, and the caller waits. One that is
 * answered with an operation, since that takes too long, looks at it whenever it asks again.
 */
export const callsOn = (env: ProcessEnv, deps: CallDeps) => {
  const routes = routesOn(env, deps);
  const refused = (error: unknown): Answer => {
    if (error instanceof Problem) return { kind: 'problem', code: String(error.code) };
    throw error;
  };
  const served = async (asked: ExtractRequest): Promise<Answer> => {
    const { tenant_id, caller, signal, correlation_id, idempotency } = asked;
    const answer = { status: () => undefined, header: () => undefined };
    const idempotency_key = idempotency?.idempotency_key ?? null;
    const request = {
      tenant_id,
      caller: { ...caller, tenant_id },
      idempotency_key,
      signal,
      answer,
      meta: metaOf(env, caller, correlation_id),
      respondAsync: false,
      waitMs: Infinity,
    };
    const own = { ...routes, extract: (_: unknown, work: object) => deps.begin({ ...asked, ...work }) };
    const body = (await runExtraction(own as unknown as WorkDeps, request as unknown as AnyRequest, {
      fields: {} as never,
      work: asked,
    })) as unknown as JsonObject;
    const { operation_id } = body;
    return typeof operation_id === 'string' ? { kind: 'ok', id: operation_id, body: null } : answered(body);
  };
  const standing = async (operationId: string): Promise<Answer> => {
    const { accepted, ...state } = await deps.streams.stateOf(operationId);
    if (accepted === null) return { kind: 'problem', code: 'operation_not_found' };
    const known: OperationState & { accepted: typeof accepted } = { ...state, accepted };
    const { result, error } = await operationAsItStands(routes as unknown as WorkDeps, known);
    if (error !== null) return { kind: 'problem', code: error.code };
    const body = await parsedAnswer(result);
    if (body !== null) return answered(body);
    const isOpen = known.status === 'queued' || known.status === 'running';
    // What has ended, and is kept no more, comes no more either.
    return { kind: 'problem', code: isOpen ? 'request_in_progress' : 'document_not_found' };
  };
  return {
    served: (asked: ExtractRequest): Promise<Answer> => served(asked).catch(refused),
    /** What came of a call whose answer, perhaps one that was kept, is an operation. */
    followed: (answer: Answer): Promise<Answer> | Answer =>
      answer.kind === 'ok' && answer.id.startsWith('op_') ? standing(answer.id) : answer,
  };
};
