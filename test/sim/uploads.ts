import { uploadUrls } from '../../adapters/local/objectFolder.ts';
import type { EventStore } from '../../domain/ports/log.ts';
import type { ObjectStore, SignedUpload } from '../../domain/ports/services.ts';
import type { ProjectedEvent } from '../../projections/engine/ports.ts';
import { removeUpload } from '../../src/commands/erasing.ts';
import { uploads } from '../../src/commands/fetchUpload.ts';
import { bytesInFlight, uploadStock } from '../../src/commands/slots.ts';
import { documents, ObjectStoreFailed, presignUpload, uploadReceiver } from '../../src/commands/uploads.ts';
import { uploadKeyOf } from '../../domain/document.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import { metaOf } from '../../src/writer/commandMeta.ts';
import type { WorkProblem } from '../../src/commands/workProblem.ts';
import { belongingLists } from './belongings.ts';
import type { Answer, Asked, ProcessEnv } from './env.ts';

/** Most bytes of one tenant's uploads, and of one of its files. */
export const ROOM = { tenant: 120, file: 60 };

const CALLER = { key_id: 'key_1', role: 'tenant' } as const;
const SECRET = new Uint8Array(32).fill(7);
const BASE = 'https://quire.example';

interface UsedRow {
  readonly tenant_id: string;
  readonly bytes: number;
  isRemoved: boolean;
}

/** Documents that were used, as the read model of documents has them. */
const usedIn = (events: readonly ProjectedEvent[]): ReadonlyMap<string, UsedRow> => {
  const rows = new Map<string, UsedRow>();
  for (const { type, data } of events)
    if (type === 'DocumentRegistered' && !rows.has(data.document_id)) {
      const bytes = data.source === 'upload' ? data.bytes : 0;
      rows.set(data.document_id, { tenant_id: data.tenant_id, bytes, isRemoved: false });
    } else if (type === 'UploadRemoved') {
      const row = rows.get(data.document_id);
      if (row !== undefined) row.isRemoved = true;
    }
  return rows;
};

/** What the read models say of uploads. */
const uploadRows = ({ askLog }: ProcessEnv) => ({
  usedOf: (ids: readonly string[]) =>
    askLog('used uploads', (events) => {
      const rows = usedIn(events);
      return ids.flatMap((document_id) => {
        const row = rows.get(document_id);
        return row === undefined || row.isRemoved ? [] : [{ document_id, tenant_id: row.tenant_id }];
      });
    }),
  usedBytesOf: (tenantId: string, ids: readonly string[]) =>
    askLog('bytes of uploads', (events) => {
      const rows = usedIn(events);
      const kept = [...rows.values()].filter(
        ({ tenant_id, isRemoved }) => tenant_id === tenantId && !isRemoved,
      );
      return {
        bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0),
        used: new Set(
          ids.filter((id) => rows.get(id)?.tenant_id === tenantId && rows.get(id)?.isRemoved === false),
        ),
      };
    }),
});

/** Files of uploads on the disk of a process. */
const localFiles = ({ keepFile }: ProcessEnv, objects: ObjectStore) => ({
  bring: async (documentId: string) => {
    const stream = await objects.open(uploadKeyOf(documentId));
    if (stream === undefined) return 'missing' as const;
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    return { path: keepFile(bytes), sha256: sha256(bytes), bytes: bytes.byteLength };
  },
  discard: () => Promise.resolve(),
});

/** What a process does with files that are sent before they are used. */
export const uploadParts = (
  env: ProcessEnv,
  { store, objects }: { readonly store: EventStore; readonly objects: ObjectStore },
) => {
  const [own, rows] = [documents(store), uploadRows(env)];
  const stock = uploadStock({
    objects,
    documents: own,
    usedBytesOf: rows.usedBytesOf,
    quotaBytes: ROOM.tenant,
    usedOf: async (ids) => new Set((await rows.usedOf(ids)).map(({ document_id }) => document_id)),
    nowMs: () => env.clock.monotonicMs?.() ?? 0,
  });
  const files = localFiles(env, objects);
  return {
    stock,
    documents: own,
    usedOf: rows.usedOf,
    fetched: uploads({ documents: own, objects, files, bytesMax: ROOM.file }),
  };
};

export interface AskedUpload extends Asked {
  readonly file_name: string;
  readonly bytes: number;
}

const signedIn = (url: string): SignedUpload => {
  const { pathname, searchParams } = new URL(url);
  const member = (name: string) => searchParams.get(name) ?? '';
  return {
    document_id: pathname.split('/').at(-1) ?? '',
    expires: member('expires'),
    content_type: member('content_type'),
    max_bytes: member('max_bytes'),
    signature: member('signature'),
  };
};

const problem = ({ code }: Pick<WorkProblem, 'code'>): Answer => ({ kind: 'problem', code });

interface UploadingDeps {
  readonly store: EventStore;
  readonly objects: ObjectStore;
  readonly parts: ReturnType<typeof uploadParts>;
  readonly settle: () => Promise<void>;
  readonly cancelJob: (tenant: string, id: string) => Promise<Answer>;
  readonly forgetInEvaluations: (documentId: string) => Promise<void>;
  /** As the middleware of a route does. */
  readonly once: (asked: Asked, run: () => Promise<Answer>) => Promise<Answer>;
}

export const uploadRequests = (
  env: ProcessEnv,
  { objects, parts, settle, once, cancelJob, forgetInEvaluations }: UploadingDeps,
) => {
  const { clock } = env;
  const urls = uploadUrls({ secret: SECRET, baseUrl: () => BASE });
  const { documents: own, stock } = parts;
  const presign = presignUpload({
    documents: own,
    targets: urls,
    clock,
    stock,
    bytesMax: ROOM.file,
    isSentElsewhere: false,
  });
  const receiver = uploadReceiver({
    documents: own,
    objects,
    signatures: urls,
    clock,
    limiter: env.limiter,
    stock,
    inFlight: bytesInFlight(4 * ROOM.file),
    onStored: () => undefined,
  });
  const remove = removeUpload({
    documents: own,
    objects,
    stock,
    clock,
    settle,
    learningFrom: belongingLists(env).learningFrom,
    cancelJob: ({ tenant_id, job_id }) => cancelJob(tenant_id, job_id),
    forgetInEvaluations,
  });
  return {
    presign: (asked: AskedUpload): Promise<Answer> =>
      once(asked, async () => {
        const { tenant, correlation, file_name, bytes } = asked;
        const wanted = { tenant_id: tenant, project_id: 'p', task_id: 'd', file_name, content_type: null };
        const meta = metaOf(env, CALLER, correlation);
        const answer = await presign({ ...wanted, bytes, kind: 'document' }, meta);
        if (answer.kind === 'problem') return problem(answer);
        return { kind: 'ok', id: answer.upload.document_id, body: answer.target.url };
      }),
    /** The file comes in at its URL, as its route takes it. */
    sendFile: async (url: string, { path, bytes }: { readonly path: string; readonly bytes: number }) => {
      const upload = signedIn(url);
      const admission = await receiver.admit(upload, { content_type: '', content_length: bytes });
      if (admission.kind === 'problem') return problem(admission);
      try {
        await env.work(`receive ${upload.document_id}`);
        const stored = await receiver.store(upload.document_id, { path, bytes });
        if (stored.kind === 'problem') return problem(stored);
        return { kind: 'ok', id: upload.document_id, body: null } satisfies Answer;
      } catch (error) {
        if (error instanceof ObjectStoreFailed) return problem({ code: 'storage_error' });
        throw error;
      } finally {
        admission.release();
      }
    },
    removeUpload: async (tenant_id: string, document_id: string): Promise<Answer> => {
      const by = { tenant_id, allTenants: false };
      const refused = await remove(by, document_id, metaOf(env, CALLER, `remove ${document_id}`));
      return refused === undefined ? { kind: 'ok', id: document_id, body: null } : problem(refused);
    },
    /** Whether a file of so many bytes would be taken now. */
    hasRoom: async (tenant: string, bytes: number): Promise<Answer> => {
      const full = await stock.check(tenant, bytes);
      return full === undefined ? { kind: 'ok', id: tenant, body: null } : problem(full);
    },
  };
};
