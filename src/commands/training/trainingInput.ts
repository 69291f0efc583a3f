import { z } from 'zod';
import { sha256 } from '../../../domain/kernel/chain.ts';
import type { JsonObject } from '../../../domain/kernel/json.ts';
import { type ObjectStore, type SecretBox, secretObjectKey } from '../../../domain/ports/services.ts';

const jsonObject = z.record(z.string(), z.unknown()).transform((value) => value as JsonObject);

const trainingInput = z.object({
  schema: jsonObject,
  examples: z.array(z.object({ document_id: z.string(), expected: jsonObject })),
  validation_split: z.number(),
  mode: z.enum(['fast', 'standard', 'robust']),
  seed: z.number(),
  llm: z
    .object({
      provider_model: z.string().nullable(),
      api_base: z.string().nullable(),
      /** Names the sealed key of the caller; null: the platform's own. */
      secret_id: z.string().nullable(),
    })
    .nullable(),
});

/** What a job learns from. It names documents and holds what they say, so it is never in the log. */
export type TrainingInput = z.output<typeof trainingInput>;

/** Where the inputs of jobs lie. */
export const TRAINING_PREFIX = 'training/';

/** Where the input of a job lies. */
export const trainingInputKeyOf = (jobId: string, digest: string): string =>
  `${TRAINING_PREFIX}${jobId}/${digest}`;

/** The stored input is not what the job was created with. */
export class TamperedInput extends Error {
  override readonly name = 'TamperedInput';
}

/** Inputs of jobs in object storage: each under its digest, so none can take another's place. */
export const trainingInputs = (objects: ObjectStore) => ({
  /** Gives the digest under which it lies. */
  put: async (jobId: string, input: TrainingInput): Promise<string> => {
    const bytes = new TextEncoder().encode(JSON.stringify(input));
    const digest = sha256(bytes);
    await objects.put(trainingInputKeyOf(jobId, digest), bytes);
    return digest;
  },

  /** Throws TamperedInput when it is missing or another. */
  load: async (jobId: string, digest: string): Promise<TrainingInput> => {
    const bytes = await objects.get(trainingInputKeyOf(jobId, digest));
    if (bytes === undefined || sha256(bytes) !== digest)
      throw new TamperedInput(`the input of ${jobId} is missing or was changed`);
    return trainingInput.parse(JSON.parse(new TextDecoder().decode(bytes)));
  },
});

export interface JobSecretDeps {
  readonly objects: ObjectStore;
  /** undefined where no key to encrypt fields with is configured. */
  readonly secrets: SecretBox | undefined;
}

interface SecretOfJob {
  readonly tenant_id: string;
  readonly secret_id: string;
}

/** Keeps a caller's own provider key, sealed, until its job has ended. */
export const sealJobSecret = async (
  { objects, secrets }: JobSecretDeps,
  owner: SecretOfJob,
  text: string,
): Promise<void> => {
  if (secrets === undefined) throw new Error('there is nothing to seal a key with');
  await objects.put(secretObjectKey(owner.secret_id), secrets.seal(text, owner));
};

/** undefined when it cannot be opened any more. */
export const openJobSecret = async (
  { objects, secrets }: JobSecretDeps,
  owner: SecretOfJob,
): Promise<string | undefined> => {
  const sealed = await objects.get(secretObjectKey(owner.secret_id));
  const opened = sealed === undefined ? undefined : secrets?.open(sealed, owner);
  return opened?.kind === 'opened' ? opened.text : undefined;
};
