import { decodeAny } from '../../../domain/catalogue.ts';
import { isPlainData } from '../../../domain/eventLog/plain.ts';
import { UndecodableEvent } from '../../../domain/kernel/codec.ts';
import type { RecordedEvent } from '../../../domain/ports/log.ts';
import { wrong, type Check, type Finding, type Findings } from '../findings.ts';
import type { Books } from '../money/accountBooks.ts';
import { accountsCheck } from '../money/accounts.ts';
import { claimsCheck } from '../money/claims.ts';
import { RACE_MS, reference } from '../money/reference.ts';
import { checkTimes } from '../money/saleRules.ts';
import { batchesCheck } from '../work/batches.ts';
import { operationsCheck } from '../work/operations.ts';
import { pipelinesCheck } from '../work/pipelines.ts';
import { savedConfigsCheck } from '../work/savedConfigs.ts';
import { worksCheck } from '../work/works.ts';
import { auditedEvent, isJson, recordedAt, type AuditedEvent } from './auditedEvent.ts';
import { compactSet } from './compactSet.ts';
import { checkOwner } from './owners.ts';

/** Something else that looks at every event that can be decoded. */
export interface DecodedWatcher {
  readonly decoded?: (event: AuditedEvent) => void;
}

/** An event that cannot be read is reported, and the audit goes on without it. */
const decodedOr = (
  findings: Findings,
  recorded: RecordedEvent,
  isPlain: boolean,
): AuditedEvent | undefined => {
  findings.checked('schema');
  if (isPlain) return recorded as AuditedEvent;
  try {
    return auditedEvent(recorded, decodeAny(recorded));
  } catch (error) {
    if (!(error instanceof UndecodableEvent)) throw error;
    wrong(findings, 'schema', recorded)(`It cannot be read: ${error.message}`);
    return undefined;
  }
};

/** All rules that need the content of events. */
const rulesOf = (books: Books) => {
  const [accounts, claims, works] = [accountsCheck(books), claimsCheck(books), worksCheck(books)];
  const savedConfigs = savedConfigsCheck(books.findings);
  const pipelines = pipelinesCheck(books);
  const operations = operationsCheck(books, accounts.bookOf);
  const batches = batchesCheck(books);
  return {
    tenants: accounts.tenants,
    apply: (event: AuditedEvent): void => {
      checkOwner(books.findings, event);
      books.reference.apply(event);
      accounts.apply(event);
      claims.apply(event);
      works.apply(event);
      savedConfigs(event);
      pipelines.apply(event);
      operations.apply(event);
      batches(event);
      if (event.type === 'LlmCostLogged') checkTimes(books, event);
    },
    finish: (newest: string): void => {
      claims.finish(newest);
      if (newest !== '') works.finish(newest);
      pipelines.finish(newest);
      operations.finish(newest);
      if (newest !== '') accounts.finish(new Date(Date.parse(newest) - RACE_MS).toISOString());
    },
  };
};

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

const seenTimes = () => {
  let [first, last] = ['', ''];
  return {
    see: (at: string): void => {
      if (!INSTANT.test(at)) return;
      if (first === '' || at < first) first = at;
      if (at > last) last = at;
    },
    first: () => (first === '' ? null : first),
    last: () => (last === '' ? null : last),
  };
};

/** Findings that say nothing while something is done quietly. */
const muted = (findings: Findings) => {
  let quiet = false;
  return {
    findings: {
      ...findings,
      add: (finding: Finding): void => (quiet ? undefined : findings.add(finding)),
      checked: (check: Check): void => (quiet ? undefined : findings.checked(check)),
    },
    quietly: (work: () => void): void => {
      quiet = true;
      work();
      quiet = false;
    },
  };
};

const noTouch = (): void => undefined;

/**
 * The half of an audit that needs the meaning of events. It follows them in the order of the log. `touch` is told
 * of all by whose name a rule brings events of different streams together.
 */
export const rulesCheck = (
  findings: Findings,
  watchers: readonly DecodedWatcher[],
  touch: Books['touch'] = noTouch,
) => {
  const mutable = muted(findings);
  const books = { findings, reference: reference(mutable.findings), once: compactSet(), touch };
  const rules = rulesOf(books);
  const times = seenTimes();
  return {
    /** Takes up what was published, in an event that another audit checks. */
    learn: (recorded: RecordedEvent): void => {
      mutable.quietly(() => books.reference.apply(auditedEvent(recorded, decodeAny(recorded))));
    },
    latest: times.last,
    /** `isPlain`: its data is as `isPlainData` says. */
    look: (recorded: RecordedEvent, isPlain?: boolean): void => {
      if (!isJson(recorded)) return;
      times.see(recordedAt(recorded));
      const event = decodedOr(findings, recorded, isPlain ?? isPlainData(recorded));
      if (event === undefined) return;
      rules.apply(event);
      for (const watcher of watchers) watcher.decoded?.(event);
    },
    /** Looks at what is still open at the end. */
    finish: (latest = times.last() ?? '') => {
      rules.finish(latest);
      return { tenants: rules.tenants(), first_at: times.first(), last_at: times.last() };
    },
  };
};
