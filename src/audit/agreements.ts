import {
  type WorkCompletedType,
  type WorkFailedType,
  workOfUsage,
  type WorkRequestedType,
} from '../../domain/workEvents.ts';
import { isRated } from '../../domain/account/messages.ts';
import { ratedMode } from '../../domain/rating.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import { type AuditedEvent, type AuditedEventOf, byType, recordedAt } from './auditedEvent.ts';
import { wrong } from './findings.ts';
import { RACE_MS } from './margin.ts';
import type { AccountBook, Books } from './rules.ts';
import { compactSet } from './streams.ts';

type Accepted = AuditedEventOf<'OperationAccepted'>['data'];
type Succeeded = AuditedEventOf<'OperationSucceeded'>['data'];
type Burned = AuditedEventOf<'CreditsBurned'>;
type Requested = AuditedEventOf<WorkRequestedType>;
type Completed = AuditedEventOf<WorkCompletedType>;
type Failed = AuditedEventOf<WorkFailedType>;
type Registered = AuditedEventOf<'DocumentRegistered'>;
type Activated = AuditedEventOf<'DeploymentActivated'>;

/** What was said of a piece of work so far. */
interface Told {
  accepted?: Accepted;
  requested?: Requested['data'];
  success?: Succeeded;
  delivered?: Burned['data']['delivered'];
}

type Said = string | number | null | undefined;

/** A member, what an earlier event says of it, and what this one says; undefined: nothing is said. */
type Pair = readonly [member: string, expected: Said, found: Said];

const compare = (
  { findings }: Pick<Books, 'findings'>,
  event: AuditedEvent,
  { of, pairs }: { readonly of: string; readonly pairs: readonly Pair[] },
): void => {
  findings.checked('agreement');
  for (const [member, expected, found] of pairs)
    if (expected !== undefined && found !== undefined && expected !== found)
      wrong(findings, 'agreement', event)(`Its ${member} is not that of ${of}.`, expected, found);
};

const idOf = ({ data }: Requested | Completed | Failed): string => workOfUsage(data).id;

/** A registration that the same request may have made. */
interface Recent {
  readonly pages: number;
  readonly correlation: unknown;
  readonly ms: number;
}

const RECENT_MAX = 1_000;

/** Documents, as they were registered: 32 bytes each, and more of the last ones. */
const documentsSeen = (books: Books) => {
  const [ids, files] = [compactSet(), compactSet()];
  const recent = new Map<string, Recent>();
  const fileOf = (documentId: string, digest: string) => `${documentId} ${digest}`;

  /** Two requests may use a document for the first time at once, and only one of them registers it. */
  const isRace = (known: Recent | undefined, request: Requested): boolean =>
    known !== undefined &&
    known.correlation !== request.metadata['correlation_id'] &&
    Date.parse(recordedAt(request)) - known.ms < RACE_MS;
  return {
    register: (event: Registered): void => {
      const { document_id, sha256: digest, pages } = event.data;
      books.touch(`document ${document_id}`);
      ids.add(document_id);
      files.add(fileOf(document_id, digest));
      const { correlation_id: correlation } = event.metadata;
      recent.set(document_id, { pages, correlation, ms: Date.parse(recordedAt(event)) });
      for (const oldest of recent.keys()) if (recent.size > RECENT_MAX) recent.delete(oldest);
    },
    /** The request is about the file that was registered, and about pages that it has. */
    check: (event: Requested): void => {
      const { document_id, document_sha256, pages } = event.data;
      books.touch(`document ${document_id}`);
      const known = recent.get(document_id);
      if (!ids.has(document_id) || isRace(known, event)) return;
      books.findings.checked('agreement');
      const say = wrong(books.findings, 'agreement', event);
      if (!files.has(fileOf(document_id, document_sha256)))
        say(`It is about another file than ${document_id} was registered with.`, undefined, document_sha256);
      // Another release may count the pages of the same file otherwise; one request counts them once.
      if (
        known !== undefined &&
        known.correlation === event.metadata['correlation_id'] &&
        pages > known.pages
      )
        say(`It is about more pages than ${document_id} has.`, `at most ${known.pages}`, pages);
    },
  };
};

/** Left out and empty are the same; members are in the order of the log. */
const textOf = (tags: Accepted['tags']): string => JSON.stringify(tags ?? {});

/** What an operation was accepted for is what is asked for and billed. */
const asAccepted = (accepted: Accepted, found: Requested['data']): readonly Pair[] => [
  ['document', accepted.document_id, found.document_id],
  ['file', accepted.file_sha256, found.document_sha256],
  ['pages', accepted.pages, found.pages],
  ['mode', accepted.mode, found.mode],
  ['project', accepted.project_id, found.project_id],
  ['task', accepted.task_id, found.task_id],
  ['API key', accepted.api_key_id, found.api_key_id],
  ['hold', accepted.hold_id, found.hold_id],
  ['tags', textOf(accepted.tags), textOf(found.tags)],
];

const burnAsAccepted = (accepted: Accepted, { data }: Burned): readonly Pair[] => [
  ['completion window', accepted.completion_window ?? 'none', data.completion_window ?? 'none'],
  ['document', accepted.document_id, data.document_id ?? undefined],
  ['project', accepted.project_id, data.project_id],
  ['task', accepted.task_id, data.task_id],
  ['API key', accepted.api_key_id, data.api_key_id ?? undefined],
  ['tags', textOf(accepted.tags), textOf(data.tags)],
];

/** Of work that the log has a result of, the burn names that result: nothing else was delivered and paid for. */
const burnAsDone = (success: Succeeded, { data }: Burned): readonly Pair[] => [
  ['usage', success.usage_id, data.usage_id],
  ['result', success.result_sha256, data.delivered?.result_sha256 ?? null],
  ['outcome', success.outcome, data.delivered?.status],
  ['duration', success.duration_ms, data.delivered?.duration_ms],
];

/** Compares what was asked for with the hold that is open for it. */
const checkHeld = (
  books: Books,
  event: Requested,
  hold: AuditedEventOf<'CreditsHeld'>['data'] | undefined,
): void => {
  if (hold === undefined || !isRated(hold.operation)) return;
  const { pages, mode } = event.data;
  const pairs: readonly Pair[] = [
    ['work', hold.operation_id, idOf(event)],
    ['pages', hold.pages, pages],
    ['mode', hold.extraction_mode, ratedMode(hold.operation, mode)],
  ];
  compare(books, event, { of: `its hold ${hold.hold_id}`, pairs });
};

/** Compares a burn with what was asked for, accepted and done. */
const checkBurn = (books: Books, event: Burned, { accepted, requested, success }: Told): void => {
  const { operation_id, pages, document_id } = event.data;
  if (requested !== undefined) {
    const of = `what was asked for as ${operation_id}`;
    compare(books, event, { of, pairs: [['document', requested.document_id, document_id ?? undefined]] });
    if (pages > requested.pages)
      wrong(books.findings, 'agreement', event)(`Its pages are more than ${of}.`, requested.pages, pages);
  }
  if (accepted === undefined) return;
  compare(books, event, { of: accepted.operation_id, pairs: burnAsAccepted(accepted, event) });
  if (success === undefined) return;
  const of = `the success of ${accepted.operation_id}`;
  compare(books, event, { of, pairs: burnAsDone(success, event) });
};

/** Compares the end of work with what was asked for, delivered and done. */
const checkEnd = (books: Books, event: Completed, { delivered, success, requested }: Told): void => {
  const { status, duration_ms, pages } = event.data;
  const isMore = requested !== undefined && pages > requested.pages;
  const pairs: readonly Pair[] = [
    ['outcome', delivered?.status ?? success?.outcome, status],
    ['duration', delivered?.duration_ms ?? success?.duration_ms, duration_ms],
    ['pages', isMore ? requested.pages : undefined, pages],
  ];
  compare(books, event, { of: `the work ${idOf(event)}`, pairs });
};

/** What is told of pieces of work until they end, by their IDs and by those of their operations. */
const toldWorks = () => {
  const told = new Map<string, Told>();
  const works = new Map<string, string>();
  const of = (id: string): Told => {
    const known = told.get(id) ?? {};
    told.set(id, known);
    return known;
  };
  return {
    of,
    find: (id: string) => told.get(id),
    end: (id: string): void => void told.delete(id),
    accept: (data: Accepted): void => {
      of(data.work_id).accepted = data;
      works.set(data.operation_id, data.work_id);
    },
    succeed: (data: Succeeded): void => {
      const known = told.get(works.get(data.operation_id) ?? '');
      if (known !== undefined) known.success = data;
      works.delete(data.operation_id);
    },
    endOperation: ({ data }: AuditedEventOf<'OperationFailed' | 'OperationCancelled'>): void => {
      told.delete(works.get(data.operation_id) ?? '');
      works.delete(data.operation_id);
    },
  };
};

/** Pieces of work, until they end. `bookOf`: the account of a tenant, as it was added up so far. */
const worksTold = (books: Books, bookOf: (tenantId: string) => AccountBook | undefined) => {
  const [told, seen] = [toldWorks(), documentsSeen(books)];
  const requested = (event: Requested): void => {
    const known = told.of(idOf(event));
    known.requested ??= event.data;
    seen.check(event);
    checkHeld(books, event, bookOf(event.data.tenant_id)?.holds.get(event.data.hold_id ?? ''));
    const { accepted } = known;
    if (accepted !== undefined)
      compare(books, event, { of: accepted.operation_id, pairs: asAccepted(accepted, event.data) });
  };
  const completed = (event: Completed): void => {
    checkEnd(books, event, told.find(idOf(event)) ?? {});
    told.end(idOf(event));
  };
  return byType({
    DocumentRegistered: seen.register,
    OperationAccepted: ({ data }) => told.accept(data),
    OperationSucceeded: ({ data }) => told.succeed(data),
    OperationFailed: told.endOperation,
    OperationCancelled: told.endOperation,
    ExtractionRequested: requested,
    ConversionRequested: requested,
    ClassificationRequested: requested,
    SplitRequested: requested,
    CreditsBurned: (event) => {
      const known = told.find(event.data.operation_id);
      if (known === undefined) return;
      checkBurn(books, event, known);
      if (event.data.delivered !== undefined) known.delivered = event.data.delivered;
    },
    ExtractionCompleted: completed,
    ConversionCompleted: completed,
    ClassificationCompleted: completed,
    SplitCompleted: completed,
    ExtractionFailed: (event) => told.end(idOf(event)),
    ConversionFailed: (event) => told.end(idOf(event)),
    ClassificationFailed: (event) => told.end(idOf(event)),
    SplitFailed: (event) => told.end(idOf(event)),
  });
};

type Scored = Pick<
  AuditedEventOf<'ArtifactPublished'>['data'],
  'baseline_score' | 'best_score' | 'per_field'
>;

/** All scores as one text: there may be many fields, and there are many artifacts. */
const scoresOf = ({ baseline_score, best_score, per_field }: Scored): string =>
  sha256(
    JSON.stringify([
      baseline_score,
      best_score,
      per_field.map(({ path, baseline, best }) => [path, baseline, best]),
    ]),
  ).slice(0, 16);

/** Scores of an artifact until its job has succeeded with it, and what deployments say of artifacts. */
const learningTold = (books: Books) => {
  const scores = new Map<string, string>();
  return byType({
    ArtifactPublished: ({ data }) => void scores.set(data.artifact_id, scoresOf(data)),
    TrainingJobSucceeded: (event) => {
      const { artifact_id } = event.data;
      const pairs: readonly Pair[] = [['score', scores.get(artifact_id), scoresOf(event.data)]];
      scores.delete(artifact_id);
      compare(books, event, { of: `the artifact ${artifact_id}`, pairs });
    },
    DeploymentActivated: (event: Activated) => {
      const { artifact_id, artifact_uri } = event.data;
      const pairs: readonly Pair[] = [['address', `quire://artifacts/${artifact_id}`, artifact_uri]];
      compare(books, event, { of: `the artifact ${artifact_id}`, pairs });
    },
  });
};

/**
 * What several events say of one thing has to be the same: none of them can be changed alone. Rules of this file
 * need no price and no balance; what older releases left out is not compared.
 */
export const agreementsCheck = (
  books: Books,
  bookOf: (tenantId: string) => AccountBook | undefined,
): ((event: AuditedEvent) => void) => {
  const [works, learning] = [worksTold(books, bookOf), learningTold(books)];
  return (event) => {
    works(event);
    learning(event);
  };
};
