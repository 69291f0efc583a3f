import { artifactKeyOf } from '../../domain/deployment.ts';
import { uploadKeyOf } from '../../domain/document.ts';
import { secretObjectKey } from '../../domain/ports/services.ts';
import { type ConfigVersion, liveSecrets } from '../../domain/savedConfig.ts';
import { secretsOfWebhook, type Webhook, webhookAfter, type WebhookEvent } from '../../domain/webhook.ts';
import { byType } from '../audit/log/auditedEvent.ts';
import type { Watcher } from '../audit/log/auditLog.ts';
import { operationFileKeyOf, operationInputKeyOf } from '../commands/operations/operationInput.ts';
import { trainingInputKeyOf } from '../commands/training/trainingInput.ts';

/** Why an object has to be there. */
export interface Need {
  readonly stream: string;
  /** Of its bytes; null where events do not say. */
  readonly sha256: string | null;
}

const secretsOf = (latest: ConfigVersion): readonly string[] =>
  liveSecrets({ latest, revoked: false }).map(secretObjectKey);

type SeeWebhook = (event: WebhookEvent & { readonly stream: string }) => void;

/** Follows webhooks, and says of each which secrets it needs now. */
const webhookSecrets = (replace: (stream: string, keys: readonly string[]) => void): SeeWebhook => {
  const webhooks = new Map<string, Webhook>();
  return ({ stream, ...event }) => {
    const webhook = webhookAfter(webhooks.get(stream) ?? null, event);
    if (webhook === null) webhooks.delete(stream);
    else webhooks.set(stream, webhook);
    replace(stream, webhook === null ? [] : secretsOfWebhook(webhook).map(secretObjectKey));
  };
};

/** Collects the objects that the events of a log refer to, by key, while an audit reads them. */
export const objectNeeds = (): {
  readonly watcher: Watcher;
  readonly needs: () => ReadonlyMap<string, Need>;
} => {
  const needs = new Map<string, Need>();
  const presigned = new Set<string>();
  const secrets = new Map<string, readonly string[]>();
  const replaceSecrets = (stream: string, keys: readonly string[]): void => {
    for (const key of secrets.get(stream) ?? []) needs.delete(key);
    secrets.set(stream, keys);
    for (const key of keys) needs.set(key, { stream, sha256: null });
  };
  const seeWebhook = webhookSecrets(replaceSecrets);
  /** Operations and batches that have not ended: they need their request until then. */
  const open = new Map<string, string>();
  const files = new Map<string, string>();
  const dropOperation = (operationId: string): void => {
    needs.delete(operationInputKeyOf(operationId, open.get(operationId) ?? ''));
    needs.delete(files.get(operationId) ?? '');
    open.delete(operationId);
    files.delete(operationId);
  };
  const see = byType({
    UploadPresigned: ({ data }) => void presigned.add(data.document_id),
    DocumentRegistered: ({ stream, data }) => {
      // Files that came with a request are not kept.
      if (presigned.delete(data.document_id))
        needs.set(uploadKeyOf(data.document_id), { stream, sha256: data.sha256 });
    },
    UploadRemoved: ({ data }) => void needs.delete(uploadKeyOf(data.document_id)),
    ArtifactPublished: ({ stream, data: { sha256 } }) =>
      void needs.set(artifactKeyOf(sha256), { stream, sha256 }),
    TrainingJobCreated: ({ stream, data: { job_id, input_sha256: sha256 } }) =>
      void needs.set(trainingInputKeyOf(job_id, sha256), { stream, sha256 }),
    OperationAccepted: ({ stream, data: { operation_id, input_sha256: sha256, file_sha256 } }) => {
      const file = operationFileKeyOf(operation_id, file_sha256);
      needs.set(operationInputKeyOf(operation_id, sha256), { stream, sha256 });
      needs.set(file, { stream, sha256: file_sha256 ?? null });
      files.set(operation_id, file);
      open.set(operation_id, sha256);
    },
    BatchAccepted: ({ stream, data: { batch_id, input_sha256: sha256 } }) => {
      needs.set(operationInputKeyOf(batch_id, sha256), { stream, sha256 });
      open.set(batch_id, sha256);
    },
    BatchEnded: ({ data: { batch_id } }) => {
      needs.delete(operationInputKeyOf(batch_id, open.get(batch_id) ?? ''));
      open.delete(batch_id);
    },
    OperationSucceeded: ({ data }) => dropOperation(data.operation_id),
    OperationFailed: ({ data }) => dropOperation(data.operation_id),
    OperationCancelled: ({ data }) => dropOperation(data.operation_id),
    ConfigPublished: ({ stream, data }) => replaceSecrets(stream, secretsOf(data)),
    ConfigRevoked: ({ stream }) => replaceSecrets(stream, []),
    WebhookCreated: seeWebhook,
    WebhookChanged: seeWebhook,
    WebhookSecretRotated: seeWebhook,
    WebhookDisabled: seeWebhook,
    WebhookRemoved: seeWebhook,
  });
  return { watcher: { decoded: see }, needs: () => needs };
};
