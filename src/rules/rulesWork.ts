import type { Check, CheckOutcome } from '../../domain/rules/checks.ts';
import type { JsonObject } from '../../domain/kernel/json.ts';
import { evaluate, fieldsOf } from './expressions.ts';

/** What a config says has to be true of a result. */
export interface RulesJob {
  readonly checks: readonly Check[];
  readonly schema: JsonObject;
  readonly result: JsonObject;
}

export interface RulesAnswer {
  readonly checks: readonly CheckOutcome[];
}

/** Looks at a result by rules that a tenant has written: nothing is known of how long they take. */
export interface RulesWorker {
  /**
   * Of one `share` in order. Rules that take too much time or memory have not passed. Throws once `signal` says that
   * nobody waits for the answer.
   */
  readonly judge: (share: string, job: RulesJob, signal: AbortSignal) => Promise<RulesAnswer>;
}

/** Does all of it at a stretch. */
export const doRulesJob = ({ checks, schema, result }: RulesJob): RulesAnswer => ({
  checks: evaluate(checks, { result, fields: fieldsOf(schema) ?? [] }),
});

/** Does all work at a stretch where it is asked for. */
export const rulesHere: RulesWorker = { judge: (_, job) => Promise.resolve(doRulesJob(job)) };

/** The answer for rules that took too much. */
export const tooMuch = ({ checks }: RulesJob): RulesAnswer => ({
  checks: checks.map(({ name }) => ({
    name,
    passed: false,
    message: 'The checks of the config take more time or memory than they may: write shorter ones.',
    paths: [],
  })),
});
