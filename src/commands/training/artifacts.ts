import {
  artifact,
  artifactEvent,
  artifactKeyOf,
  artifactStream,
  type ArtifactEvent,
  type ArtifactPublished,
} from '../../../domain/deployment.ts';
import { sha256 } from '../../../domain/kernel/chain.ts';
import type { CommandMeta, RecorderKind } from '../../../domain/kernel/decider.ts';
import { eventCodec } from '../../../domain/kernel/codec.ts';
import type { EventStore } from '../../../domain/ports/log.ts';
import type { ObjectStore } from '../../../domain/ports/services.ts';
import { streamsOf } from '../writer/streams.ts';
import type { TrainingJobs } from './trainingJobs.ts';

export type Artifact = ArtifactPublished['data'];

interface ArtifactsDeps {
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly jobs: Pick<TrainingJobs, 'stateOf'>;
}

/** The bytes of an artifact are gone or are not those that were published. */
export class TamperedArtifact extends Error {
  override readonly name = 'TamperedArtifact';
}

/** What was learned: its bytes in object storage, and its event. */
export type Artifacts = ReturnType<typeof artifacts>;

const codec = eventCodec(artifactEvent);

const ARTIFACT_ID = /^art_[A-Za-z0-9-]{1,64}$/;

export const artifacts = ({ store, objects, jobs }: ArtifactsDeps) => {
  const rules = { decider: artifact, codec, streamOf: artifactStream };
  const { handle } = streamsOf<RecorderKind<ArtifactEvent>>(rules, store);
  const published = async (artifactId: string): Promise<Artifact | undefined> => {
    if (!ARTIFACT_ID.test(artifactId)) return undefined;
    for await (const recorded of store.read(artifactStream(artifactId), { limit: 1 }))
      return codec.decode(recorded).data;
    return undefined;
  };
  return {
    /** What was published under the ID, whether its job has succeeded or not. */
    published,
    /** Stores the bytes under their digest; the same bytes again change nothing. Gives digest and size. */
    keep: async (bytes: Uint8Array): Promise<Pick<Artifact, 'sha256' | 'bytes'>> => {
      const digest = sha256(bytes);
      await objects.put(artifactKeyOf(digest), bytes);
      return { sha256: digest, bytes: bytes.byteLength };
    },
    /** Publishes once: the artifact that the stream has then, or undefined when the log did not answer. */
    publish: async (data: Artifact, meta: CommandMeta): Promise<Artifact | undefined> => {
      const event = { type: 'ArtifactPublished', data } as const;
      const command = { type: 'Record', data: event, meta } as const;
      const { kind } = await handle(data.artifact_id, command, data.tenant_id);
      return kind === 'done' ? published(data.artifact_id) : undefined;
    },
    /** An artifact that may be used: its tenant's, of a job that succeeded. */
    find: async (tenantId: string, artifactId: string): Promise<Artifact | undefined> => {
      const found = await published(artifactId);
      if (found?.tenant_id !== tenantId) return undefined;
      const { success } = await jobs.stateOf(found.job_id);
      return success?.artifact_id === artifactId ? found : undefined;
    },
    /** Its bytes, held against their digest. Throws TamperedArtifact. */
    load: async ({ artifact_id, sha256: digest }: Pick<Artifact, 'artifact_id' | 'sha256'>) => {
      const bytes = await objects.get(artifactKeyOf(digest));
      if (bytes === undefined || sha256(bytes) !== digest)
        throw new TamperedArtifact(`the bytes of ${artifact_id} are missing or were changed`);
      return bytes;
    },
  };
};
