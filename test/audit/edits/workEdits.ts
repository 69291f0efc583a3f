import { change, parsed, set, takeOut, type Change, type Edit } from './editing.ts';
import type { Intruder } from '../tampering.ts';
import { PAID_RESULT } from '../auditedHistory.ts';

const OTHER = '0'.repeat(64);

/** Of the operation that was done and billed. */
const PAID = `%"result_sha256":"${PAID_RESULT}"%`;

/** The operation that was done and billed, as its events name it. */
const paid = ({ all }: Intruder) => {
  const [success] = all(`type = 'OperationSucceeded' and data like '${PAID}'`);
  const operation = parsed(success?.data ?? '{}')['operation_id'] as string;
  return { operation, work: operation.replace(/^op_/, 'ext_') };
};

/** Changes the event of a type that names the work, or the operation, that was billed. */
const ofPaid =
  (type: string, members: Change) =>
  (intruder: Intruder): void => {
    const { operation, work } = paid(intruder);
    const named = `(data like '%"${operation}"%' or data like '%"${work}"%')`;
    const [event] = intruder.all(`type = '${type}' and ${named}`);
    if (event === undefined) throw new Error(`no ${type} of ${work}`);
    change(intruder, event, { data: members });
  };

const delivered =
  (members: Change): Change =>
  (data) => ({ ...data, delivered: members((data['delivered'] ?? {}) as ReturnType<Change>) });

const withoutResult: Change = ({ result_sha256: _, ...rest }) => rest;

/** A document that came with a request, and the request: both are of one correlation. */
const documentOfRequest =
  (members: Change) =>
  (intruder: Intruder): void => {
    const [request] = intruder.all(`type = 'ExtractionRequested' order by position limit 1`);
    const { document_id } = parsed(request?.data ?? '{}') as { document_id: string };
    set('DocumentRegistered', members, `%"${document_id}"%`)(intruder);
  };

/** Takes the last event of a type out, and makes all that is left fit. */
const without =
  (type: string) =>
  (intruder: Intruder): void =>
    takeOut(intruder, intruder.all(`type = '${type}' order by position desc limit 1`));

const each =
  (...edits: readonly ((intruder: Intruder) => void)[]) =>
  (intruder: Intruder): void => {
    for (const edit of edits) edit(intruder);
  };

/** The other artifact that a deployment could use. */
const otherArtifact = (intruder: Intruder): void => {
  const ids = intruder
    .all(`type = 'DeploymentActivated' order by position`)
    .map(({ data }) => parsed(data)['artifact_id'] as string);
  const [first = '', second = ''] = ids;
  set('DeploymentActivated', (data) => parsed(JSON.stringify(data).replaceAll(first, second)))(intruder);
};

/** One of two events that say the same was changed: which check finds it. */
const CONTRADICTIONS: readonly Edit[] = [
  {
    name: 'the pages of a request',
    foundBy: 'audit',
    check: 'agreement',
    make: set('ExtractionRequested', (data) => ({ ...data, pages: Number(data['pages']) + 1 })),
  },
  {
    name: 'the pages of a document, below those that were billed',
    foundBy: 'audit',
    check: 'agreement',
    make: documentOfRequest((data) => ({ ...data, pages: 0 })),
  },
  {
    name: 'the file of a document',
    foundBy: 'audit',
    check: 'agreement',
    make: documentOfRequest((data) => ({ ...data, sha256: OTHER })),
  },
  {
    name: 'the file that was asked about',
    foundBy: 'audit',
    check: 'agreement',
    make: set('ExtractionRequested', { document_sha256: OTHER }),
  },
  {
    name: 'another file in the acceptance of an operation',
    foundBy: 'audit',
    check: 'agreement',
    make: ofPaid('OperationAccepted', (data) => ({ ...data, file_sha256: OTHER })),
  },
  {
    name: 'another document in the acceptance of an operation',
    foundBy: 'audit',
    check: 'agreement',
    make: ofPaid('OperationAccepted', (data) => ({ ...data, document_id: 'doc_other' })),
  },
  {
    name: 'the API key that an operation is accepted for',
    foundBy: 'audit',
    check: 'agreement',
    make: ofPaid('OperationAccepted', (data) => ({ ...data, api_key_id: 'key_other' })),
  },
  {
    name: 'the pages that an operation is accepted for',
    foundBy: 'audit',
    check: 'operation',
    make: ofPaid('OperationAccepted', (data) => ({ ...data, pages: Number(data['pages']) + 1 })),
  },
  {
    name: 'the result that a burn pays for',
    foundBy: 'audit',
    check: 'agreement',
    make: ofPaid(
      'CreditsBurned',
      delivered((said) => ({ ...said, result_sha256: OTHER })),
    ),
  },
  {
    name: 'a burn without the result that it pays for',
    foundBy: 'audit',
    check: 'agreement',
    make: ofPaid('CreditsBurned', delivered(withoutResult)),
  },
  {
    name: 'the result that an operation succeeded with',
    foundBy: 'audit',
    check: 'agreement',
    make: ofPaid('OperationSucceeded', (data) => ({ ...data, result_sha256: OTHER })),
  },
  {
    name: 'the outcome of an operation',
    foundBy: 'audit',
    check: 'agreement',
    make: ofPaid('OperationSucceeded', (data) => ({ ...data, outcome: 'partial' })),
  },
  {
    name: 'the outcome of an extraction',
    foundBy: 'audit',
    check: 'agreement',
    make: ofPaid('ExtractionCompleted', (data) => ({ ...data, status: 'partial' })),
  },
  {
    name: 'the outcome that a burn says',
    foundBy: 'audit',
    check: 'agreement',
    make: set(
      'CreditsBurned',
      delivered((said) => ({ ...said, status: 'partial' })),
      '%"operation":"extract"%',
    ),
  },
  {
    name: 'the time that work took',
    foundBy: 'audit',
    check: 'agreement',
    make: ofPaid('ExtractionCompleted', (data) => ({ ...data, duration_ms: 1 })),
  },
  {
    name: 'the document of a burn',
    foundBy: 'audit',
    check: 'agreement',
    make: set('CreditsBurned', { document_id: 'doc_other' }, '%"operation":"extract"%'),
  },
  {
    name: 'the score of a training job',
    foundBy: 'audit',
    check: 'agreement',
    make: set('TrainingJobSucceeded', (data) => ({ ...data, best_score: Number(data['best_score']) / 2 })),
  },
  {
    name: 'the score of an artifact',
    foundBy: 'audit',
    check: 'agreement',
    make: set('ArtifactPublished', (data) => ({ ...data, best_score: Number(data['best_score']) / 2 })),
  },
  {
    name: 'the document that was taken out of a set',
    foundBy: 'audit',
    check: 'version',
    make: set('EvaluationSetReduced', { document_ids: ['doc_other'] }),
  },
  {
    name: 'the address of a deployed artifact',
    foundBy: 'audit',
    check: 'agreement',
    make: set('DeploymentActivated', { artifact_uri: 'quire://artifacts/art_other' }),
  },
];

/** No other event says it, or all that say it were changed alike: only a seal tells. */
const SEALED: readonly Edit[] = [
  {
    name: 'the decision of a review',
    foundBy: 'seal',
    make: set('ReviewDecided', { decision_sha256: OTHER }),
  },
  {
    name: 'the expected values of a set',
    foundBy: 'seal',
    make: set('EvaluationSetPublished', (data) =>
      parsed(
        JSON.stringify(data).replace(/"expected_sha256":"[0-9a-f]{64}"/, `"expected_sha256":"${OTHER}"`),
      ),
    ),
  },
  {
    name: 'how long a tenant keeps things',
    foundBy: 'seal',
    make: set('RetentionSet', (data) => parsed(JSON.stringify(data).replace('"uploads":7', '"uploads":6'))),
  },
  {
    name: 'who pays for top-ups',
    foundBy: 'seal',
    make: set('TopUpSet', { payer: 'cus_of_another' }),
  },
  { name: 'which of two artifacts is deployed', foundBy: 'seal', make: otherArtifact },
  {
    name: 'the score of an artifact and of its job',
    foundBy: 'seal',
    make: each(set('ArtifactPublished', { best_score: 1 }), set('TrainingJobSucceeded', { best_score: 1 })),
  },
  {
    name: 'the outcome of an operation, wherever it is said',
    foundBy: 'seal',
    make: each(
      ofPaid('OperationSucceeded', (data) => ({ ...data, outcome: 'partial' })),
      ofPaid(
        'CreditsBurned',
        delivered((said) => ({ ...said, status: 'partial' })),
      ),
      ofPaid('ExtractionCompleted', (data) => ({ ...data, status: 'partial' })),
    ),
  },
  {
    name: 'the result of an operation, wherever it is said',
    foundBy: 'seal',
    make: each(
      ofPaid(
        'CreditsBurned',
        delivered((said) => ({ ...said, result_sha256: OTHER })),
      ),
      ofPaid('OperationSucceeded', (data) => ({ ...data, result_sha256: OTHER })),
    ),
  },
  { name: 'the revocation of an API key taken out', foundBy: 'seal', make: without('ApiKeyRevoked') },
  { name: 'the revocation of a config taken out', foundBy: 'seal', make: without('ConfigRevoked') },
  { name: 'the erasure of a document taken out', foundBy: 'seal', make: without('DocumentErased') },
];

/** Facts of work and of what people decide, with every hash, ID and digest that follows. */
export const WORK: readonly Edit[] = [...CONTRADICTIONS, ...SEALED];
