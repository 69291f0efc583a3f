import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { operationIdOfDocument } from '../../domain/batch.ts';
import { reviewIdOf } from '../../domain/review.ts';
import type { AuditedEvent } from '../../src/audit/auditedEvent.ts';
import { evaluationsCheck } from '../../src/audit/evaluations.ts';
import { findingsKept } from '../../src/audit/findings.ts';
import { reviewsCheck } from '../../src/audit/reviews.ts';
import { reference } from '../../src/audit/margin.ts';
import { compactSet } from '../../src/audit/streams.ts';
import { batchesCheck, pipelinesCheck, savedConfigsCheck } from '../../src/audit/works.ts';

/** Many, and before that fewer: what is kept for each of the others is measured. */
const [FEW, MANY] = [20_000, 100_000];
/** Of a digest of 16 bytes in a set that is a third full just after it grew; the rest is what the runtime needs. */
const BYTES_EACH = 3 * 16 + 6;

const AT = '2026-01-01T00:00:00.000Z';
const tenant_id = 'acme';

const eventOf = (stream: string, type: string, data: object): AuditedEvent =>
  ({ stream, type, data, revision: 0n, position: 1n, metadata: {}, id: '' }) as unknown as AuditedEvent;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const bytesNow = (): number => {
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** The life of one thing, from its first event to its last; and an event that nothing of its kind may have after it. */
interface Kind {
  readonly name: string;
  /** Names that a rule keeps for each. */
  readonly names: number;
  readonly check: (findings: ReturnType<typeof findingsKept>) => (event: AuditedEvent) => void;
  readonly life: (n: number) => readonly AuditedEvent[];
  readonly after: (n: number) => AuditedEvent;
}

const touch = (): void => undefined;

const operation = (n: number): string => `op_${String(n)}`;
const review = (n: number) => ({
  review_id: reviewIdOf(operation(n)),
  operation_id: operation(n),
  tenant_id,
  generation: 1,
});
const reviewed = (type: string, n: number, more: object): AuditedEvent =>
  eventOf(`review-${review(n).review_id}`, type, { ...review(n), ...more });

const batch = (n: number) => ({ batch_id: `bat_${String(n)}`, tenant_id });
const documents = (n: number): readonly string[] => [`doc_${String(n)}_a`, `doc_${String(n)}_b`];
const endOfBatch = (n: number): AuditedEvent =>
  eventOf(`batch-bat_${String(n)}`, 'BatchEnded', {
    ...batch(n),
    succeeded: 2,
    partial: 0,
    failed: 0,
    cancelled: 0,
    credits_charged: 80,
  });
const batchEvents = (n: number): readonly AuditedEvent[] => {
  const stream = `batch-bat_${String(n)}`;
  const document_ids = documents(n);
  const done = document_ids.flatMap((document_id, index) => {
    const operation_id = operationIdOfDocument({ ...batch(n), index });
    const work_id = `ext_${String(n)}_${String(index)}`;
    return [
      eventOf('operation', 'OperationAccepted', { operation_id, document_id, work_id, tenant_id }),
      eventOf('operation', 'OperationSucceeded', { operation_id, outcome: 'success', tenant_id }),
      eventOf('account-acme', 'CreditsBurned', { operation_id: work_id, credits: 40 }),
    ];
  });
  return [
    eventOf(stream, 'BatchAccepted', { ...batch(n), document_ids }),
    eventOf(stream, 'BatchDocumentsBegun', { ...batch(n), first: 0, count: 2 }),
    ...done,
    endOfBatch(n),
  ];
};

const VERSIONED = 'set_many';
const version = (n: number): AuditedEvent =>
  eventOf(`set-${VERSIONED}`, 'EvaluationSetPublished', {
    set_id: VERSIONED,
    tenant_id,
    version: n + 1,
    examples: documents(n).map((document_id) => ({ document_id, expected_sha256: 'a' })),
  });
const runOf = (
  n: number,
  evaluated: { readonly set_id: string; readonly set_version: number },
): AuditedEvent =>
  eventOf(`batch-bat_${String(n)}`, 'BatchAccepted', { ...batch(n), document_ids: documents(n), evaluated });

const setOf = (n: number): string => `set_${String(n)}`;
const published = (n: number): AuditedEvent =>
  eventOf(`set-${setOf(n)}`, 'EvaluationSetPublished', {
    set_id: setOf(n),
    tenant_id,
    version: 1,
    examples: documents(n).map((document_id) => ({ document_id, expected_sha256: 'a' })),
  });
const scored = (n: number): AuditedEvent =>
  eventOf(`evaluation-evr_${String(n)}`, 'EvaluationScored', {
    ...batch(n),
    run_id: `evr_${String(n)}`,
    set_id: setOf(n),
    set_version: 1,
    scored: 2,
    left_out: 0,
  });

const config = (n: number, type: string, more: object): AuditedEvent =>
  eventOf(`config-cfg_${String(n)}`, type, { config_id: `cfg_${String(n)}`, tenant_id, ...more });

const job = (n: number) => ({ job_id: `job_${String(n)}`, tenant_id });
const artifact = (n: number) => ({ artifact_id: `art_${String(n)}`, ...job(n) });

const KINDS: readonly Kind[] = [
  {
    name: 'reviews that have expired',
    names: 1,
    check: (findings) => reviewsCheck({ findings, touch }),
    life: (n) => [
      eventOf('operation', 'OperationSucceeded', { operation_id: operation(n), tenant_id, review: {} }),
      reviewed('ReviewLeased', n, { held_by: 'key_1', leased_at: AT, lease_until: AT }),
      reviewed('ReviewDecided', n, { decided_by: 'key_1', decided_at: AT }),
      reviewed('ReviewExpired', n, { expired_at: AT }),
    ],
    after: (n) => reviewed('ReviewReopened', n, { generation: 2, reopened_at: AT }),
  },
  {
    name: 'batches that have ended',
    names: 1,
    check: (findings) => batchesCheck({ findings, touch }),
    life: batchEvents,
    after: endOfBatch,
  },
  {
    name: 'versions of one set',
    names: 1,
    check: (findings) => evaluationsCheck({ findings, touch }),
    life: (n) => [version(n)],
    after: (n) => runOf(n + 1, { set_id: VERSIONED, set_version: n + 1 }),
  },
  {
    name: 'sets that were removed, and their runs that were scored',
    names: 3,
    check: (findings) => evaluationsCheck({ findings, touch }),
    life: (n) => [
      published(n),
      runOf(n, { set_id: setOf(n), set_version: 1 }),
      eventOf(`batch-bat_${String(n)}`, 'BatchEnded', batch(n)),
      scored(n),
      eventOf(`set-${setOf(n)}`, 'EvaluationSetRemoved', { set_id: setOf(n), tenant_id }),
    ],
    after: scored,
  },
  {
    name: 'configs that were revoked',
    names: 1,
    check: savedConfigsCheck,
    life: (n) => [config(n, 'ConfigPublished', { version: 1 }), config(n, 'ConfigRevoked', {})],
    after: (n) => config(n, 'ConfigPublished', { version: 2 }),
  },
  {
    name: 'jobs that have succeeded with an artifact',
    names: 4,
    check: (findings) =>
      pipelinesCheck({ findings, touch, once: compactSet(), reference: reference(findings) }).apply,
    life: (n) => [
      eventOf('trainingJob', 'TrainingJobCreated', { ...job(n), hold_id: null, credits: 0 }),
      eventOf('artifact', 'ArtifactPublished', artifact(n)),
      eventOf('trainingJob', 'TrainingJobSucceeded', { ...artifact(n), succeeded_at: AT }),
    ],
    after: (n) => eventOf('artifact', 'ArtifactPublished', artifact(n)),
  },
];

describe('the memory of an audit', () => {
  for (const { name, names, check, life, after } of KINDS)
    it(`keeps some digests for each of 100,000 ${name}, and still finds what may not follow`, () => {
      const findings = findingsKept(10);
      const see = check(findings);
      const seeAll = (from: number, to: number): void => {
        for (let n = from; n < to; n += 1) for (const event of life(n)) see(event);
      };
      seeAll(0, FEW);
      const before = bytesNow();
      seeAll(FEW, MANY);
      const each = (bytesNow() - before) / (MANY - FEW);
      expect(findings.total(), JSON.stringify(findings.result().findings[0])).to.equal(0);
      expect(each).to.be.below(names * BYTES_EACH);
      for (const n of [0, FEW, MANY - 2]) see(after(n));
      expect(findings.total()).to.equal(3);
    });
});
