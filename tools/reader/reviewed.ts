// What decisions of people teach, over the API: npm run engine:reviewed -- [--set adbuy] [--after 5,10,20]
// Documents to learn from are read, looked at by a person who says the truth, one after the other, and trained on.
import { readFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Quire, type Review } from '../../sdk/src/index.ts';
import { ADMIN_KEY, startService } from '../../test/support/serviceProcess.ts';
import { CORPUS, corpusItems, type Item } from './corpus.ts';

const { values: options } = parseArgs({
  options: {
    set: { type: 'string', default: 'adbuy' },
    /** After how many decisions it is trained and measured. */
    after: { type: 'string', default: '20' },
    /** At most so many documents are measured by; those whose truth is not known as a whole are left out. */
    measured: { type: 'string', default: '100' },
  },
});

const TENANT = 'reviewed';
const CREDITS = 1_000_000;
const LOOK_MS = 500;

const fileOf = async ({ file }: Item): Promise<File> =>
  new File([new Uint8Array(await readFile(file))], basename(file), { type: 'application/pdf' });

interface Example {
  readonly document_id: string;
  readonly expected: Readonly<Record<string, unknown>>;
}

const uploaded = async (quire: Quire, item: Item): Promise<string> =>
  (await quire.uploads.send(await fileOf(item))).document_id;

/** What a person says of a document: the truth, and what was read where the truth is not known. */
const saidOf = ({ truth, ignore }: Item, read: Review['result']): Readonly<Record<string, unknown>> => {
  const isUnknown = (name: string): boolean => ignore.includes(`/${name}`);
  const known = Object.entries(truth).filter(([name, value]) => value !== null && !isUnknown(name));
  return Object.fromEntries([...Object.entries(read ?? {}).filter(([name]) => isUnknown(name)), ...known]);
};

/** Has a document read, and decides its review as the truth says. Gives what the service then answers. */
const decided = async (quire: Quire, item: Item): Promise<Example & { readonly corrected: number }> => {
  const file = await fileOf(item);
  const asked = { file, schema: item.schema, review: JSON.stringify({ sample: 1 }) };
  const { status, review_id } = await quire.operations.wait(await quire.extractLater(asked));
  if (review_id == null) throw new Error(`${item.id} needs no review, it is ${status}`);
  const path = { review_id };
  const { result: read } = await quire.api.leaseReview({ path });
  const { result, decision } = await quire.api.decideReview({ path, body: { result: saidOf(item, read) } });
  const document_id = await uploaded(quire, item);
  return { document_id, expected: result ?? {}, corrected: decision?.counts.corrected ?? 0 };
};

const trained = async (quire: Quire, schema: Item['schema'], examples: readonly Example[]) => {
  const body = { tenant_id: TENANT, project_id: 'forms', schema, examples: [...examples] };
  const { job_id } = await quire.api.createTrainingJob({ body });
  for (;;) {
    const { status, artifact_id, error } = await quire.api.getTrainingJob({ path: { job_id } });
    if (status === 'succeeded' && artifact_id !== null) return artifact_id;
    if (status === 'failed' || status === 'cancelled') throw new Error(`training: ${JSON.stringify(error)}`);
    await pause(LOOK_MS);
  }
};

type Asked = Parameters<Quire['api']['createEvaluationRun']>[0]['body'];

const measured = async (quire: Quire, body: Asked) => {
  const { run_id } = await quire.api.createEvaluationRun({ body });
  for (;;) {
    const run = await quire.api.getEvaluationRun({ path: { run_id } });
    if (run.status === 'succeeded') return run;
    await pause(LOOK_MS);
  }
};

const shown = (share: number | null | undefined): string => share?.toFixed(3) ?? '-';
const line = (cells: readonly (string | number)[]): void =>
  void process.stdout.write(`| ${cells.join(' | ')} |\n`);

const setOf = async (quire: Quire, items: readonly Item[]): Promise<string> => {
  const examples: Example[] = [];
  for (const item of items) examples.push({ document_id: await uploaded(quire, item), expected: item.truth });
  return (await quire.api.createEvaluationSet({ body: { name: 'To measure by', examples } })).set_id;
};

interface Documents {
  readonly learn: readonly Item[];
  readonly dev: readonly Item[];
}

const compared = async (quire: Quire, { learn, dev }: Documents): Promise<void> => {
  const [{ schema }] = dev as readonly [Item];
  const set_id = await setOf(quire, dev);
  line(['decided', 'values corrected', 'precision', 'recall', 'F1']);
  line(['--:', '--:', '--:', '--:', '--:']);
  const before = await measured(quire, { set_id, schema });
  line([0, 0, shown(before.precision), shown(before.recall), shown(before.f1)]);
  const after = new Set(options.after.split(',').map(Number));
  const examples: Example[] = [];
  let corrections = 0;
  for (const item of learn) {
    if (examples.length >= Math.max(...after)) return;
    const { corrected, ...example } = await decided(quire, item);
    corrections += corrected;
    examples.push(example);
    if (!after.has(examples.length)) continue;
    const artifact_id = await trained(quire, schema, examples);
    const { precision, recall, f1 } = await measured(quire, { set_id, artifact_id });
    line([examples.length, corrections, shown(precision), shown(recall), shown(f1)]);
  }
};

const items = corpusItems();
if (items === undefined) {
  process.stdout.write(`The corpus is not at ${CORPUS}.\n`);
  process.exit(0);
}
const folder = await mkdtemp(join(tmpdir(), 'quire-reviewed-'));
const service = await startService(folder);
try {
  const admin = new Quire({ url: service.url, key: ADMIN_KEY });
  const paid = { tenant_id: TENANT, provider_txn_id: 'paid', credits: CREDITS };
  await admin.api.addCredits({ body: paid });
  const { key } = await admin.api.createApiKey({ body: { tenant_id: TENANT, name: 'A person' } });
  await compared(new Quire({ url: service.url, key, tenant: TENANT }), {
    learn: items.filter(({ set }) => set === `${options.set} learn`),
    dev: items
      .filter(({ set, ignore }) => set === options.set && ignore.length === 0)
      .slice(0, Number(options.measured)),
  });
} finally {
  await service.stop('SIGTERM');
  await rm(folder, { recursive: true, force: true });
}
