import { artifactKeyOf } from '../../domain/deployment.ts';
import { secretObjectKey } from '../../domain/ports/services.ts';
import type { ProjectedEvent, ProjectedEventOf } from '../../projections/engine/ports.ts';
import { expectedKeyOf } from '../../src/commands/evaluations.ts';
import { asideKeyOf } from '../../src/writer/setAside.ts';
import { belongingAnswers, belongingsIn } from './belongings.ts';
import type { WatchDeps } from './told.ts';

interface Watched {
  readonly say: (id: string, text: string) => void;
}

const SWEPT_MS = 38 * 3_600_000;

type Published = ProjectedEventOf<'EvaluationSetPublished'>['data'];
type Erased = ProjectedEventOf<'TenantErased'>;

const decoded = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);

/** All that is there when all have been well for hours: what was taken away is gone, and the rest can be used. */
export const belongingsWatch = ({ shared, told, raw, sched }: WatchDeps, { say }: Watched) => {
  const events = (): readonly ProjectedEvent[] => shared.events as unknown as readonly ProjectedEvent[];
  const ofType = <Type extends ProjectedEvent['type']>(type: Type): readonly ProjectedEventOf<Type>[] =>
    events().filter((event): event is ProjectedEventOf<Type> => event.type === type);

  const goneFrom = async (folder: string, whose: string, before = '9999'): Promise<void> => {
    for await (const { key, modified_at } of raw.list(folder))
      if (modified_at < before) say('erased-left', `${key} is of ${whose}`);
  };

  /** A sweep comes by once a day or so. */
  const isSwept = (key: string): boolean => sched.nowMs() - (shared.objects.get(key)?.at ?? 0) > SWEPT_MS;

  /** Own keys lie sealed, with whose they are. */
  const sealed = async (key: string): Promise<readonly string[]> => {
    const text = decoded(await raw.get(key));
    return text === '' ? [] : (JSON.parse(text) as readonly string[]);
  };

  const ofTenant = async ({ data: { tenant_id, erased_at }, position }: Erased): Promise<void> => {
    const answers = belongingAnswers(events());
    const upTo = { tenant_id, position };
    for (const { kind, id } of answers.heldBy(upTo))
      say('erased-left', `the ${kind} ${id} is of an erased tenant`);
    const { jobs, artifacts, runs } = answers.learnedBy(upTo);
    for (const job of jobs) await goneFrom(`training/${job}/`, 'an erased tenant');
    for (const run of runs) await goneFrom(`evaluations/${run}/`, 'an erased tenant');
    for (const digest of artifacts) await goneFrom(artifactKeyOf(digest), 'an erased tenant');
    for await (const { key, modified_at } of raw.list('secrets/'))
      if (modified_at < erased_at && isSwept(key) && (await sealed(key))[0] === tenant_id)
        say('erased-left', `${key} is of an erased tenant`);
  };

  const ofDocument = async (document_id: string): Promise<void> => {
    for (const folder of ['training/', 'evaluations/'])
      for await (const { key } of raw.list(folder))
        if (key.includes(`/${document_id}/`) || decoded(await raw.get(key)).includes(`"${document_id}"`))
          say('erased-left', `${key} says something of an erased document`);
  };

  const expected = async (id: string, examples: Published['examples']): Promise<void> => {
    const taken = new Set(ofType('EvaluationSetReduced').flatMap(({ data }) => data.document_ids));
    for (const { document_id, expected_sha256 } of examples) {
      const key = expectedKeyOf(id, document_id, expected_sha256);
      if (!taken.has(document_id) && (await raw.get(key)) === undefined)
        say('set-lost', `${key} is not there, and the set is`);
    }
  };

  /** Sets that are there have what their documents are to say; of the others nothing is left. */
  const sets = async (): Promise<void> => {
    const live = belongingsIn(events()).held;
    const latest = new Map(ofType('EvaluationSetPublished').map(({ data }) => [data.set_id, data]));
    for (const [id, { examples }] of latest)
      if (live.has(`set ${id}`)) await expected(id, examples);
      else await goneFrom(`evaluations/${id}/`, 'a set that was removed');
  };

  /** A key that is of use is there, or was set aside, and is one that somebody gave. */
  const usedKey = async (config_id: string, key: string): Promise<void> => {
    const [, , text] = [await sealed(key), await sealed(asideKeyOf(key))].find((one) => one.length > 0) ?? [];
    if (text === undefined || told.configKeys.get(config_id)?.has(text) === false)
      say('config-key', `the key of ${config_id} is ${text ?? 'not there'}`);
  };

  /** A config that is there has a key that somebody gave it; of one that is not, no key is left. */
  const configs = async (): Promise<void> => {
    const live = belongingsIn(events()).held;
    const published = ofType('ConfigPublished').map(({ data }) => data);
    const latest = new Map(published.map((data) => [data.config_id, data.llm?.secret_id]));
    for (const { config_id, llm } of published) {
      const key = secretObjectKey(llm?.secret_id ?? '');
      const isLatest = latest.get(config_id) === llm?.secret_id;
      if (isLatest && live.has(`config ${config_id}`)) await usedKey(config_id, key);
      else if ((await sealed(key)).length > 0 && isSwept(key))
        say('config-key', `${key} is there, and ${config_id} has no use for it`);
    }
  };

  return {
    look: async (): Promise<void> => {
      if (told.restoredAt >= 0) return;
      const live = belongingsIn(events()).held;
      for (const { kind, id } of told.removed)
        if (live.has(`${kind} ${id}`)) say('ack-lost', `the ${kind} ${id} was taken away, and it is there`);
      for (const erased of ofType('TenantErased')) await ofTenant(erased);
      for (const { data } of ofType('DocumentErased')) await ofDocument(data.document_id);
      await sets();
      await configs();
    },
  };
};
